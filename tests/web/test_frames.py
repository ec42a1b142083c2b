"""Events: encoded once a commit and view, in a memory that is bounded."""

from __future__ import annotations

import json

import pytest

from actors.history import History, HistoryLimits
from actors.messages import BookmakerId
from actors.published import Published
from actors.snapshot import Snapshot
from tests.support.boards import ALDER, BIRCH, EMPTY, RULES, after
from tests.support.builders import batch, match
from tests.support.virtual import ManualClock
from web import frames
from web.answers import Answers
from web.frames import MAX_KNOWN_BYTES, Frames

NAMES = {ALDER: "Alder", BIRCH: "Birch & Söhne"}
ONE = after(EMPTY, batch([match("a")]), batch([match("x")], bookmaker="birch"))
TWO = after(ONE, batch([match("a", prices=(2.1, 3.5, 4.0))], received_mono=1.0))


def _frames(*snapshots: Snapshot, max_known_bytes: int = MAX_KNOWN_BYTES) -> Frames:
    history = History(EMPTY, HistoryLimits())
    for snapshot in snapshots:
        history.add(snapshot)
    return Frames(history, NAMES, _answers(snapshots[-1]), max_known_bytes)


def _answers(snapshot: Snapshot) -> Answers:
    return Answers(Published(snapshot, RULES, ManualClock()), NAMES)


@pytest.mark.parametrize("view", [None, ALDER])
def test_an_event_is_encoded_once(view: BookmakerId | None) -> None:
    """All clients of a view that come from one version share the very same bytes."""
    made = _frames(ONE)

    assert made.changes(view, 1000) is made.changes(view, 1000)


def test_the_next_commit_makes_new_events() -> None:
    """From each version another one."""
    history = History(EMPTY, HistoryLimits())
    made = Frames(history, NAMES, _answers(ONE))
    history.add(ONE)
    first = made.changes(None, 1000)
    history.add(TWO)
    told = [made.changes(None, since) for since in (1000, 1001)]

    versions = [json.loads(one.split(b"data: ")[1]) for one in (first, *told)]
    assert [(1000, 1001), (1000, 1002), (1001, 1002)] == [
        (one["since"], one["version"]) for one in versions
    ]
    assert [False, True, False] == ["conflated" in one for one in versions]


def test_kept_events_are_bounded() -> None:
    """From however many versions clients come, what is kept of one commit is limited by its bytes."""
    base, snapshots = ONE, [ONE]
    for number in range(60):
        one = batch([match("a", prices=(2.0 + number / 100, 3.5, 4.0))], received_mono=1.0)
        snapshots.append(base := after(base, one))
    made = _frames(*snapshots, max_known_bytes=2_000)

    for since in range(1001, base.version):
        assert made.changes(None, since).startswith(b"id: %d\n" % base.version)

    assert sum(map(len, made._known[None].changes.values())) <= 2_000


def test_polls_are_not_marked() -> None:
    """`conflated` is the stream's word; who polls knows since when."""
    assert b"conflated" not in _frames(ONE, TWO).delta(None, 1000)
    assert b'"conflated":true' in _frames(ONE, TWO).delta(None, 1000, is_marked=True)


def test_other_events_have_no_id() -> None:
    """A client that is cut off behind one of them comes back from where it was."""
    made = [frames.reset("too_old", 7), frames.heartbeat(7), frames.bye(7, 1500)]

    assert b'event: reset\ndata: {"reason":"too_old","version":7}\n\n' == made[0]
    assert b'event: heartbeat\ndata: {"version":7}\n\n' == made[1]
    assert b'retry: 1500\nevent: bye\ndata: {"version":7,"retry":1500}\n\n' == made[2]
