"""Socket, HTTP server, process: the listener, Hypercorn, start and stop in order."""
