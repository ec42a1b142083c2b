"""The package web.protocol."""
