"""Team names as sources spell them: their words, class marks, shipped tables and similarity."""
