"""The file of links of a running service: read again on demand, and what `/health` says of it.

A file that says nothing of all that held before is refused as a broken one is: an editor or a full disk
leaves such a file behind, and the links by hand would be gone in silence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path

import anyio.to_thread
import structlog

from actors.core.errors import ConfigError
from actors.matching.overrides import Overrides
from actors.monitoring.status import LinksStatus
from actors.review.links_file import read
from actors.runtime.facts import announce

EMPTY = "the file of links has no tables, so nothing holds by hand; if that is meant, it says none = true"
REFUSED = (
    "the file of links was refused when it was read again, and the previous one holds; the log says why"
)

log = structlog.get_logger()


class LinksFile:
    """The file at `path`, read as `overrides` at the start; `status` gets the warnings of it."""

    def __init__(self, path: str | None, status: LinksStatus, overrides: Overrides) -> None:
        self._path = path
        self._status = status
        if path is not None and is_silent(overrides):
            status.file_warning = EMPTY
            announce(log, "links.empty", file=path)

    async def read_again(self, held: Overrides) -> Overrides | None:
        """Return what the file says now in place of `held`; None if that still holds, which is logged."""
        if self._path is None:
            return None
        why, found = "", held
        try:
            path = Path(self._path)
            found = await anyio.to_thread.run_sync(read, path, abandon_on_cancel=True)
            check_kept(path, held, found)
        except (ConfigError, RuntimeError) as error:  # the latter if the system allows no further thread
            why = "; ".join(str(error).splitlines())
        if why:
            self._status.file_warning = REFUSED
            announce(log, "links.rejected", error=why)
            return None
        self._status.file_warning = EMPTY if is_silent(found) else None
        counts = {name: len(getattr(found, name)) for name in ("teams", "leagues", "must", "must_not")}
        announce(log, "links.replaced", file=self._path, **counts)
        return found


def is_silent(overrides: Overrides) -> bool:
    """Return whether there are no decisions, and nothing says that this is meant."""
    return overrides == Overrides()


def check_kept(path: Path, held: Overrides, found: Overrides) -> None:
    """Check that a file still has one of the decisions that held. Raises: ConfigError."""
    before = {*_subjects(held)}
    if found.none or not before or not before.isdisjoint(_subjects(found)):
        return
    count = len(held.teams) + len(held.leagues) + len(held.must) + len(held.must_not)
    raise ConfigError(
        f"{path}: has none of the {count} tables that hold, as if it were half-written; if all are to go,"
        " it must say none = true and no more; to replace all, add the new tables, have it read again, and"
        " take the old ones out then"
    )


def _subjects(overrides: Overrides) -> Iterator[Hashable]:
    """Yield what the decisions are about: one that was corrected is about the same names or events."""
    yield from (("team", name) for team in overrides.teams for name in team.names)
    yield from (("league", label) for same in overrides.leagues for label in same)
    for pair in (*overrides.must, *overrides.must_not):
        yield frozenset({pair.a, pair.b})
        yield frozenset(pair.sides)
