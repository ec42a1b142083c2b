"""Reads the file of links of a running service again on demand, and sets its warning in `/health`.

A file that keeps none of the previous decisions is refused like a broken one: an editor or a full disk may
leave such a file, and all decisions would be lost silently.
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

EMPTY = "the file of links has no tables, so it has no decisions; if that is intended, write none = true"
REFUSED = "the file of links was read again and refused; its previous content stays valid; see the log"

log = structlog.get_logger()


class LinksFile:
    """The file at `path`, read as `overrides` at the start; `status` gets its warnings."""

    def __init__(self, path: str | None, status: LinksStatus, overrides: Overrides) -> None:
        self._path = path
        self._status = status
        if path is not None and is_silent(overrides):
            status.file_warning = EMPTY
            announce(log, "links.empty", file=path)

    async def read_again(self, held: Overrides) -> Overrides | None:
        """Return the new decisions in place of `held`; None if the file is refused, which is logged."""
        if self._path is None:
            return None
        why, found = "", held
        try:
            path = Path(self._path)
            found = await anyio.to_thread.run_sync(read, path, abandon_on_cancel=True)
            check_kept(path, held, found)
        except (ConfigError, RuntimeError) as error:  # RuntimeError: the system allows no further thread
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
    """Return whether the file has neither decisions nor `none = true`."""
    return overrides == Overrides()


def check_kept(path: Path, held: Overrides, found: Overrides) -> None:
    """Check that a file keeps at least one of the previous decisions. Raises: ConfigError."""
    before = {*_subjects(held)}
    if found.none or not before or not before.isdisjoint(_subjects(found)):
        return
    count = len(held.teams) + len(held.leagues) + len(held.must) + len(held.must_not)
    raise ConfigError(
        f"{path}: has none of the {count} previous tables, and may be half-written; to remove all, write"
        " only none = true; to replace all, add the new tables, have the file read again, and then remove"
        " the old ones"
    )


def _subjects(overrides: Overrides) -> Iterator[Hashable]:
    """Yield the names and events of the decisions; a corrected decision shares some of them."""
    yield from (("team", name) for team in overrides.teams for name in team.names)
    yield from (("league", label) for same in overrides.leagues for label in same)
    for pair in (*overrides.must, *overrides.must_not):
        yield frozenset({pair.a, pair.b})
        yield frozenset(pair.sides)
