"""Socket, HTTP servers, process: the listener, Hypercorn, uvicorn, start and stop in order."""
