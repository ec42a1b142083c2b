"""The package actors.sources.football_data."""
