"""What all clients share: list bodies, events of the stream, and the clients that wait for changes.

Endpoints and the life cycle import it.
It must not know sockets or Quart's requests.
"""
