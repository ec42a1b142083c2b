"""Reads line movement, fixture changes and closing prices from the archive."""
