"""What the lines of a stream become: batches of one list, by image, change, confirmation, withdrawal.

Pure: a protocol, the names that are known, and the name of the present list. The actor of a live
stream feeds it, and so does the replay of a recorded one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from actors.core.clock import Instant
from actors.core.cooperative import Sliced
from actors.core.errors import PayloadError
from actors.core.messages import Batch, BookmakerId, Extract, ListId, Scope, SourceName
from actors.source_api.stream import Reaction, Session

SCOPE = Scope("stream")
CLOSED = "closed"
"""The reason of a removal for good."""
NAMES_SCOPE = Scope("names")
"""Of what a catalogue answered, in a recording."""
CONNECTION_SCOPE, DISTRUST_SCOPE, REFRESH_SCOPE = Scope("connection"), Scope("distrust"), Scope("refresh")
"""Of the beginning of a connection, of a list that somebody has lost, of asking for an image: in a
recording, where they have no body."""


class Heard(Struct, frozen=True):
    """What a line brought: lines to send, batches to hand out, names to ask for.

    `vouches` when the server stands by the list, `withdraws` when it takes back its word; `listed`
    are all matches of a new image.
    """

    send: tuple[bytes, ...] = ()
    batches: tuple[Batch, ...] = ()
    lacking: tuple[str, ...] = ()
    vouches: bool = False
    withdraws: bool = False
    listed: frozenset[str] | None = None


class StreamFeed:
    """One subscription on its way to the bookmakers of its source."""

    def __init__(
        self, session: Session, source: SourceName, bookmakers: Iterable[BookmakerId], stale_after_s: float
    ) -> None:
        self.session = session
        self.list_id = ListId("")
        self._source = source
        self._bookmakers = tuple(bookmakers)
        self._stale_after_s = stale_after_s
        self._names: dict[str, Any] = {}
        self._is_given = False
        self._vouched = Instant(0.0, 0.0)

    @property
    def is_given(self) -> bool:
        """Whether the bookmakers were given a list that has not been taken back since."""
        return self._is_given

    def distrust(self, now: Instant) -> tuple[Batch, ...]:
        """Take the list back until the next image: somebody has lost a part, perhaps a suspension.

        Also one that was taken back already: that may be what was lost.
        """
        self._is_given = False
        return self._every(Extract(()), now, withdrawn=True)

    def line(self, line: bytes, now: Instant) -> Sliced[Heard]:
        """Take one line, which came at `now`, a long one in slices; until then nothing else is taken.

        Raises: PayloadError for what is no message, after which the next connection begins anew;
        StreamError for a refusal.
        """
        try:
            reaction = yield from self.session.receive(line)
        except PayloadError:
            self.session.forget()
            raise
        if reaction.vouches:
            self._vouched = now
        batches = self._batches(reaction, now)
        known = {match: self._names[match] for match in reaction.unnamed if match in self._names}
        if known:
            batches += self.names(known)
        return Heard(
            send=reaction.send,
            batches=batches,
            lacking=reaction.unnamed,
            vouches=reaction.vouches,
            withdraws=reaction.withdraw,
            listed=None if reaction.image is None else self._listed(reaction.image),
        )

    def names(self, names: Mapping[str, Any]) -> tuple[Batch, ...]:
        """Take names, and give what changes by them; they vouch for no price."""
        self._names.update(names)
        changes = self.session.name(names)
        is_news = bool(changes.matches or changes.removals)
        return self._every(changes, self._vouched) if is_news and self._is_given else ()

    def _batches(self, reaction: Reaction, now: Instant) -> tuple[Batch, ...]:
        if reaction.withdraw:
            self._is_given = False
            return self._every(Extract(()), now, withdrawn=True)
        if reaction.image is not None:
            self._is_given = True
            self.list_id = ListId(f"{self._source}-{now.wall:.6f}")
            return self._every(reaction.image, now, complete=True)
        for removal in reaction.changes.removals if reaction.changes else ():
            if removal.reason == CLOSED:
                self._names.pop(removal.source_match_id, None)
        if not self._is_given:
            return ()
        if reaction.vouches:
            return self._every(reaction.changes or Extract(()), now)
        # Without its word for the rest, which stays as old as it is.
        return self._every(reaction.changes, self._vouched) if reaction.changes else ()

    def _listed(self, image: Extract) -> frozenset[str]:
        """Name the matches of a new image, and forget the names of all others."""
        listed = {match.source_match_id for match in image.matches}
        listed |= {removal.source_match_id for removal in image.removals}
        self._names = {match: names for match, names in self._names.items() if match in listed}
        return frozenset(listed)

    def _every(
        self, extract: Extract, now: Instant, *, complete: bool = False, withdrawn: bool = False
    ) -> tuple[Batch, ...]:
        return tuple(
            Batch(
                bookmaker=bookmaker,
                scope=SCOPE,
                # A withdrawal is of none: a crash on a list must not take it along.
                list_id=ListId("") if withdrawn else self.list_id,
                complete=complete,
                matches=extract.matches,
                removals=extract.removals,
                received_at=now.wall,
                received_mono=now.mono,
                stale_after_s=self._stale_after_s,
                withdrawn=withdrawn,
                is_image=complete,
            )
            for bookmaker in self._bookmakers
        )
