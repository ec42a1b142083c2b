"""The actor of a source that is a program, and the way from its lines to batches."""
