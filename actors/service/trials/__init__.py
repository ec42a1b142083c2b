"""Tries one source for an operator, and reports what it delivers: `oddsboard probe` and `check-program`."""
