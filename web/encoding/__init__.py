"""The package web.encoding."""
