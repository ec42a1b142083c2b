"""Logs a program's standard error and the reasons of its withdrawals: by level, limited, masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from structlog.typing import FilteringBoundLogger

from actors.core.clock import Instant
from actors.core.messages import Scope
from actors.runtime.facts import announce
from actors.source_api.program import ListChange

MAX_REMARKS = 60  # logged lines in each `WINDOW_S`
WINDOW_S = 60.0
MAX_CHARS = 300
LEVELS = {"E!": "error", "W!": "warning", "I!": "info", "D!": "debug"}


class Withdrawals:
    """The lists that a program has withdrawn, with reasons."""

    def __init__(self) -> None:
        self._why: dict[Scope, str] = {}

    def told(self, changes: Iterable[ListChange]) -> Iterator[str]:
        """Yield a text for each list that is newly withdrawn, or has a new reason."""
        for change in changes:
            if change.complete:
                self._why.pop(change.scope, None)
            elif change.withdrawn and self._why.get(change.scope) != change.why:
                self._why.pop(change.scope, None)
                self._why[change.scope] = change.why
                yield self._text(change.scope)

    def newest(self) -> str | None:
        """Return a text for the most recently withdrawn list, None if no list is withdrawn."""
        return self._text(next(reversed(self._why))) if self._why else None

    def _text(self, scope: Scope) -> str:
        why = self._why[scope]
        return f"list {scope} is withdrawn" + (f": {why}" if why else ", without a reason")


class Remarks:
    """Logs lines at the level of their prefix, `E!`, `W!`, `I!` or `D!`, as Telegraf does."""

    def __init__(self, log: FilteringBoundLogger, secrets: tuple[str, ...]) -> None:
        self._log = log
        self._secrets = secrets
        self._began_mono = -WINDOW_S
        self._logged = self._dropped = 0

    def add(self, line: str, now: Instant) -> None:
        """Log a line, or only count it if there were too many."""
        if now.mono - self._began_mono >= WINDOW_S:
            if self._dropped:
                announce(self._log, "program.remarks_dropped", lines=self._dropped)
            self._began_mono, self._logged, self._dropped = now.mono, 0, 0
        if self._logged >= MAX_REMARKS:
            self._dropped += 1
            return
        self._logged += 1
        for secret in self._secrets:
            line = line.replace(secret, "***")
        level = LEVELS.get(line[:2])
        text = line[2 if level else 0 : MAX_CHARS].strip()
        announce(self._log, "program.remarked", level or "info", text=text)
