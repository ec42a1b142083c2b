"""Alerts: rules about the board, and the receivers of what they say."""
