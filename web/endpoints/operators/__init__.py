"""Endpoints for operators' questions about single matches. Their answers must not be cached."""
