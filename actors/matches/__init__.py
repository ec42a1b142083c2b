"""Matches, published as fixtures with best prices, fair odds and surebets, at each version."""
