"""One module a path: odds, changes, stream, capabilities, probes, monitor, pages.

Only the application (`web/app.py`) imports them.
They must not know which server runs them.
"""
