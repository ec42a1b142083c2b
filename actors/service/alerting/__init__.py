"""Alerts of the service: their tables in a configuration, and their actors."""
