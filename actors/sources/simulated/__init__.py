"""The package actors.sources.simulated."""
