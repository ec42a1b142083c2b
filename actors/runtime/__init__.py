"""The package actors.runtime."""
