"""Answers to questions of operators about single matches. Nothing here may be cached."""
