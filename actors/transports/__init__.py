"""The only code that connects to the network on behalf of sources: polling, HTTP requests, lines over TLS.

The pipeline opens transports; nobody else does.
They must not know what the bytes mean, nor which source they are for.
"""
