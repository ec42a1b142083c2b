"""The package web.feeds."""
