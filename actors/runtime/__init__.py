"""The actor kit: supervision, restarts and backoff, mailboxes, the bus, conflation, poison messages.

Pipeline and service build on it; the web sees `actor` alone, the record that probes show.
It must not know bookmakers' odds, sources or the board.
"""
