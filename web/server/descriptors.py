"""Fits the configured number of connections to the file descriptors that the process may have."""

from __future__ import annotations

import contextlib
import resource

import structlog

from actors.runtime.facts import announce
from web.server.connections import Caps

log = structlog.get_logger()

RESERVE = 64
"""Descriptors kept for files, the event loop and the log."""
PER_SOURCE = 2


def fitted(connections: int, streams: int, requests: int, sources: int = 0) -> tuple[Caps, int]:
    """Return the caps, and how many clients may follow changes, as far as descriptors suffice.

    The soft limit is raised as far as the system allows. A third of the descriptors beyond the reserve is
    for connections, a third for streams, and a third for connections that are about to be closed.
    """
    reserve = RESERVE + PER_SOURCE * sources
    limit = _raised(2 * connections + streams + reserve)
    third = max((limit - reserve) // 3, 1)
    caps = Caps(min(connections, third), min(2 * connections + streams, 3 * third), requests)
    if caps.connections < connections or third < streams:
        announce(
            log,
            "service.limits_lowered",
            open_files=limit,
            max_connections=caps.connections,
            max_streams=min(streams, third),
        )
    return caps, min(streams, third)


def _raised(needed: int) -> int:
    """Raise the soft limit to `needed`, at most to the hard limit; return it."""
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return needed
    if limit < needed:
        wanted = needed if most == resource.RLIM_INFINITY else min(needed, most)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
            return wanted
    return limit
