"""Reads configuration files, and words the error messages about them."""
