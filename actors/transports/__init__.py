"""The only code that connects to the network on behalf of sources: polling, HTTP requests, lines over TLS.

Used by the pipeline; `service/settings` uses `tls_context` to check certificates.
It must not know what the bytes mean, nor which source they are for.
"""
