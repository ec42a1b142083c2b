"""The package actors.sources.betfair."""
