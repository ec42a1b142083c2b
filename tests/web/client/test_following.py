"""How a board follows the service, driven step by step without I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from random import Random
from typing import Any

import httpx2
import msgspec
import pytest

from tests.support.builders.client_lists import fixture
from web import client as c
from web.client.board import BoardView
from web.client.core import Core
from web.client.following import Following
from web.client.state import Ledger
from web.client.values import Capabilities, Match
from web.client.wire import Chunk, CutError, Head, Open, Policy, Read, Sleep

PATHS = ("/api/v2/odds", "/api/v2/fixtures", "/api/v2/changes", "/api/v2/stream")
FILTERS: dict[str, tuple[str, ...]] = dict.fromkeys(PATHS, ("bookmaker", "league", "since", "view", "wait"))
KNOWN = Capabilities(
    endpoints=PATHS, filters=FILTERS, supported_bookmakers=("birch", "alder"), version="2.9"
)
PROBLEM = {"content-type": "application/problem+json"}
Script = tuple[int, dict[str, str], Sequence[Any]]


def match(name: str = "alder_m1", price: float = 2.0) -> Match:
    """Return an entry of the list of odds."""
    bookmaker = name.partition("_")[0].title()
    odds = {"1": price, "X": 3.0, "2": 4.0}
    names = {"sport": "football", "home": "Home", "away": "Away", "league": "League"}
    return msgspec.convert(
        {"id": name, "bookmaker": bookmaker, "odds": odds, "start_time": None, "updated": 1.0, **names},
        Match,
    )


def listed(version: int, *matches: Match, epoch: str = "e") -> Script:
    """Return the answer to a request for the whole list."""
    body = {"version": version, "matches": matches, "matches_count": len(matches)}
    return 200, {"odds-cursor": f"{version}-{epoch}"}, [msgspec.json.encode(body)]


def changed(since: int, version: int, *matches: Match, removed: Sequence[Any] = ()) -> bytes:
    """Return the body of an answer with changes."""
    body = {"version": version, "since": since, "matches": matches, "removed": removed}
    return msgspec.json.encode({**body, "cursor": f"{version}-e"})


def stream(*parts: Any) -> Script:
    """Return a stream: its messages, the seconds that pass between them, and the error that cuts it."""
    return 200, {}, parts


def message(name: str, version: int, data: bytes = b"", epoch: str = "e") -> bytes:
    """Return a message of the stream; without `data` its body has only the version."""
    has_id = name in {"snapshot", "changes"}
    head = f"id: {version}-{epoch}\n" if has_id else ""
    return f"{head}event: {name}\ndata: ".encode() + (data or b'{"version":%d}' % version) + b"\n\n"


class Driven:
    """A board whose requests a script answers, and which has a clock of its own."""

    def __init__(self, *script: Script, call: c.ListCall[Any, Any] | None = None) -> None:
        self.now = 0.0
        self.events: list[Any] = []
        self.targets: list[str] = []
        self.sleeps: list[float] = []
        self.ages: list[float] = []
        call, core = call or c.odds(), Core(Policy(), lambda: self.now, Random(1))
        ledger = Ledger[Any](20.0, lambda: self.now, is_whole=call.is_whole)
        self.board = BoardView(ledger)
        self._script, self._parts = [*script], list[Any]()
        self._run(Following(core, call, ledger, by_stream=True).steps())

    def _run(self, steps: Any) -> None:
        effect = next(steps)
        while True:
            result: Any = None
            match effect:
                case Open(target=target) if target == "/api/capabilities":
                    self._parts, result = [msgspec.json.encode(KNOWN)], Head(200, {})
                case Open(target=target):
                    self.targets.append(target)
                    if not self._script:
                        return
                    status, headers, parts = self._script.pop(0)
                    self._parts, result = [*parts], Head(status, headers)
                case Read():
                    result = self._read()
                case Sleep(seconds=seconds):
                    self.sleeps.append(seconds)
                    self.now += seconds
                case c.Changes() | c.Connected() | c.Disconnected() | c.Reset() | c.Linking() | c.Cleared():
                    self.events.append(effect)
                    self.ages.append(self.board.age_s)
            effect = steps.throw(result) if isinstance(result, CutError) else steps.send(result)

    def _read(self) -> Any:
        while self._parts and isinstance(self._parts[0], float):
            self.now += self._parts.pop(0)
        if not self._parts:
            return Chunk(b"")
        part = self._parts.pop(0)
        return part if isinstance(part, Chunk | CutError) else Chunk(part)

    @property
    def kinds(self) -> list[str]:
        """Return the names of all events."""
        return [type(event).__name__ for event in self.events]


FIRST = listed(5, match())
NEXT: Script = (200, {}, [changed(5, 5)])
"""An answer without changes since version 5, which a client gets before it follows the stream again."""


def test_a_board_asks_for_the_list_and_then_for_the_stream_since_it() -> None:
    """The order of the entries follows the bookmakers in the capabilities."""
    driven = Driven(listed(5, match("alder_m1"), match("birch_m1")), stream(message("heartbeat", 5)))

    assert ["/api/v2/odds", "/api/v2/stream?since=5-e", "/api/v2/changes?since=5-e"] == driven.targets
    assert ["Changes", "Connected", "Disconnected"] == driven.kinds
    assert ["birch_m1", "alder_m1"] == [entry.id for entry in driven.board.listed()]


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([CutError("read timeout")], "read timeout"),
        ([], "the stream ended"),
        ([message("changes", 8, changed(7, 8))], "changes began at 7-e, must begin at 5-e"),
        ([message("changes", 6, changed(5, 6), epoch="f")], "changes began at 5-f, must begin at 5-e"),
        ([message("heartbeat", 6)], "the service is at 6, the board at 5"),
        ([message("changes", 6, b"[")], "not as documented"),
        ([message("changes", 6, changed(5, 7))], "version 7 came without its epoch"),
        ([message("snapshot", 4, listed(4)[2][0])], "the service is at 4-e, the board at 5-e"),
        ([message("snapshot", 6)], "version 6 came without its list"),
        ([21.0, message("heartbeat", 5)], "nothing was read for 21 s"),
        ([message("bye", 5, b'{"version":5,"retry":4000}')], "the service ends"),
    ],
)
def test_what_does_not_continue_the_board_is_a_cut(parts: list[Any], why: str) -> None:
    """The board takes nothing of such a message, and continues from its own version."""
    driven = Driven(FIRST, stream(*parts))

    assert why in driven.board.why
    assert (["Changes", "Connected", "Disconnected"], 5) == (driven.kinds, driven.board.version)
    assert "/api/v2/changes?since=5-e" == driven.targets[-1]
    assert driven.sleeps[0] >= (4.0 if why == "the service ends" else 0.25)


def test_an_outage_is_told_once() -> None:
    """An outage has one event at its begin and one at its end; no prices changed meanwhile."""
    away = (503, {"retry-after": "3"}, [b"<html>"])
    driven = Driven(FIRST, stream(), away, away, NEXT, stream(message("heartbeat", 5)))

    assert ["Changes", "Connected", "Disconnected", "Connected", "Disconnected"] == driven.kinds
    assert [True, True] == [slept >= 3.0 for slept in driven.sleeps[1:3]]


def test_an_answer_to_another_question_proves_nothing() -> None:
    """A cache may answer with changes since another version."""
    driven = Driven(FIRST, stream(), (200, {}, [changed(4, 5)]))

    assert "the answer was about changes since 4" in driven.board.why


def test_an_epoch_that_was_left_is_older() -> None:
    """A list of the old epoch is ignored until it has a version that the board has not had before."""
    gone = (410, PROBLEM, [b'{"code":"version_not_available","epoch":"f","current_version":9}'])
    other = listed(2, match(price=2.5), epoch="f")
    late = (410, PROBLEM, [b'{"code":"version_not_available","epoch":"e","current_version":9}'])
    driven = Driven(FIRST, stream(), gone, other, stream(), late, FIRST)

    assert ("2-f", {"1": 2.5, "X": 3.0, "2": 4.0}) == (
        driven.board.cursor,
        driven.board.entries["alder_m1"].odds,
    )
    assert ["other_epoch", "other_epoch"] == [of.reason for of in driven.events if isinstance(of, c.Reset)]


def test_bytes_that_waited_do_not_make_a_board_current() -> None:
    """Bytes may have waited in the socket for the whole time in which the caller did not read."""
    ready = Chunk(message("heartbeat", 5), was_ready=True)
    parts = [8.0, ready, 8.0, ready, 5.0, Chunk(message("changes", 6, changed(5, 6)), was_ready=True)]
    driven = Driven(FIRST, stream(*parts))

    assert (5, "nothing was read for 21 s") == (driven.board.version, driven.board.why)


class _Readable:
    """A socket that always has bytes to read."""

    def get_extra_info(self, name: str) -> bool:
        """Return whether the name is `is_readable`, the only fact that the client asks for."""
        return name == "is_readable"


def test_the_client_asks_its_socket_whether_bytes_waited() -> None:
    """The client asks before each read: after a pause of the caller old bytes make no board current."""
    now = 0.0

    def beats() -> Iterator[bytes]:
        nonlocal now
        for _ in range(9):
            now += 8.0
            yield message("heartbeat", 5)

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/api/v2/stream":
            return httpx2.Response(200, content=beats(), extensions={"network_stream": _Readable()})
        if request.url.path == "/api/capabilities":
            return httpx2.Response(200, content=msgspec.json.encode(KNOWN))
        status, headers, (body,) = FIRST
        return httpx2.Response(status, headers=headers, content=body)

    web = httpx2.MockTransport(answer)
    with (
        c.Client("http://board", transport=web, now=lambda: now) as client,
        client.board(c.odds()) as board,
    ):
        [*takewhile(lambda event: not isinstance(event, c.Disconnected), board)]
        why = board.why

    assert "nothing was read for 24 s" == why


def test_a_long_message_is_as_old_as_its_begin() -> None:
    """The service made the message before its first byte arrived."""
    whole = message("changes", 6, changed(5, 6, match(price=2.5)))
    driven = Driven(FIRST, stream(15.0, whole[:9], 7.0, whole[9:20], 7.0, whole[20:], message("bye", 6)))

    assert (6, 14.0) == (driven.board.version, driven.ages[-1])


def test_a_cleared_bookmaker_is_told_with_its_reasons() -> None:
    """The event follows the change in which the last price of the bookmaker left."""
    removed = [{"id": "alder_m1", "bookmaker": "Alder", "reason": "stale", "version": 6}]
    delta = changed(5, 6, removed=removed)
    driven = Driven(listed(5, match(), match("birch_m1")), stream(message("changes", 6, delta)))

    assert c.Cleared("Alder", 1, ("stale",)) == driven.events[3]


def test_a_label_of_a_league_is_followed_by_its_id() -> None:
    """After a restart a label may mean no league, or another league, so changes are requested by the id."""
    body = {"version": 5, "fixtures": [fixture()], "linking": {"pending": 2}, "cursor": "5-e"}
    answer: Script = (200, {}, [msgspec.json.encode({**body, "fixtures_count": 1, "league_id": "eng.1"})])
    driven = Driven(answer, call=c.fixtures(league="EPL"))

    assert "/api/v2/changes?view=fixtures&league=eng.1&since=5-e&wait=5" == driven.targets[-1]
    assert ["Linking", "Changes", "Connected"] == driven.kinds


def test_a_service_that_links_shows_no_fixtures_yet() -> None:
    """The client reports the linking, because old fixtures may still be on the board."""
    linking = (503, {**PROBLEM, "retry-after": "1"}, [b'{"code":"linking"}'])
    driven = Driven(linking, linking, call=c.fixtures())

    assert [c.Disconnected("/api/v2/fixtures: 503 linking"), c.Linking(None)] == driven.events


def test_a_message_in_pieces_is_one() -> None:
    """A message may be cut at any byte, and unknown messages may stand between known messages."""
    text = message("changes", 6, changed(5, 6, match(price=2.5))) + b": note\n\n" + message("new", 1)
    text += message("changes", 7, changed(6, 7, match(price=2.6)))
    for size in (1, 2, 3, 7, 50):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        driven = Driven(FIRST, stream(*pieces))

        assert [6, 7] == [of.version for of in driven.events[2:] if isinstance(of, c.Changes)]


def test_a_move_is_of_one_entry_alone() -> None:
    """No price moves when a bookmaker appears or leaves, or when only the time of a price changes."""
    again = msgspec.structs.replace(match(), updated=2.0)
    delta = [changed(5, 6, match("birch_m1")), changed(6, 7, again), changed(7, 8, match(price=2.5))]
    parts = [message("changes", number, data) for number, data in enumerate(delta, 6)]
    driven = Driven(FIRST, stream(*parts))

    moves = [move for event in driven.events if isinstance(event, c.Changes) for move in event.moves()]
    assert [c.Move(match(price=2.5), "1x2", "alder_m1", "Alder", "1", 2.0, 2.5)] == moves


def test_a_board_is_current_when_its_changes_are_told() -> None:
    """A caller that handles a change event sees the board of that event."""
    driven = Driven(FIRST, stream())

    assert ["Changes", "Connected", "Disconnected"] == driven.kinds
    assert [0.0, 0.0] == driven.ages[:2]
