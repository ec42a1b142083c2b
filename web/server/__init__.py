"""Socket, HTTP server, process: the listener, Hypercorn, uvicorn, start and stop in order.

Only the application and the command line import it.
It must not know odds.
"""
