"""Lists of fixtures in other forms, over random changes of a board: tags, and shown surebets and prices."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest

from actors.core.clock import Instant
from actors.core.messages import BookmakerId, SourceName
from actors.matches.forms import Form
from actors.matches.model import (
    OF_EVERY_MARKET,
    BookmakerInfo,
    FixtureSettings,
    FixtureView,
    ViewKind,
    roster_of,
)
from actors.matches.surebets import SurebetRules
from actors.matching.rules import Certainty
from tests.support.builders.messages import SCOPE, batch, match
from tests.support.systems.linked_reading import ReadableBoard
from tests.support.time.virtual import WALL_0
from web.feeds.fixture_lists import FixturesOf
from web.feeds.lists import Answers

pytestmark = pytest.mark.anyio

ALDER, BIRCH, CEDAR, DOGWOOD = NAMES = [
    BookmakerId(name) for name in ("alder", "birch", "cedar", "dogwood")
]
LASTS_S = dict(zip(NAMES, (9.0, 14.0, 25.0, 60.0), strict=True))
ROSTER = roster_of({name: BookmakerInfo(SourceName(name)) for name in NAMES})
TERMS = FixtureSettings(ROSTER, surebets=SurebetRules(max_skew_s=12.0, min_life_s=1.0, max_profit=0.08))
PRICES = ((2.0, 3.4, 4.0), (2.2, 3.9, 3.0), (2.0, 3.0, 4.4), (2.5, 3.3, 3.1), (2.3, 3.6, 3.6))
FORMS = (
    Form(bookmakers=(ALDER, BIRCH)),
    Form(bookmakers=(BIRCH, CEDAR, DOGWOOD)),
    Form(CEDAR, bookmakers=(ALDER, DOGWOOD)),
    Form(doubted=True),
    Form(doubted=True, bookmakers=(ALDER, CEDAR)),
    Form(BIRCH),
    Form(),
)
VIEWS = [FixturesOf(FixtureView(kind), form) for kind in OF_EVERY_MARKET for form in FORMS]


class Life:
    """A board with random lists, prices, confirmations, failures and links, which is read in between."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.board = ReadableBoard(TERMS)
        self.board.linker.certainty = [*Certainty][seed % 2]

    def steps(self, count: int) -> Iterator[None]:
        """Yield after each of `count` steps, when nothing is overdue."""
        for _ in range(count):
            self._step()
            self._pass(self.random.choice((0.0, 0.3, 1.1, 3.0)))
            yield

    def _step(self) -> None:
        draw, name, now = self.random.random(), self.random.choice(NAMES), self.board.now.mono
        if draw < 0.4:
            listed = [match(f"m{at}", home=f"Home {at}", prices=self._prices()) for at in self._some()]
            change = batch(listed, bookmaker=name, received_mono=now, stale_after_s=LASTS_S[name])
            self.board.apply(change)
        elif draw < 0.8:
            for each in self.random.sample(NAMES, 2):
                lasts_s = LASTS_S[each]
                change = batch(complete=False, bookmaker=each, received_mono=now, stale_after_s=lasts_s)
                self.board.apply(change)
        else:
            self.board.link()

    def _some(self) -> list[int]:
        return [at for at in range(4) if self.random.random() < 0.8]

    def _prices(self) -> tuple[float, float, float]:
        return self.random.choice(PRICES)

    def _pass(self, seconds: float) -> None:
        """Let time pass, with a commit whenever the board changes by itself."""
        board, second = self.board, self.board.now.mono + seconds
        while (due := min(board.snapshot.valid_until, board.state.candidates.due)) <= second:
            board.now = Instant(due, WALL_0 + due)
            board.expire()
        board.now = Instant(second, WALL_0 + second)


async def _read(answers: Answers, view: FixturesOf) -> tuple[str, bytes]:
    answer = await answers.answer(view, None, None)
    return dict(answer.headers)[b"etag"].decode(), b"".join(answer.parts)


def _serving(life: Life, view: FixturesOf) -> bool:
    return any(book.is_serving for book in view.books(life.board.snapshot).values())


@pytest.mark.parametrize("seed", range(4))
async def test_a_tag_is_the_same_bytes(seed: int) -> None:
    """A tag has one body in every form, although confirmations have no version; forms share no tag."""
    life, known = Life(seed), dict[str, tuple[FixturesOf, bytes]]()
    answers = Answers(life.board, {name: name.title() for name in NAMES})
    for _ in life.steps(60):
        anew = Answers(life.board, {name: name.title() for name in NAMES})
        for view in VIEWS:
            if _serving(life, view):
                tag, body = await _read(answers, view)
                assert (tag, body) == await _read(anew, view)
                if view.form != Form():
                    assert (view, body) == known.setdefault(f"{view.view.kind} {tag}", (view, body))


