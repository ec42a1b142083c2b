"""Recordings: their format, and how they are read and played; independent of web and configuration."""
