"""The package web.server."""
