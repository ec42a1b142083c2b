"""The actor kit: supervision, restarts and backoff, mailboxes, the bus, conflation, poison messages."""
