"""What all clients share: list bodies, messages of the stream, and the clients that wait for changes."""
