"""The package actors.monitoring."""
