"""The archive of a simulated machine: written as by its thread, and compared with all answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import msgspec

from actors.archive.archive import FollowedArchive
from actors.archive.folder import Folder
from actors.archive.past import Days, Elsewhere, Found, Listed, NotYet, Unknown
from actors.archive.writer import STEP_S
from actors.core.messages import BookmakerId
from web.encoding.schemas import match_v2

Served = Mapping[tuple[str, str, str], bytes]
"""Bodies by path with query, content coding and tag."""


async def writing(archive: FollowedArchive) -> None:
    """Write as the thread of the archive does, until cancelled."""
    while True:
        await anyio.sleep(STEP_S)
        archive.writer.step()


def killed(archive: FollowedArchive) -> None:
    """End the archive without writing the waiting commits."""
    archive.writer.fail(OSError("killed"))
    archive.folder.release()


class Archived:
    """Compares an archive with served lists; `found` counts lists that it has, `wrong` lists that differ.

    `unknown` lists are in a gap, or newer than the last written commit.
    """

    def __init__(self, archive: FollowedArchive) -> None:
        self.wrong: list[str] = []
        self.found = self.unknown = 0
        self._days = Days(Folder.reading(archive.folder.path), lambda: None)
        held = self._days.held()
        self._first, self.gaps = held[0].base, self._days.gaps(held)

    def compare(self, served: Served) -> None:
        """Compare all versions of the v2 lists with their content in the archive."""
        for (view, coding, tag), body in served.items():
            path, _, query = view.partition("?")
            if path != "/api/v2/odds" or coding != "identity":
                continue
            version, epoch = tag.strip('"').split("-")[:2]
            bookmaker = BookmakerId(query.removeprefix("bookmaker=")) if query else None
            self._compare(view, int(version), epoch, body, self._days.at_version(bookmaker, int(version)))

    def _compare(self, view: str, version: int, epoch: str, body: bytes, found: Found) -> None:
        match found:
            case Listed() if (found.epoch, _shown(found)) == (epoch, msgspec.json.decode(body)["matches"]):
                self.found += 1
            case NotYet():
                self.unknown += 1
            case Unknown():
                self.unknown += 1
                if version > self._first and not any(gap.after < version < gap.until for gap in self.gaps):
                    self.wrong.append(f"{view} at {version}: unknown, and in no gap")
            case Listed() | Elsewhere():
                self.wrong.append(f"{view} at {version} of {epoch} is another list in the archive")


def _shown(found: Listed) -> list[Any]:
    return [
        msgspec.to_builtins(match_v2(of.entry, found.names[of.bookmaker]))
        for of in found.entries
        if of.entry is not None
    ]
