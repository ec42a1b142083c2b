"""Bodies and messages that clients share, and the clients that wait for changes."""
