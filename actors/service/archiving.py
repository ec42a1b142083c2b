"""The archive of a service by its configuration: what of that lists depend on, names of earlier lives."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

import msgspec

from actors.archive.archive import Archive, open_archive
from actors.archive.restart import Configured
from actors.core.clock import Clock
from actors.core.messages import BookmakerId
from actors.matches.model import FixtureSettings
from actors.monitoring.status import ArchiveStatus, ServiceStatus
from actors.service.settings import Settings


def open_configured(
    settings: Settings, status: ServiceStatus, clock: Clock, terms: FixtureSettings
) -> Archive | None:
    """Open the archive of the configuration and begin a life in it; None if there is none.

    Raises: ArchiveLockedError, ConfigError.
    """
    if settings.archive.path is None:
        return None
    status.archive = ArchiveStatus()

    def learn(names: Mapping[BookmakerId, str]) -> Mapping[BookmakerId, str]:
        for bookmaker, name in names.items():
            status.bookmakers[bookmaker].learn_name(name, is_in_use=True)
        return status.names

    archive = open_archive(
        settings.archive,
        status.archive,
        clock,
        terms=terms,
        configured=configured(settings),
        names=learn,
    )
    archive.start()
    return archive


def configured(settings: Settings) -> dict[BookmakerId, Configured]:
    """Return for each bookmaker its name, and a digest of all settings that its lists depend on."""
    found: dict[BookmakerId, Configured] = {}
    for name, bookmaker in settings.bookmakers.items():
        source = settings.sources[bookmaker.source]
        told = msgspec.json.encode(
            [settings.board, bookmaker, source.kind.name, source.written],
            order="deterministic",
            enc_hook=str,
        )
        found[name] = Configured(blake2b(told, digest_size=16).hexdigest(), bookmaker.name)
    return found
