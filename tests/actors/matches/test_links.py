"""Fixtures of a board: they begin, are linked, merge, split and end, with their ids and versions."""

from __future__ import annotations

from math import inf

import pytest

from actors.board.snapshot import Entry
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Removal, Scope, SourceMatchId, SourceName
from actors.matches.draft import FixtureUpdate, bonds, rooted
from actors.matches.linking import PORTION, Linking
from actors.matches.links import join, part
from actors.matches.model import (
    BookmakerInfo,
    Fixture,
    FixtureRemoval,
    FixtureSettings,
    FixtureView,
    ViewKind,
    roster_of,
)
from actors.matching.event import EventKey, derived_id
from actors.matching.matcher import Group, Member
from actors.matching.rules import FAR, Certainty, Rule
from tests.support.builders.fixtures import (
    ADVANCING,
    ALDER,
    BIRCH,
    CEDAR,
    ONE,
    ROSTER,
    TWO,
    EqualNames,
    LinkedBoard,
    evidence,
)
from tests.support.builders.messages import batch, match
from tests.support.time.virtual import WALL_0

FAR_PRICES = (12.0, 6.0, 1.2)
ALL = FixtureView(ViewKind.FIXTURES)


def linked() -> LinkedBoard:
    """Return a board with one match of two sources, linked."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER), batch([match("a")], bookmaker=CEDAR))
    board.apply(batch([match("b")], bookmaker=BIRCH))
    board.link()
    return board


def test_linked_fixtures_are_one_and_the_older_stays() -> None:
    """The older fixture stays, its bookmakers in order, with the names of the first source."""
    board = LinkedBoard()
    board.apply(batch([match("a", league="A")], bookmaker=ALDER))
    (older,) = board.fixtures()
    board.apply(batch([match("b", league="B")], bookmaker=BIRCH))
    (younger,) = (shown_fixture for shown_fixture in board.fixtures() if shown_fixture.id != older.id)
    board.link()
    (fixture,) = board.fixtures()
    gone = next(change for change in board.changes[-1].changes if change.after is None)

    assert (older.id, older.created) == (fixture.id, fixture.created)
    assert ["alder_a", "birch_b"] == [entry.id for entry in fixture.entries.values()]
    assert "A" == fixture.match.league
    assert (younger, FixtureRemoval.MERGED, older.id) == (gone.before, gone.reason, gone.into)


def test_link_mints_a_version_but_no_list_changes() -> None:
    """A link makes a version of its own; the versions of the lists stay."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))
    before = board.snapshot
    board.link()

    assert before.version + 1 == board.snapshot.version == board.state.version(ALL)
    assert before.books is board.snapshot.books


def test_price_changes_the_fixture_and_no_event() -> None:
    """A price is put in its fixture in the same commit, without anything to link."""
    board = linked()
    board.apply(batch([match("b", prices=(2.1, 3.5, 4.0))], bookmaker=BIRCH))
    (fixture,) = board.fixtures()

    assert 2.1 == fixture.entries[BIRCH].match.home_price
    assert (1, ()) == (len(board.changes[-1].changes), board.changes[-1].events)
    assert board.snapshot.version == board.state.version(FixtureView(ViewKind.FIXTURES, CEDAR))


def test_prices_far_apart_end_a_link_in_their_commit() -> None:
    """A price that speaks against the link splits the fixture at once, and the linker agrees."""
    board = linked()
    (before,) = board.fixtures()
    board.apply(batch([match("b", prices=FAR_PRICES)], bookmaker=BIRCH))
    split = {fixture.id: [*fixture.entries] for fixture in board.fixtures()}
    board.link()

    assert [ALDER, CEDAR] == split.pop(before.id)
    assert [[BIRCH]] == [*split.values()]
    assert 2 == len(board.fixtures())


def test_prices_that_all_bookmakers_of_a_source_give_end_a_link() -> None:
    """A link does not end because of the first bookmaker alone, whose price may be an old one."""
    a, b = EventKey(TWO, SourceMatchId("a")), EventKey(ONE, SourceMatchId("b"))
    prices = {ALDER: (2.0, 3.5, 4.0), BIRCH: (2.0, 3.5, 4.0), CEDAR: (30.0, 9.0, 1.05)}
    entries = {
        name: Entry(f"{name}_x", Scope("s"), match(key.source_match_id, prices=prices[name]), 0.0)
        for name, key in ((ALDER, a), (BIRCH, b), (CEDAR, a))
    }
    draft = FixtureUpdate(LinkedBoard().state, ROSTER, 1, {})

    for parted, members in (
        (b, (Member(a, Rule.FIRST), Member(b, Rule.SAME_NAMES, a, max_price_gap=FAR))),
        (a, (Member(b, Rule.FIRST), Member(a, Rule.SAME_NAMES, b, max_price_gap=FAR))),
        (a, (Member(a, Rule.FIRST, limits={b: FAR}), Member(b, Rule.SAME_NAMES, a))),
    ):
        fixture = draft.begin(members, entries)
        assert [parted] == ADVANCING.apart(fixture, {TWO})