@pytest.mark.parametrize("seed", range(4))
async def test_believed_surebets_of_some_bookmakers_hold_when_they_are_read(seed: int) -> None:
    """No leg is too old, much older than another, of a doubted list, or of a likely link."""
    life, found = Life(seed), 0
    answers = Answers(life.board, {name: name.title() for name in NAMES})
    for _ in life.steps(80):
        for view in VIEWS:
            if view.form.bookmakers and _serving(life, view):
                body = msgspec.json.decode((await _read(answers, view))[1])
                for fixture in body["fixtures"]:
                    _check_prices(fixture, view.form)
                    if fixture["surebet"]:
                        found += 1
                        _check_surebet(life, fixture)

    assert found or life.board.linker.certainty is Certainty.LIKELY


def _check_prices(fixture: dict[str, Any], form: Form) -> None:
    """Check that best prices and book sum follow from the entries, all of the form's bookmakers.

    A doubted entry has no best price and does not count for the book sum.
    """
    entries = fixture["entries"]
    sound = [entry for entry in entries if "doubts" not in entry]
    assert {entry["id"].partition("_")[0] for entry in entries} <= {*form.bookmakers}
    assert len(entries) == fixture["bookmakers_count"] > 0
    if not sound:
        assert ([None] * 3, None) == ([*fixture["best"].values()], fixture["book_sum"])
        return
    for outcome, best in fixture["best"].items():
        highest = max(entry["odds"][outcome] for entry in sound)
        assert highest == best["odds"]
        assert [entry["id"] for entry in sound if entry["odds"][outcome] == highest] == best["ids"]
    total = sum(1 / best["odds"] for best in fixture["best"].values())
    assert round(total, 6) == fixture["book_sum"]


def _check_surebet(life: Life, fixture: dict[str, Any]) -> None:
    board, legs = life.board, fixture["surebet"]["legs"]
    entries = {entry["id"]: entry for entry in fixture["entries"]}
    states = [board.snapshot.books[leg["id"].partition("_")[0]].lists[SCOPE] for leg in legs]
    times = [state.confirmed_mono for state in states]
    assert all(entries[leg["id"]]["odds"][leg["outcome"]] == leg["odds"] for leg in legs)
    assert all(entries[leg["id"]]["link"] == "sure" for leg in legs)
    assert not any("doubts" in entries[leg["id"]] for leg in legs)
    assert sum(1 / leg["odds"] for leg in legs) < 1
    assert board.now.mono < min(times) + min(state.stale_after_s for state in states)
    assert max(times) - min(times) <= 12
    assert all(state.is_trusted for state in states)


async def test_surebet_ends_once_another_bookmaker_of_a_company_is_confirmed_later() -> None:
    """This holds for a form of some bookmakers: the latest confirmed price is the company's price."""
    companies = {ALDER: "acme", BIRCH: "acme", CEDAR: "", DOGWOOD: ""}
    infos = {name: BookmakerInfo(SourceName(name), company=company) for name, company in companies.items()}
    board = ReadableBoard(FixtureSettings(roster_of(infos)))
    answers = Answers(board, {name: name.title() for name in NAMES})
    view = FixturesOf(FixtureView(ViewKind.SUREBETS), Form(bookmakers=(ALDER, BIRCH, CEDAR)))
    prices = {BIRCH: (2.1, 3.3, 3.2), ALDER: (2.3, 3.3, 3.2), CEDAR: (2.1, 3.9, 4.1)}
    prices[DOGWOOD] = (2.35, 3.3, 3.2)  # with DOGWOOD's prices the surebet of all stays
    for second, name in enumerate(prices):
        listed = match("m", prices=prices[name])
        board.apply(batch([listed], bookmaker=name, received_mono=second, stale_after_s=90.0))
    board.link()
    for second in (4, 6):
        board.now = Instant(second, WALL_0 + second)
        board.expire()
    before, version = msgspec.json.decode((await _read(answers, view))[1]), board.snapshot.version
    board.apply(batch(complete=False, bookmaker=BIRCH, received_mono=6.0, stale_after_s=90.0))
    after = msgspec.json.decode((await _read(answers, view))[1])

    assert (1, 0) == (before["fixtures_count"], after["fixtures_count"])
    assert [version] * 2 == [board.snapshot.version, after["version"]]
