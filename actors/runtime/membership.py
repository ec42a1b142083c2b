"""The record of a process in a cluster: its connections to the shared server, and how far it has read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from structlog.typing import FilteringBoundLogger as Log

from actors.core.clock import Instant
from actors.runtime.facts import announce


@dataclass(slots=True)
class ServerLink:
    """One actor's connection; `error` is None while it works. `failures` counts consecutive failures."""

    name: str
    error: str | None = "not connected yet"
    failures: int = 0
    damage: str = ""
    """The newest damage of the server's data that this actor found; empty if it found no damage."""
    lost_mono: float | None = None

    def lost(self, error: str, now: Instant, log: Log) -> None:
        """Note that the server did not answer; log it the first time."""
        self.error, self.failures = error, self.failures + 1
        if self.lost_mono is None:
            self.lost_mono = now.mono
            announce(log, "cluster.lost", link=self.name, error=error)

    def damaged(self, error: Exception, log: Log) -> str:
        """Log that the server's data is invalid; return the reason."""
        self.damage = str(error) or type(error).__name__
        announce(log, "board.damaged", link=self.name, error=self.damage)
        return self.damage

    def well(self, now: Instant, log: Log) -> None:
        """Note an answer; log it if the last one failed."""
        if self.lost_mono is not None:
            announce(
                log, "cluster.recovered", link=self.name, down_for_s=round(now.mono - self.lost_mono, 3)
            )
        self.error, self.failures, self.lost_mono = None, 0, None


@dataclass(slots=True)
class ClusterStatus:
    """A process in a cluster, with its `roles`; `collector` is its name as a collector, or None.

    `epoch` and `version` are those of the shown board ("" and 0 before there is one); `head` is the newest
    version on the server. `leases` has the collector of each source, as last seen; `silent` are the
    collectors whose lists nobody confirms any more. `damage` is the reason of the last reset of the board,
    `evicts` the server's policy if it may drop keys; both may be empty.
    """

    roles: tuple[str, ...]
    collector: str | None
    keeper: ServerLink = field(default_factory=lambda: ServerLink("keeper"))
    follower: ServerLink = field(default_factory=lambda: ServerLink("follower"))
    epoch: str = ""
    version: int = 0
    head: int = 0
    caught_up_mono: float = -inf
    resets: int = 0
    leases: Mapping[str, str] = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    damage: str = ""
    evicts: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether this process shows the board."""
        return "replica" in self.roles

    @property
    def error(self) -> str | None:
        """The error of the first missing connection that this process needs, or None."""
        links = (self.follower,) if self.collector is None else (self.keeper, self.follower)
        return next((link.error for link in links if link.error is not None), None)

    @property
    def warning(self) -> str | None:
        """The fault of the cluster as this process sees it, or None."""
        if self.error is not None:
            return self.error
        if not self.silent:
            return self._note
        sources = sorted(name for name, collector in self.leases.items() if collector in self.silent)
        return f"nothing is heard of collector {', '.join(self.silent)}, which has {', '.join(sources)}"

    @property
    def _note(self) -> str | None:
        if self.evicts:
            return f"the server may drop keys: its maxmemory-policy is {self.evicts}, not noeviction"
        return f"the board began anew: {self.damage}" if self.damage else None

    def note(self, damage: str, evicts: str, log: Log) -> None:
        """Note the causes of warnings; log each the first time, except a damage that was found here."""
        if damage not in {self.damage, self.keeper.damage, self.follower.damage, ""}:
            announce(log, "board.damaged", link=self.follower.name, error=damage)
        if evicts and evicts != self.evicts:
            announce(log, "cluster.evicts", policy=evicts)
        self.damage, self.evicts = damage, evicts

    def is_elsewhere(self, source: str) -> bool:
        """Return whether another process collects a source."""
        return self.leases.get(source, self.collector) != self.collector

    def begin(self, epoch: str, version: int) -> None:
        """Note that the board was replaced by a board of another epoch."""
        self.resets += self.epoch != ""
        self.epoch, self.version, self.head = epoch, version, version

    def follow(self, version: int, mono: float) -> None:
        """Note the version up to which the log is applied."""
        self.version = version
        if version >= self.head:
            self.caught_up_mono = mono

    def lag_s(self, mono: float) -> float | None:
        """Return the seconds since this process was last level with the server; None if never."""
        return None if self.caught_up_mono == -inf else round(mono - self.caught_up_mono, 3)
