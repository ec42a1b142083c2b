"""Encodes chunks of the board: JSON of both versions of the API, and gzip of it."""
