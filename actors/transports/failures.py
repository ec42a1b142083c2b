"""What can go wrong on the way to a peer, and how to say it in a few words."""

from __future__ import annotations

import ssl

import httpx2

# ValueError and OverflowError: addresses and header values that only fail when they are used.
TROUBLE = (
    *(httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError),
    *(ssl.SSLError, OSError, ValueError, OverflowError),
)


def root_of(error: BaseException) -> str:
    """Say what it came from: "Connect call failed", not "All connection attempts failed"."""
    inner = error.__cause__ or error.__context__
    if isinstance(error, BaseExceptionGroup):
        inner = error.exceptions[0]
    return root_of(inner) if inner is not None else str(error) or repr(error)
