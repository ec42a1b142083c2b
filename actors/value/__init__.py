"""Prices above what a reference calls fair: their expected value, and whether it came true; pure."""
