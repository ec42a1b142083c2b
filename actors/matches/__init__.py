"""Matches: what is published of them as fixtures: best prices, fair odds, surebets, at each version."""