@pytest.mark.parametrize(("mover", "match_id"), [(ALDER, "a"), (BIRCH, "b")])
def test_prices_that_moved_before_the_link_is_published_end_it(mover: BookmakerId, match_id: str) -> None:
    """A link that was proposed for earlier prices is made only if the present prices still agree.

    Whichever of the two events moved, the linker parts them as well.
    """
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))
    board.propose()
    board.apply(batch([match(match_id, prices=FAR_PRICES)], bookmaker=mover))
    board.publish_links()
    shown = sorted(board.shown())
    board.link()

    assert [["alder_a"], ["birch_b"]] == shown == sorted(board.shown())
    assert [None, None] == [
        board.linker.group(EventKey(source, SourceMatchId(name)))
        for source, name in ((ONE, "b"), (TWO, "a"))
    ]


def test_what_is_undone_within_a_commit_leaves_no_trace() -> None:
    """Fixtures keep their age, and a link that is made again has the same evidence as before."""
    apart = LinkedBoard()
    apart.apply(batch([match("b")], bookmaker=BIRCH))
    apart.apply(batch([match("a")], bookmaker=ALDER))
    key, other = EventKey(ONE, SourceMatchId("b")), EventKey(TWO, SourceMatchId("a"))
    newer = Member(key, Rule.FIRST), Member(other, Rule.SAME_NAMES, key, evidence(0.01), FAR)
    made = FixtureUpdate(apart.state, ROSTER, apart.snapshot.version + 1, {})
    join(made, newer)
    part(made, other)
    together = LinkedBoard()
    together.linker.evidence = evidence(0.05)
    together.apply(batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))
    together.link()
    ended = FixtureUpdate(together.state, ROSTER, together.snapshot.version + 1, {})
    part(ended, key)
    join(ended, newer)

    for draft, before in ((made, apart.fixtures()), (ended, together.fixtures())):
        now = [draft.get(fixture.id) for fixture in before]
        assert [_age_and_links(shown_fixture) for shown_fixture in before] == [
            _age_and_links(shown_fixture) for shown_fixture in now
        ]


def _age_and_links(fixture: Fixture | None) -> tuple[int, tuple[Member, ...]] | None:
    return None if fixture is None else (fixture.created, fixture.members)


def test_proposal_dropped_for_a_change_that_links_the_same_is_made_again() -> None:
    """A group that stays the same is published after the change that made the board drop its proposal."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))
    board.propose()
    board.apply(batch([match("b", league="Another")], bookmaker=BIRCH))
    board.publish_links()
    board.link()

    assert [["alder_a", "birch_b"]] == board.shown()


@pytest.mark.parametrize("detour", ["withdrawn", "prices", "renamed"])
def test_links_that_ended_are_made_again_though_the_linker_saw_no_change(detour: str) -> None:
    """The events left or moved, but were back when the linker looked, so its groups are the same."""
    board = LinkedBoard() if detour == "renamed" else linked()
    if detour == "renamed":
        board.apply(batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))
        board.propose()
        board.apply(batch([match("b", home="Another")], bookmaker=BIRCH))
        board.publish_links()
    elif detour == "prices":
        board.apply(batch([match("b", prices=FAR_PRICES)], bookmaker=BIRCH))
    else:
        board.apply(batch(bookmaker=BIRCH))
    before = len([fixture for fixture in board.fixtures() if len(fixture.members) > 1])
    board.apply(batch([match("b")], bookmaker=BIRCH))
    board.link()

    assert 0 == before
    assert [2] == [len(fixture.members) for fixture in board.fixtures()]


def test_link_that_the_linker_has_ended_is_ended_though_it_saw_no_change() -> None:
    """The board dropped the linker's proposal, because the events had their old names for a moment."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))
    board.link()
    renamed = (
        batch([match("a", home="One")], bookmaker=ALDER),
        batch([match("b", home="X")], bookmaker=BIRCH),
    )
    board.apply(*renamed)
    board.propose()
    board.apply(batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))
    board.publish_links()
    board.apply(*renamed)
    board.link()

    assert [1, 1] == [len(fixture.members) for fixture in board.fixtures()]


