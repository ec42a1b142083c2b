"""The state of a bookmaker, derived from facts: which fact takes precedence, and when the state began."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import inf

import pytest
from msgspec.structs import replace

from actors.board.snapshot import Book, Snapshot
from actors.board.validity import ListState
from actors.core.clock import Instant
from actors.core.messages import BookmakerId, ListId, Scope, SourceName
from actors.core.validation import Reason
from actors.monitoring.status import (
    BoardStatus,
    BookmakerState,
    BookmakerStatus,
    ScopeStatus,
    ServiceStatus,
    SourceStatus,
)
from actors.monitoring.transitions import polling_stopped
from actors.runtime.actor import ActorState, ActorStatus
from tests.support.builders.messages import batch
from tests.support.systems.supervision import bookmaker_record

ALDER = BookmakerId("alder")
LISTED = ListState(ListId("list-1"), 0.0, 30.0)
DOUBTED = ListState(ListId("list-1"), 0.0, 30.0, doubted=1)
WITHDRAWN = ListState(ListId("list-1"), 0.0, 30.0, withdrawn=True)
NOTHING, LIVE, SUSPECT, STALE = (), (LISTED,), (DOUBTED,), (WITHDRAWN,)


def _book(lists: Iterable[ListState]) -> Book:
    states = {Scope(f"scope-{at}"): state for at, state in enumerate(lists)}
    return Book(1, 1, lists=states, is_serving=any(not state.withdrawn for state in states.values()))


def _status(
    *,
    actor: ActorState = ActorState.RUNNING,
    source: ActorState = ActorState.RUNNING,
    failures: int = 0,
    error: str | None = None,
) -> BookmakerStatus:
    errors = {} if error is None else {Scope("scope-0"): error}
    source_status = SourceStatus(
        SourceName("file"),
        kind="kind",
        is_simulated=False,
        actor=ActorStatus("source:file", source),
        failures=failures,
    )
    if failures:
        source_status.last_error = "refused"
    own = ActorStatus("bookmaker:alder", actor)
    return BookmakerStatus(ALDER, "Alder", source_status, own, errors=errors)


def test_list_of_which_a_part_cannot_be_read_says_so() -> None:
    """The list's other matches are live; a readable next list ends the message; an error comes first."""
    status, book = _status(), _book(LIVE)
    status.rejections.note(batch(scope="new.csv"), {Reason.UNREADABLE: 23, Reason.TYPE: 2, Reason.LAY: 7})
    told, state = status.last_error(), status.observe(book, Instant(0.0, 0.0))
    status.errors[Scope("new.csv")] = "unreadable"
    worse = status.last_error()
    status.errors.clear()
    status.rejections.note(batch(scope="new.csv"), {Reason.LAY: 7})

    assert "new.csv: 25 of its matches cannot be read, the others are shown" == told
    assert BookmakerState.LIVE is state
    assert ("unreadable", None) == (worse, status.last_error())


def _derived(lists: Sequence[ListState], *, fails: bool, actors: Iterable[ActorState]) -> BookmakerState:
    """Return the state by the table of docs/operations.md: the first state that holds."""
    held = [each for each in lists if not each.withdrawn]
    if ActorState.QUARANTINED in actors:
        return BookmakerState.QUARANTINED
    if not lists:
        return BookmakerState.STARTING
    if not held:
        return BookmakerState.STALE
    if any(each.doubted for each in held):
        return BookmakerState.SUSPECT
    return BookmakerState.RETRYING if fails else BookmakerState.LIVE


def test_state_is_derived_from_the_facts() -> None:
    """From the bookmaker's own actor and its source's actor, only a quarantine counts."""
    some = [lists for count in range(3) for lists in product((LISTED, DOUBTED, WITHDRAWN), repeat=count)]
    causes = [(0, None), (3, None), (0, "unreadable"), (5, "unreadable")]
    for (failures, error), actors in product(causes, product(ActorState, repeat=2)):
        status = _status(actor=actors[0], source=actors[1], failures=failures, error=error)
        for lists in some:
            expected = _derived(lists, fails=bool(failures or error), actors=actors)

            assert expected is status.observe(_book(lists), Instant(0.0, 0.0)), (lists, failures, actors)


@pytest.mark.parametrize(
    ("scopes", "expected", "error"),
    [
        (["scope-0", "scope-1"], BookmakerState.RETRYING, "unreadable"),
        (["scope-1"], BookmakerState.LIVE, None),
        ([], BookmakerState.RETRYING, "unreadable"),  # the source names no scopes
    ],
)
def test_errors_of_removed_scopes_are_dropped(
    scopes: list[str], expected: BookmakerState, error: str | None
) -> None:
    """An error of a league that is no longer requested is dropped, since no success could clear it."""
    status = _status(error="unreadable")
    status.source.scopes = {Scope(scope): ScopeStatus() for scope in scopes}
    state = status.observe(_book(STALE + LIVE), Instant(0.0, 0.0))

    assert (expected, error, error) == (state, status.error, status.last_error())


