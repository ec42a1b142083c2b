"""The package actors.source_api."""
