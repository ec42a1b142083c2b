"""The package actors.core."""
