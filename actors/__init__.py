"""The actors, and everything between a source's bytes and the published snapshot."""
