"""The actors between transport and published snapshot; independent of web, settings and venues."""
