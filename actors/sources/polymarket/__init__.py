"""Polymarket: a prediction market; matches from one public API, order books from another, polled."""
