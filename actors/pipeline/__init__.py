"""The actors between transport and published snapshot; nothing of the web, the settings or a venue."""
