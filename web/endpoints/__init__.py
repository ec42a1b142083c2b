"""The package web.endpoints."""
