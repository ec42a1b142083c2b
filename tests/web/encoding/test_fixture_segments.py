"""The JSON of fixtures and of their links: which parts are kept, and what a bad entry causes."""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from actors.core.clock import Instant
from actors.core.messages import BookmakerId, Prices, SourceName
from actors.markets.odds import Odds
from actors.matches.forms import Form, shown, whole
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matching.rules import Certainty
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, ROSTER, START, TERMS, TWO, LinkedBoard
from tests.support.builders.messages import batch, match
from web.encoding.fixture_segments import FixtureSegments
from web.encoding.segments import UnencodableError

NAMES = {ALDER: "Alder", BIRCH: "Birch", CEDAR: "Cedar"}


def test_name_that_cannot_be_encoded_takes_its_own_list_off() -> None:
    """A fixture has the names of its first source; the names of another source can be bad."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))
    board.apply(batch([match("b", league="\ud800")], bookmaker=BIRCH))
    board.link()
    (fixture,) = board.fixtures()
    segments = FixtureSegments({ALDER: "Alder", BIRCH: "Birch"})

    for making in (segments.links, segments.json):
        with pytest.raises(UnencodableError) as raised:
            making(fixture, TERMS)

        assert (BIRCH, "birch_b") == (raised.value.bookmaker, raised.value.entry.id)


def test_prices_that_cannot_be_reckoned_with_take_their_list_off() -> None:
    """The list is rejected as if it could not be encoded; everything else is served."""
    board = LinkedBoard()
    board.apply(batch([match("a", prices=(5e-324, 3.5, 4.0))], bookmaker=ALDER))
    (fixture,) = board.fixtures()

    with pytest.raises(UnencodableError) as raised:
        FixtureSegments({ALDER: "Alder"}).json(fixture, TERMS)

    assert (ALDER, "alder_a") == (raised.value.bookmaker, raised.value.entry.id)


def test_json_is_made_once_for_a_fixture() -> None:
    """Only the JSON of a changed fixture is made again."""
    board = LinkedBoard()
    board.apply(batch([match("a"), match("b")], bookmaker=ALDER))
    segments = FixtureSegments({ALDER: "Alder", BIRCH: "Birch"})
    before = [segments.json(fixture, TERMS) for fixture in board.state]

    board.apply(batch([match("a"), match("b", prices=(9.0, 3.4, 4.2))], bookmaker=ALDER))
    after = [segments.json(fixture, TERMS) for fixture in board.state]

    assert [True, False] == sorted((body is other for body, other in zip(before, after, strict=True)))[::-1]
    assert all(
        segments.json(fixture, TERMS) is made for fixture, made in zip(board.state, after, strict=True)
    )


@pytest.mark.parametrize("seed", range(8))
def test_json_is_that_of_the_prices_that_are_there(seed: int) -> None:
    """Kept parts, of bookmakers whose prices stayed, do not change the JSON, whoever appears or leaves."""
    board, random, names = LinkedBoard(), Random(seed), NAMES
    kept, has_fair = FixtureSegments(names), False
    for _ in range(30):
        prices = random.choice(((2.2, 3.3, 3.4), (2.1, 3.4, 3.5), (2.3, 3.2, 3.3)))
        some = random.sample("abc", random.randrange(4))
        board.apply(batch([match(name, prices=prices) for name in some], bookmaker=random.choice([*names])))
        board.link()
        anew = FixtureSegments(names)
        for fixture in board.state:
            made = kept.json(fixture, TERMS)
            has_fair = has_fair or b'"fair":null' not in made

            assert anew.json(fixture, TERMS) == made
    assert has_fair


@pytest.mark.parametrize("seed", range(8))
def test_json_of_an_entry_that_stays_follows_what_it_depends_on(seed: int) -> None:
    """An entry's JSON also depends on the fixture's names, its link, its company and all other prices."""
    random, every = Random(seed), [BookmakerId(f"book-{count}") for count in range(5)]
    companies = ["bet", "bet", "", "", ""]
    listed = {
        name: BookmakerInfo(SourceName(name), company=company)
        for name, company in zip(every, companies, strict=True)
    }
    terms, names = FixtureSettings(roster_of(listed)), dict.fromkeys(every, "Name")
    board, kept, seen = LinkedBoard(terms), FixtureSegments(names), set[bytes]()
    marks = {b'"superseded":true', b'"doubts":', b'"link":"likely"', b'"league":"Unknown"'}
    for second in range(80):
        board.now = Instant(float(second), START.wall + second)
        board.linker.certainty = random.choice([Certainty.SURE, Certainty.SURE, Certainty.LIKELY])
        prices = random.choice([(2.2, 3.3, 3.4), (2.1, 3.4, 3.5), (2.2, 3.3, 4.7)])
        league = random.choice([None, "England - Premier League", "Serie A"])
        some = [match("a", prices=prices, league=league)]
        board.apply(batch(some, bookmaker=random.choice(every), received_mono=board.now.mono))
        board.link()
        for fixture in board.state:
            made, anew = kept.json(fixture, terms), FixtureSegments(names).json(fixture, terms)
            seen |= {mark for mark in marks if mark in made}

            assert anew == made
    assert marks == seen


USUAL, LOW, LOWER, BEST = (1.95, 3.3, 3.7), (1.9, 2.2, 2.3), (1.8, 2.1, 2.2), (2.0, 3.4, 3.8)
A, B, C, D, E = (BookmakerId(f"book-{letter}") for letter in "abcde")


@pytest.mark.parametrize(
    ("company", "listed", "changes"),
    [
        # Three lower prices raise the fair price of home, so that the fourth price is believed.
        ("", {A: USUAL, B: USUAL, C: USUAL, D: (2.7, 3.3, 3.7), E: BEST}, [(A, LOW), (B, LOW), (C, LOW)]),
        # B of the same company is confirmed later, so that A's best prices do not count any more.
        ("bet", {B: LOW, A: BEST, C: USUAL, D: USUAL}, [(B, LOWER)]),
        ("", {A: USUAL, C: BEST}, [(A, BEST), (A, USUAL), (C, USUAL), (A, LOW), (C, BEST)]),
    ],
)
def test_best_prices_follow_what_they_depend_on(
    company: str, listed: Mapping[BookmakerId, Odds], changes: Sequence[tuple[BookmakerId, Odds]]
) -> None:
    """Best prices are kept if no changed price is as high; they also follow doubts and companies."""
    infos = {name: BookmakerInfo(TWO, company=company if name in {A, B} else "") for name in listed}
    terms, names = FixtureSettings(roster_of(infos)), dict.fromkeys(listed, "Name")
    board, segments, shown_best = LinkedBoard(terms), FixtureSegments(names), set[str]()
    for second, (name, prices) in enumerate([*listed.items(), *changes]):
        board.now = Instant(float(second), START.wall + second)
        board.apply(batch([match("a", prices=prices)], bookmaker=name, received_mono=board.now.mono))
        (fixture,) = board.fixtures()
        made = segments.json(fixture, terms)
        shown_best.add(str(json.loads(made)["best"]))

        assert FixtureSegments(names).json(fixture, terms) == made
    assert len(shown_best) > 1


def test_fixtures_are_nothing_to_the_garbage_collector() -> None:
    """With 250,000 fixtures, one collection of all objects would stop the loop for most of a second."""
    board = LinkedBoard()
    board.apply(batch([match("a")], bookmaker=ALDER))

    assert not any(gc.is_tracked(fixture) for fixture in board.state)


@pytest.mark.parametrize(
    ("prices", "certainty", "reason"),
    [
        (Prices.LIVE, Certainty.SURE, None),
        (Prices.COLLECTED, Certainty.SURE, "not_live"),
        (Prices.LIVE, Certainty.LIKELY, "likely_link"),
    ],
)
def test_reference_is_live_and_sure_or_there_is_none(
    prices: Prices, certainty: Certainty, reason: str | None
) -> None:
    """Collected prices, and prices of a likely link, are no reference for other prices."""
    board = LinkedBoard()
    board.linker.certainty = certainty
    for name in (ALDER, BIRCH):
        board.apply(batch([match(name)], bookmaker=name))
    board.link()
    (fixture,) = board.fixtures()
    terms = FixtureSettings(roster_of({**ROSTER, ALDER: BookmakerInfo(TWO, prices)}))

    found = json.loads(FixtureSegments(NAMES).formed(whole(fixture), Form(ALDER), terms))

    assert (reason is None) == (found["reference"] is not None)
    assert reason == found.get("reference_reason")


FIVE = [BookmakerId(name) for name in ("alder", "birch", "cedar", "dogwood", "elm")]
IN_PLAY = [(1.9, 2.65, 6.0), (1.95, 2.6, 5.8), (1.92, 2.7, 6.2), (1.94, 2.62, 5.9)]
BEFORE_A_GOAL = (1.22, 5.4, 14.0)


def _five(of_elm: Prices = Prices.LIVE) -> LinkedBoard:
    """Return a board with a match in play at five bookmakers; elm still has its prices before a goal."""
    infos = {name: BookmakerInfo(TWO) for name in FIVE}
    board = LinkedBoard(FixtureSettings(roster_of({**infos, FIVE[4]: BookmakerInfo(TWO, of_elm)})))
    for name, prices in zip(FIVE, [*IN_PLAY, BEFORE_A_GOAL], strict=True):
        board.apply(batch([match("a", prices=prices)], bookmaker=name))
    return board


def _json_of(board: LinkedBoard, *bookmakers: BookmakerId) -> Any:
    """Return the JSON of the only fixture, with some bookmakers or with all."""
    (fixture,) = board.fixtures()
    form = Form(bookmakers=bookmakers)
    formed = shown(fixture, form, board.state)
    assert formed is not None
    segments = FixtureSegments({name: name.title() for name in FIVE})
    return json.loads(segments.formed(formed, form, board.state.terms))


@pytest.mark.parametrize("of_elm", Prices)
def test_price_far_from_those_of_three_others_is_doubted_and_never_best(of_elm: Prices) -> None:
    """No price of that bookmaker is best, live or not; the price stays in the fixture and in the median."""
    found = _json_of(_five(of_elm))

    assert {"elm_a": ["price"]} == {
        entry["id"]: entry["doubts"] for entry in found["entries"] if "doubts" in entry
    }
    assert [(1.95, ["birch_a"]), (2.7, ["cedar_a"]), (6.2, ["cedar_a"])] == [
        (found["best"][outcome]["odds"], found["best"][outcome]["ids"]) for outcome in "1X2"
    ]
    assert round(1 / 1.95 + 1 / 2.7 + 1 / 6.2, 6) == found["book_sum"]
    assert 5 == found["bookmakers_count"]


def test_price_is_judged_by_all_bookmakers_whichever_are_asked_for() -> None:
    """If all remaining prices are doubted, there is no best price and no book sum."""
    board = _five()
    two, alone = _json_of(board, FIVE[0], FIVE[4]), _json_of(board, FIVE[4])

    assert {"alder_a"} == {name for outcome in "1X2" for name in two["best"][outcome]["ids"]}
    assert [None, ["price"]] == [entry.get("doubts") for entry in two["entries"]]
    assert ({"1": None, "X": None, "2": None}, None) == (alone["best"], alone["book_sum"])
    assert [["price"]] == [entry["doubts"] for entry in alone["entries"]]


def test_price_is_believed_once_most_others_have_it_too() -> None:
    """The bookmaker that did not follow is then doubted, in the version of the deciding prices."""
    board = _five()
    for name in FIVE[:3]:
        board.apply(batch([match("a", prices=BEFORE_A_GOAL)], bookmaker=name))

    doubts = [entry.get("doubts") for entry in _json_of(board)["entries"]]

    assert [None, None, None, ["price"], None] == doubts
