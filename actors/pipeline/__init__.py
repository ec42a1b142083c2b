"""The package actors.pipeline."""
