"""The package actors.recordings."""
