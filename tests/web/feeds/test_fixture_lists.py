"""The lists of fixtures that are kept while views are polled in turn, and while matches come and go."""

from __future__ import annotations

import pytest

from actors.core.cooperative import SLICE, run_now
from actors.core.messages import BookmakerId, SourceName
from actors.matches.model import (
    OF_EVERY_MARKET,
    BookmakerInfo,
    FixtureSettings,
    FixtureView,
    ViewKind,
    roster_of,
)
from actors.matches.surebets import SurebetRules
from tests.support.builders.fixtures import ALDER, BIRCH, CEDAR, ROSTER, TERMS
from tests.support.builders.messages import batch, match
from tests.support.systems.linked_reading import ReadableBoard
from web.encoding.fixture_segments import MAX_VIEWS
from web.feeds.fixture_lists import ALL, Choice, FixturesOf, note
from web.feeds.lists import Answers
from web.feeds.messages import FixtureFrames

pytestmark = pytest.mark.anyio

ROUNDS, NEW = 24, 16  # few matches: losing over 20 makes a list doubted


def _answers(board: ReadableBoard) -> Answers:
    return Answers(board, {name: name.title() for name in TERMS.roster})


@pytest.mark.parametrize("count", range(1, MAX_VIEWS + 1))
async def test_views_that_are_polled_in_turn_are_made_once(count: int) -> None:
    """At most as many views as can be kept are polled, and none of them replaces another."""
    board = ReadableBoard()
    for name in TERMS.roster:
        board.apply(batch([match("a")], bookmaker=name))
    answers = _answers(board)
    views = [
        FixturesOf(FixtureView(kind, name)) for kind in OF_EVERY_MARKET for name in (None, *TERMS.roster)
    ]

    first = [await answers.answer(view, None, None) for view in views[:count]]
    again = [await answers.answer(view, None, None) for view in views[:count]]

    assert all(prepared is other for prepared, other in zip(first, again, strict=True))


@pytest.mark.parametrize("kind", ViewKind)
async def test_compressed_bytes_of_a_version_are_the_same_whenever_they_are_made(kind: ViewKind) -> None:
    """Another machine may compress the version later, after fixtures outside the view appeared and left."""
    board = ReadableBoard(FixtureSettings(ROSTER, surebets=SurebetRules(min_life_s=0.0)))
    view = FixturesOf(FixtureView(kind, ALDER))
    for name, prices in ((ALDER, (2.1, 3.6, 3.9)), (BIRCH, (2.3, 3.3, 3.6))):
        board.apply(
            batch([match(f"{at}", home=f"H{at}", prices=prices) for at in range(60)], bookmaker=name)
        )
    board.link()
    before = await _answers(board).answer(view, None, "gzip")

    board.apply(batch([match(f"c{at}", home=f"C{at}") for at in range(400)], bookmaker=CEDAR))
    board.link()
    after = await _answers(board).answer(view, None, "gzip")

    assert (460, 60) == (len(board.fixtures()), sum(map(view.view.shows, board.state)))
    assert (before.headers, before.parts) == (after.headers, after.parts)


@pytest.mark.parametrize("asked", ["whole", "chosen", "one", "changes"])
async def test_what_is_kept_is_in_proportion_to_what_is_there(asked: str) -> None:
    """Kept bodies are few, however many matches come and go, and whichever answer is asked for."""
    board = ReadableBoard()
    answers = _answers(board)
    frames = FixtureFrames(board.history, answers)
    for day in range(ROUNDS):
        since = board.snapshot.version
        board.apply(batch([match(f"{day}-{count}") for count in range(NEW)], bookmaker=ALDER))
        match asked:
            case "whole":
                await answers.answer(ALL, None, None)
            case "chosen":
                await answers.answer(ALL, None, None, Choice("League"))
            case "one":
                for fixture in board.state:
                    await answers.fixture(fixture.id, None, None)
            case _:
                await frames.changes(ALL.view, since)

        assert 0 < len(answers.fixtures._made) <= 2 * NEW + SLICE


@pytest.mark.parametrize("asked", ["the list", "changes", "one"])
async def test_a_price_that_other_rules_doubt_is_shown_so_in_another_version(asked: str) -> None:
    """No body of the former rules has a newer tag, and a client that follows changes gets the change."""
    names = [BookmakerId(name) for name in "abcd"]
    terms = FixtureSettings(roster_of({name: BookmakerInfo(SourceName("own")) for name in names}))
    board = ReadableBoard(terms)
    answers = Answers(board, {name: name for name in names})
    frames = FixtureFrames(board.history, answers)
    for name in names:
        prices = (2.0, 3.6, 3.9) if name != "d" else (2.3, 3.6, 3.9)
        board.apply(batch([match("1", prices=prices)], bookmaker=name))
    (fixture,) = board.state

    async def shown(since: int) -> tuple[str, bytes]:
        match asked:
            case "changes":
                delta = await frames.changes(ALL.view, since)
                return "", b"" if delta is None else b"".join(delta.parts)
            case "one":
                found = await answers.fixture(fixture.id, None, None)
            case _:
                found = await answers.answer(ALL, None, None)
        assert found is not None
        return dict(found.headers)[b"etag"].decode(), b"".join(found.parts)

    before = await shown(board.snapshot.version - 1)
    since = board.snapshot.version
    board.advancing.rule(SurebetRules(max_price_ratio=1.1))
    board.expire()
    after = await shown(since)

    assert [0, 1] == [body.count(b'"doubts":["price"]') for _, body in (before, after)]
    assert asked == "changes" or before[0] != after[0]


def test_the_league_that_is_meant_has_the_words_themselves() -> None:
    """A league that has the asked words is named before a shorter league that has them inside a word."""
    board = ReadableBoard()
    leagues = ("Scottish Premiership", "England: Premier League")
    board.apply(batch([match(name, league=name, home=name) for name in leagues], bookmaker=ALDER))

    assert b"did you mean 'England: Premier League'?" in run_now(note("premier", None, board.state))
