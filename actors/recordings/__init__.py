"""Recordings: their format, reading and playing them; nothing of the web or the configuration file."""