class Undecided(EqualNames):
    """Links nothing once there are two candidates."""

    has_two = False

    def _partition(self) -> dict[EventKey, Group]:
        return {} if self.has_two else super()._partition()


def test_link_that_waited_while_another_linker_began_is_ended() -> None:
    """The old linker's link may be published after the new linker has looked at the fixtures."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))
    board.propose()
    undecided = Undecided()
    undecided.has_two = True
    board.linking = Linking(undecided, ROSTER)
    before = run_now(board.linking.update(board.state, None))
    board.publish_links()
    linked = len(board.shown())
    board.link()

    assert ([], 1, 2) == (before, linked, len(board.shown()))


def test_withdrawn_link_leaves_the_id_with_the_first_event() -> None:
    """When an event is renamed, the part without the first event gets an id of its own."""
    board = linked()
    (before,) = board.fixtures()
    board.apply(batch([match("a", away="Other")], bookmaker=ALDER))
    board.apply(batch([match("a", away="Other")], bookmaker=CEDAR))
    board.link()
    by_id = {fixture.id: [*fixture.entries] for fixture in board.fixtures()}

    assert [ALDER, CEDAR] == by_id.pop(before.id)
    assert [[BIRCH]] == [*by_id.values()]
    assert {Rule.FIRST} == {
        fixture.members[0].rule for fixture in board.fixtures() if fixture.id != before.id
    }


def test_id_stays_while_any_member_lives() -> None:
    """The fixture stays when its first event ends; if that event comes back, it is a new fixture."""
    board = linked()
    (before,) = board.fixtures()
    board.apply(batch([], bookmaker=ALDER), batch([], bookmaker=CEDAR))
    (left,) = board.fixtures()
    board.apply(batch([match("a", home="Else")], bookmaker=ALDER))
    board.link()

    assert (before.id, ["birch_b"]) == (left.id, [entry.id for entry in left.entries.values()])
    assert 2 == len({fixture.id for fixture in board.fixtures()})


def test_members_without_the_event_that_linked_them_lead_to_each_other() -> None:
    """No link names an event that is gone; the last event left is like a fixture that it began alone."""
    a, b, c = (EventKey(source, SourceMatchId("m")) for source in (ONE, TWO, SourceName("three")))
    far = Member(c, Rule.MOVED, b, evidence(), 1.0)
    near = Member(b, Rule.SAME_NAMES, a, evidence(), 1.0)
    other = Member(c, Rule.MOVED, a, evidence(), 1.0)

    assert (Member(a, Rule.FIRST), near, far) == rooted((Member(a, Rule.FIRST), near, far))
    assert (Member(b, Rule.FIRST), far) == rooted((near, far))
    assert (Member(b, Rule.FIRST), Member(c, Rule.MOVED, b)) == rooted((near, other))
    assert (Member(c, Rule.FIRST),) == rooted((far,))
    assert bonds((near, Member(c, Rule.MOVED, b))) != bonds((near, far)), "the evidence comes unseen"


@pytest.mark.parametrize("is_restarted", [False, True])
def test_event_whose_partner_left_has_no_rule(*, is_restarted: bool) -> None:
    """The event that stays behind is a fixture like any other with one event, and keeps the same id."""
    board = linked()
    (before,) = board.fixtures()
    board.apply(batch([], bookmaker=BIRCH))
    if is_restarted:
        board.waiting = {}
        board.restart()
    board.link()
    (left,) = board.fixtures()

    key = EventKey(TWO, SourceMatchId("a"))
    assert (before.id, [(key, Rule.FIRST, None, inf, True, Certainty.SURE, {})]) == (
        left.id,
        bonds(left.members),
    )
    assert board.snapshot.version == board.state.version(ALL)


def test_event_that_is_left_alone_is_as_one_that_was_never_linked() -> None:
    """The certainty of the old link is forgotten; otherwise the event would be linked anew for ever."""
    board = LinkedBoard()
    board.linker.certainty = Certainty.LIKELY
    board.apply(batch([match("a")], bookmaker=ALDER), batch([match("b")], bookmaker=BIRCH))
    board.link()
    board.apply(batch([], bookmaker=ALDER))
    left = [fixture.members for fixture in board.fixtures()]
    board.propose()

    assert [(Member(EventKey(ONE, SourceMatchId("b")), Rule.FIRST),)] == left
    assert [] == board.links


def test_fixture_stays_when_another_bookmaker_takes_over() -> None:
    """In one commit the only bookmaker drops the match and another bookmaker of its source lists it."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))
    (before,) = board.fixtures()
    board.apply(batch([], bookmaker=ALDER), batch([match("a")], bookmaker=CEDAR))

    assert [(before.id, [CEDAR])] == [(fixture.id, [*fixture.entries]) for fixture in board.fixtures()]


