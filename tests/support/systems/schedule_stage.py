"""A schedule with a scripted plan, and a clock that the test sets."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import msgspec

from actors.core.clock import Instant
from actors.core.errors import SourceError
from actors.core.messages import Scope
from actors.pipeline.schedule import Schedule
from actors.source_api.options import PolledOptions
from actors.source_api.plan import Plan, Target
from tests.support.systems.scopes import Longest
from tests.support.time.virtual import WALL_0

INTERVAL_S = 100.0
OPTIONS = PolledOptions(kind="scripted", url="http://127.0.0.1:9", poll_interval_s=INTERVAL_S)


class ScriptedPlan(Plan):
    """A plan whose targets, waits, first delays, retries and `catalogues` the test sets."""

    def __init__(self, scopes: Iterable[str]) -> None:
        super().__init__(OPTIONS, ())
        self.catalogues = ""
        self.prefaces: dict[str, bytes] = {}
        self.first: dict[str, float] = {}
        self.barred: dict[str, float] = {}
        self.retry_s = 0.0
        self.interval = INTERVAL_S
        self.heard: list[str] = []
        self.have(scopes)

    def have(self, scopes: Iterable[str]) -> None:
        """Set the targets."""
        self._targets = tuple(Target(Scope(scope), f"http://x/{scope}") for scope in scopes)

    def targets(self) -> tuple[Target, ...]:
        """Return the targets that were set."""
        return tuple(
            [
                msgspec.structs.replace(
                    each,
                    is_catalogue=each.scope in self.catalogues,
                    preface=self.prefaces.get(each.scope, b""),
                )
                for each in self._targets
            ]
        )

    def first_delay_s(self, target: Target, now: Instant) -> float:
        """Return the value that was set."""
        del now
        return self.first.get(target.scope, 0.0)

    def interval_s(self, target: Target, now: Instant) -> float:
        """Return the value that was set."""
        del target, now
        return self.interval

    def wait_s(self, target: Target, now: Instant) -> float:
        """Return the seconds until the moment that was set."""
        return self.barred.get(target.scope, 0.0) - now.mono

    def on_asked(self, target: Target, now: Instant) -> None:
        """Record the request."""
        del now
        self.heard.append(target.scope)

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        """Return the value that was set."""
        del target, error, now
        return self.retry_s


class Stage:
    """A schedule, its plan, and a clock that the test sets."""

    def __init__(self, scopes: str, random: Random | None = None) -> None:
        self.plan = ScriptedPlan(scopes)
        self.schedule = Schedule(self.plan, random or Longest())
        self.mono = 0.0

    @property
    def now(self) -> Instant:
        """The present moment."""
        return Instant(self.mono, WALL_0 + self.mono)

    def next(self) -> tuple[str, float] | None:
        """Return the next scope and the seconds until it is due."""
        found = self.schedule.next(self.now)
        return None if found is None else (found[0].scope, found[1])

    def begin(self) -> str:
        """Begin the next request, which must be due."""
        found = self.schedule.next(self.now)
        assert found is not None
        assert found[1] <= 0
        self.schedule.begin(found[0], self.now)
        return found[0].scope

    def begin_all(self) -> str:
        """Begin all requests that are allowed now."""
        begun = ""
        while (found := self.next()) is not None and found[1] <= 0:
            begun += self.begin()
        return begun

    def end(self, scopes: str, error: SourceError | None = None) -> None:
        """Let these requests succeed or fail."""
        for scope in scopes:
            target = Target(Scope(scope), f"http://x/{scope}")
            if error is None:
                self.schedule.succeeded(target, self.now)
            else:
                self.schedule.failed(target, error, self.now)

    def due_s(self, scope: str) -> float:
        """Return the seconds until a scope is requested."""
        return self.schedule.due_s(Target(Scope(scope), ""), self.now)
