"""The actor of a source that is a program, and the conversion of its lines to batches."""
