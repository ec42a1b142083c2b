"""The listening socket, the HTTP server (Hypercorn), and the orderly start and stop of the process."""
