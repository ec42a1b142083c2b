"""Whom to trust, and who we are: TLS as the system does it, with a certificate of our own where given."""

from __future__ import annotations

import ssl


def tls_context(certificate: str | None, key: str | None) -> ssl.SSLContext:
    """Give a context that verifies certificates and host names; `certificate` and `key` are PEM files.

    Raises: OSError if the files cannot be read, do not belong together or need a passphrase.
    """
    context = ssl.create_default_context()
    if certificate is not None:
        context.load_cert_chain(certificate, key, password=_no_passphrase)
    return context


def _no_passphrase() -> str:
    """Answer before OpenSSL asks the terminal, and with it holds everything up."""
    return ""
