"""Receivers: what each form of receiver gets for a message, as values; nothing here sends."""
