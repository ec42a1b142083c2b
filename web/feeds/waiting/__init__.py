"""The event that a read of fixtures waits for: the first links after a start."""
