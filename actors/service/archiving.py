"""Opens the configured archive of a service or a replay, with digests of the bookmakers' settings."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec

from actors.archive.archive import Archive, open_archive
from actors.archive.folder import ArchiveSettings
from actors.archive.restart import Configured
from actors.board.snapshot import Snapshot
from actors.core.clock import Clock
from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.matches.model import FixtureSettings, fixtures_of
from actors.monitoring.status import ArchiveStatus, ServiceStatus
from actors.recordings.playback import Playback
from actors.service.settings import Settings

PLAYED_AT_ONCE = 5_000
"""Changes of a playback in one transaction."""


def open_configured(
    settings: Settings, status: ServiceStatus, clock: Clock, terms: FixtureSettings
) -> Archive | None:
    """Open the configured archive and begin a life in it; None without an archive, or in a cluster.

    The caller starts it. Raises: ArchiveLockedError, ConfigError.
    """
    if settings.archive.path is None or settings.cluster.url is not None:
        return None
    status.archive = ArchiveStatus()

    def learn(names: Mapping[BookmakerId, str]) -> Mapping[BookmakerId, str]:
        for bookmaker, name in names.items():
            status.bookmakers[bookmaker].learn_name(name, is_in_use=True)
        return status.names

    return open_archive(
        settings.archive,
        status.archive,
        clock,
        terms=terms,
        configured=configured(settings),
        names=learn,
        kinds=settings.market_kinds,
    )


class ArchivedPlayback:
    """Archives every commit of a playback, with the same result every time; the folder must be empty.

    `add` is called with each commit, in the playback's thread. Raises: ConfigError.
    """

    def __init__(self, playback: Playback, names: Mapping[BookmakerId, str], folder: Path) -> None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ConfigError(f"--archive was {folder}, must be a folder that is empty, or none yet")
        first = playback.snapshot
        self._archive = open_archive(
            ArchiveSettings(str(folder), keep_days=100_000, max_bytes=10**15),
            ArchiveStatus(),
            playback,
            terms=fixtures_of(first).terms,
            configured={name: Configured("", None) for name in first.books},
            names=lambda _: names,
            epoch=first.epoch,
        )
        # A waiting commit is no fault here: `add` writes only large amounts, days later by the recording's
        # clock.
        self._archive.status.lag_s = lambda _: 0.0

    def add(self, commit: Mapping[Kind, Snapshot]) -> None:
        """Archive the snapshots of a commit, by kind of market; write them once many changes wait."""
        for kind, snapshot in commit.items():
            self._archive.note(kind, snapshot)
        self._archive.commit()
        if self._archive.writer.waiting > PLAYED_AT_ONCE:
            self._archive.writer.step()

    def close(self) -> None:
        """Write the waiting commits, and close the archive."""
        self._archive.close(is_orderly=False)


def configured(settings: Settings) -> dict[BookmakerId, Configured]:
    """Return each bookmaker's name, and a digest of all settings that affect its lists."""
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
