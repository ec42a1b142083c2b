"""Reads from the archive how prices moved, and what the closing prices were."""
