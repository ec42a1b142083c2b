"""The package actors.service."""
