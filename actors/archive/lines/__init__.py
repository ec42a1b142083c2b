"""Reads from the archive how prices and fixtures moved, and what the closing prices were."""
