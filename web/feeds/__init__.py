"""What all clients share: list bodies, events of the stream, and the clients that wait for changes."""
