"""A client that reads the stream of changes; its argument is the URL."""

from __future__ import annotations

import http.client
import sys
from urllib.parse import urlsplit

READ_BYTES = 65_536


def follow(url: str) -> None:
    """Read until the service ends the stream."""
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname or "", at.port)
    connection.request("GET", at.path)
    response = connection.getresponse()
    while response.read1(READ_BYTES):
        pass


if __name__ == "__main__":
    follow(sys.argv[1])