def test_kick_off_may_move() -> None:
    """A fixture whose kick-off moves goes to another place with the same id."""
    board = LinkedBoard()
    board.apply(batch([match("a"), match("c", home="C")], bookmaker=ALDER))
    before = [fixture.id for fixture in board.fixtures()]
    moved = match(board.fixtures()[0].match.source_match_id, start_time=int(WALL_0) + 999_999)
    board.apply(batch([moved], bookmaker=ALDER, complete=False))

    assert before[::-1] == [fixture.id for fixture in board.fixtures()]


def test_fixture_ends_with_its_last_entry() -> None:
    """A fixture is removed in the commit that takes its last entry."""
    board = linked()
    for bookmaker, match_id in ((ALDER, "a"), (CEDAR, "a"), (BIRCH, "b")):
        gone = [Removal(SourceMatchId(match_id), "suspended")]
        board.apply(batch(removals=gone, bookmaker=bookmaker, complete=False))
    (change,) = board.changes[-1].changes

    assert [] == board.shown()
    assert (None, FixtureRemoval.ENDED) == (change.after, change.reason)


def test_linker_that_begins_anew_changes_nothing() -> None:
    """A new instance of the linker finds the same links as the instance before."""
    board = linked()
    before = board.snapshot
    board.restart()

    assert before is board.snapshot


def test_linker_that_begins_anew_withdraws_what_it_would_not_link() -> None:
    """A new instance ends links that are in none of its groups."""
    board = linked()
    board.apply(batch([match("b", home="Another")], bookmaker=BIRCH))
    board.waiting = {}
    board.restart()

    assert [["alder_a", "cedar_a"], ["birch_b"]] == sorted(board.shown())


class Apart(EqualNames):
    """Keeps some sources apart from the other sources in the last of `PORTION` + 1 matches."""

    def __init__(self, sources: str) -> None:
        super().__init__()
        self.sources = sources

    def _partition(self) -> dict[EventKey, Group]:
        groups = super()._partition()
        ours = [event for event in self._events.values() if event.home == f"Home {PORTION}"]
        for is_apart in (False, True):
            some = [our for our in ours if (our.source in self.sources) is is_apart]
            group = self._group(some) if len(some) > 1 else None
            for event in some:
                if group is None:
                    groups.pop(event.key, None)
                else:
                    groups[event.key] = group
        return groups


@pytest.mark.parametrize("sources", ["b", "bd"])
def test_what_must_not_be_linked_any_more_is_parted_first(sources: str) -> None:
    """A new instance parts events before it links any: two matches shown as one cost people money."""
    names = [BookmakerId(name) for name in "abcd"]
    board = LinkedBoard(
        FixtureSettings(roster_of({name: BookmakerInfo(SourceName(name)) for name in names}))
    )
    listed = [match(f"m{number:03}", home=f"Home {number}") for number in range(PORTION + 1)]
    for name in names:
        board.apply(batch(listed, bookmaker=name))
    board.link()
    board.linker = Apart(sources)
    board.linking = Linking(board.linker, board.advancing.roster)
    board.links = run_now(board.linking.update(board.state, None))
    before = board.shown()
    board.publish_links()

    assert PORTION + 1 == len(before) == len(board.shown()) - 1


def test_id_of_any_event_that_is_there_leads_to_its_fixture() -> None:
    """This holds whichever event came first or merged. The id of an event that is gone leads nowhere."""
    board = linked()
    (fixture,) = board.fixtures()
    a, b = (derived_id(EventKey(source, SourceMatchId(name))) for source, name in ((TWO, "a"), (ONE, "b")))
    both = [board.state.holder(event_id) for event_id in (a, b)]
    board.apply(batch([], bookmaker=BIRCH))

    assert [fixture, fixture] == both
    assert fixture.id in {a, b}
    assert [True, False] == [board.state.holder(event_id) is not None for event_id in (a, b)]