def test_state_has_its_start() -> None:
    """`since` is when the state began, not when it was last read."""
    status = _status()
    seen = []
    for at, lists in enumerate([NOTHING, NOTHING, LIVE, LIVE, STALE, LIVE]):
        status.observe(_book(lists), Instant(0.0, 100.0 + at))
        seen.append((status.state.value, status.since))

    assert seen == [
        ("starting", 100.0),
        ("starting", 100.0),
        ("live", 102.0),
        ("live", 102.0),
        ("stale", 104.0),
        ("live", 105.0),
    ]


@pytest.mark.parametrize(
    ("error", "failures", "quarantined", "expected"),
    [
        (None, 0, "", None),
        ("unreadable", 1, "actor", "unreadable"),
        (None, 1, "actor", "refused"),
        (None, 0, "actor", "own crash"),
        (None, 0, "source", "source's crash"),
        (None, 0, "actor source", "own crash"),
    ],
)
def test_last_error_is_the_most_specific(
    error: str | None, failures: int, quarantined: str, expected: str | None
) -> None:
    """The bookmaker's own error comes before its source's error and a quarantine's; without any, None."""
    status = _status(error=error, failures=failures)
    status.actor.last_error, status.source.actor.last_error = "own crash", "source's crash"
    for name, actor in (("actor", status.actor), ("source", status.source.actor)):
        if name in quarantined.split():
            actor.become(ActorState.QUARANTINED, 0.0)

    assert expected == status.last_error()


def test_what_only_the_operator_can_mend_is_told_first() -> None:
    """A spent quota matters more than an earlier unreadable list and than errors of other scopes."""
    status = _status(error="lagging", failures=1)
    status.source.scopes = {
        Scope("scope-0"): ScopeStatus(failures=1, last_error="timeout"),
        Scope("scope-1"): ScopeStatus(failures=1, last_error="quota spent", needs_operator=True),
    }

    assert "quota spent" == status.last_error()


def test_service_derives_the_state_of_every_bookmaker() -> None:
    """All states are derived together, in configured order, with the wall clock's time."""
    birch = BookmakerId("birch")
    statuses = {birch: _status(), ALDER: _status()}
    service = ServiceStatus(0.0, BoardStatus(ActorStatus("aggregator")), {}, statuses, {})
    snapshot = Snapshot(1, {birch: _book(STALE), ALDER: _book(LIVE)})

    states = service.observe(snapshot, Instant(1.0, 1000.0))

    assert [(birch, BookmakerState.STALE), (ALDER, BookmakerState.LIVE)] == list(states.items())
    assert {1000.0} == {status.since for status in statuses.values()}


@pytest.mark.parametrize(
    ("learned", "name"),
    [
        ((("", False), ("Pinnacle", True), ("Other", True)), "Pinnacle"),
        ((("", True), ("Pinnacle", True)), "pin-x"),
        ((), "pin-x"),
    ],
)
def test_name_that_matches_were_shown_with_stays(learned: tuple[tuple[str, bool], ...], name: str) -> None:
    """Otherwise the lists and changes of one version would have two names for one bookmaker."""
    status = _status()
    status.name, status.is_named = "pin-x", False

    for title, is_in_use in learned:
        status.learn_name(title, is_in_use=is_in_use)

    assert name == status.name


def test_reasons_are_counted_within_bounds() -> None:
    """A plug-in may count by any text: a hundred reasons have a counter each, all others share one."""
    record = bookmaker_record("alder")
    record.note_rejected({"x" * 1000: 1})
    for number in range(1000):
        record.note_rejected({f"match {number}": 2, "price": 1})

    assert 100 == len(record.rejected)
    assert (1000, 2, 1805) == tuple(record.rejected[reason] for reason in ("price", "match 97", "other"))


def test_failures_of_a_source_that_is_not_asked_any_more_say_nothing() -> None:
    """Another process of a cluster polls the source now: the prices are live, whatever failed here."""
    status, book = _status(failures=3, error="cannot be read"), _book(LIVE)
    status.changed_at = 5.0
    aggregator = BoardStatus(ActorStatus("aggregator"))
    service = ServiceStatus(0.0, aggregator, {status.source.name: status.source}, {ALDER: status}, {})
    before = status.observe(book, Instant(0.0, 0.0))
    polling_stopped(service, status.source.name)

    assert BookmakerState.RETRYING is before
    assert BookmakerState.LIVE is status.observe(book, Instant(0.0, 0.0))
    assert None is status.last_error()
    assert [None] == [record.changed_at for record in service.bookmakers.values()]


def test_confirmations_of_another_process_are_told_by_our_clock() -> None:
    """The other clock is ahead by `ahead_s` at most; before that is known, the times are unknown."""
    status, now = _status(), Instant(20.0, 1020.0)
    foreign = ListState(ListId(""), 110.0, 30.0, is_foreign=True)
    known = replace(_book([foreign]), ahead_s=100.0)
    unknown = _book([replace(foreign, confirmed_mono=inf)])

    assert 1010.0 == status.confirmed_at(known, now)
    assert None is status.confirmed_at(unknown, now)
    assert known.serves(1e9)
