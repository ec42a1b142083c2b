"""Clients that poll the odds list at a constant rate, however long the answers take.

Each connection sends its next request when it is due, with the ETag of its last answer, as docs/api.md
advises, and asks for one coding. Latency counts from the time at which a request was due, so that a slow
answer is not hidden by the requests that waited for it.
Prints one line of JSON at the end. Arguments: URL RATE SECONDS [CONNECTIONS CODING].
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from urllib.parse import urlsplit

CONNECTIONS = 50


async def poll(
    url: str, coding: str, *, due: float, every_s: float, end: float, found: list[tuple[float, int]]
) -> None:
    """Poll over one connection from `due` to `end`; add each answer's latency in seconds and its status."""
    at = urlsplit(url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    path = at.path + (f"?{at.query}" if at.query else "")
    etag = b""
    while due < end:
        await asyncio.sleep(due - time.perf_counter())
        condition = b"If-None-Match: %s\r\n" % etag if etag else b""
        writer.write(
            b"GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: %s\r\n%s\r\n"
            % (path.encode(), coding.encode(), condition)
        )
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        headers = dict(line.split(b": ", 1) for line in lines[1:] if line)
        await reader.readexactly(int(headers.get(b"content-length", b"0")))
        found.append((time.perf_counter() - due, int(lines[0].split()[1])))
        etag = headers.get(b"etag", b"")
        due += every_s
    writer.close()


async def main(url: str, rate: float, seconds: float, connections: int, coding: str) -> None:
    """Poll, and print rate and answers."""
    found: list[tuple[float, int]] = []
    began = time.perf_counter()
    every_s = connections / rate
    async with asyncio.TaskGroup() as tasks:
        for number in range(connections):
            tasks.create_task(
                poll(
                    url,
                    coding,
                    due=began + number / rate,
                    every_s=every_s,
                    end=began + seconds,
                    found=found,
                )
            )
    took = time.perf_counter() - began
    print(json.dumps({"rate": len(found) / took, "answers": found}))


if __name__ == "__main__":
    given = sys.argv[1:]
    count, wanted = (int(given[3]), given[4]) if given[3:] else (CONNECTIONS, "gzip")
    asyncio.run(main(given[0], float(given[1]), float(given[2]), count, wanted))
