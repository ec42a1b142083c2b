"""Recorded prices of several markets: 1X2 is shown, linked and reported as without the other markets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, Match, Scope, SourceMatchId, SourceName
from actors.core.validation import Bounds, admit
from actors.markets.market import Kind, market_of
from actors.matches.model import BookmakerInfo, FixtureSettings, roster_of
from actors.matches.surebets import SurebetRules
from actors.matching.matcher import Matcher
from actors.matching.overrides import Overrides
from actors.source_api.parsing import unix_time
from tests.support.builders.markets import MarketBoard
from tests.support.builders.messages import batch
from tests.support.oracles.naive_markets import check_fixtures, homes_of
from tests.support.recordings import the_odds_api
from tests.support.simulation.market_lives import Beside

pytestmark = pytest.mark.recordings

KINDS = (Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.ASIAN_HANDICAP)
BEGAN = unix_time("2026-04-16T06:00:00Z") or 0.0
"""Before any of the recorded matches."""
ONE, TWO = SourceName("one"), SourceName("two")


@pytest.mark.timeout(600)
def test_1x2_of_recorded_markets_is_as_without_the_others() -> None:
    """Bookmakers belong to two sources in turn, so that the real matcher links events of both sources.

    For every third match one source has no 1X2 prices.
    """
    files = [(Scope(path.stem), json.loads(path.read_bytes())) for path in _files()]
    keys = sorted({it["key"] for _, events in files for event in events for it in event["bookmakers"]})
    names = {key: BookmakerId(key.replace("_", "-")) for key in keys[::3]}
    infos = {name: BookmakerInfo((ONE, TWO)[at % 2]) for at, name in enumerate(names.values())}
    terms = FixtureSettings(roster_of(infos), surebets=SurebetRules(min_life_s=3600.0))
    linker = partial(Matcher, Overrides())
    board, alone = (
        MarketBoard(kinds=kinds, terms=terms, linker=linker) for kinds in (KINDS, (Kind.ONE_X_TWO,))
    )
    board.clock.began = alone.clock.began = BEGAN
    beside, commits = Beside(board, alone), 0
    for scope, events in files:
        for key, name in names.items():
            matches = [match for event in events for match in _matches(event, key, infos[name].source)]
            change = batch(matches, bookmaker=name, scope=scope, list_id=key, received_at=BEGAN)
            change = replace(change, kinds=())
            admitted = run_now(admit(change, Bounds(kinds=KINDS))).batch
            board.apply(admitted)
            alone.apply(admitted)
        board.link()
        alone.link()
        commits += beside.check()
    boards = {kind: board.board(kind).newest for kind in KINDS[1:]}
    homes = homes_of(board.state, boards, terms.roster)
    for kind, snapshot in boards.items():
        check_fixtures(kind, snapshot, board.state, homes, terms.roster)
    sides = homes.keys() - board.state.by_event.keys()
    joined = [key for key in sides if homes[key] in board.state.places]

    assert commits > len(files)
    assert {len(it.members) for it in board.state} == {1, 2}
    assert len(joined) >= 0.9 * len(sides) > 0
    _check_names(board)


def _files() -> list[Path]:
    return the_odds_api("2026-04-16-markets/soccer_*.json")


def _matches(event: dict[str, Any], key: str, source: SourceName) -> Iterator[Match]:
    """Yield all markets of an event at a bookmaker, read as the source documents them."""
    home, away = event["home_team"], event["away_team"]
    event_id = SourceMatchId(f"{event['id']}-{source}")
    start = int(unix_time(event["commence_time"]) or 0)
    base = Match(event_id, home, away, event["sport_title"], 0.0, 0.0, 0.0, start)
    for market in [it for of in event["bookmakers"] if of["key"] == key for it in of["markets"]]:
        odds = {it["name"]: (it["price"], it.get("point")) for it in market["outcomes"]}
        match market["key"]:
            case "h2h" if len(odds) == 3 and (source == ONE or int(event["id"], 16) % 3):
                prices = [float(odds[name][0]) for name in (home, "Draw", away)]
                yield replace(base, home_price=prices[0], draw_price=prices[1], away_price=prices[2])
            case "totals":
                line = market_of(Kind.OVER_UNDER, odds["Over"][1])
                yield base.of_market(line, (float(odds["Over"][0]), float(odds["Under"][0])))
            case "spreads":
                line = market_of(Kind.ASIAN_HANDICAP, odds[home][1])
                yield base.of_market(line, (float(odds[home][0]), float(odds[away][0])))


def _check_names(board: MarketBoard) -> None:
    """Check that all entries of a fixture are of one recorded event."""
    for kind in KINDS:
        for fixture in board.fixtures(kind):
            assert len({entry.match.event_id.rpartition("-")[0] for entry in fixture.listed}) == 1
