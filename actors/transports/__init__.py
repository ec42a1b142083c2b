"""The only code that connects to the network for sources: polling, HTTP requests, lines over TLS."""
