"""The package actors.sources.the_odds_api."""
