"""From a source's bytes to the published snapshot: bookmakers, supervision, the board.

`web` imports from here; nothing here imports `web`, Quart or an HTTP server.
"""
