"""Tries one source for an operator, and tells what it delivers: `oddsboard probe` and `check-program`."""
