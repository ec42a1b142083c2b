"""The values of the client have all members of the service's answers."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from tests.support.systems.process import ROOT
from web import client as c
from web.client import past, values
from web.encoding import (
    fixture_schemas,
    link_schemas,
    market_schemas,
    probe_schemas,
    schemas,
    surebet_schemas,
    value_schemas,
)
from web.endpoints import alerts, archive
from web.endpoints.past import closing_schemas, line_schemas, mover_schemas

PAIRS: list[tuple[type[Struct], type[Struct]]] = [
    (schemas.Capabilities, values.Capabilities),
    (schemas.MatchV2, values.Match),
    (schemas.ListV2, values.MatchList),
    (schemas.Changes, values.Change),
    (schemas.Removed, values.Removal),
    (fixture_schemas.FixtureEntry, values.Entry),
    (fixture_schemas.BestPrice, values.BestPrice),
    (fixture_schemas.FixtureV2, values.Fixture),
    (fixture_schemas.FixtureList, values.FixtureList),
    (fixture_schemas.FixtureChangesV2, values.Change),
    (fixture_schemas.RemovedFixture, values.Removal),
    (fixture_schemas.OneFixture, values.OneFixture),
    (fixture_schemas.FixtureLink, values.FixtureLink),
    (surebet_schemas.SurebetLeg, values.Leg),
    (surebet_schemas.SurebetV2, values.Surebet),
    (surebet_schemas.DoubtedSurebet, values.Surebet),
    (surebet_schemas.StakesV2, values.Stakes),
    (value_schemas.ValueV2, values.Value),
    (value_schemas.ValueList, values.ValueList),
    (alerts.AlertView, values.Alert),
    (alerts.AlertList, values.AlertList),
    (market_schemas.MarketV2, values.ListedMarket),
    (market_schemas.MarketList, values.MarketList),
    (link_schemas.FixtureAges, values.FixtureAges),
    (link_schemas.EntryAge, values.EntryAge),
    (probe_schemas.Check, values.Check),
    (line_schemas.LinePoint, past.Point),
    (line_schemas.Extreme, past.Extreme),
    (line_schemas.Closing, past.Close),
    (line_schemas.LinkedSince, past.Linked),
    (line_schemas.LineV2, past.Line),
    (line_schemas.ConsensusPoint, past.ConsensusPoint),
    (line_schemas.ConsensusLine, past.Consensus),
    (line_schemas.GapV2, past.Gap),
    (line_schemas.LineList, past.LineList),
    (closing_schemas.FirstSeen, past.FirstSeen),
    (closing_schemas.EntryClosing, past.EntryClosing),
    (closing_schemas.MemberThen, past.Member),
    (closing_schemas.FixtureClosing, past.FixtureClosing),
    (closing_schemas.ClosingList, past.ClosingList),
    (mover_schemas.MoverEntry, past.MoverEntry),
    (mover_schemas.FixtureMove, past.Mover),
    (mover_schemas.MoverList, past.MoverList),
    (archive.Interval, past.Interval),
    (archive.GapBetween, past.Gap),
    (archive.Archived, past.Archive),
]
CALLS: list[c.Call[Any]] = [
    *(c.capabilities(), c.odds(), c.fixtures(), c.surebets(), c.lines("id"), c.closing(), c.movers()),
    *(c.value(), c.alerts(), c.archive(), c.health(), c.other("/api/stats")),
]


@pytest.mark.parametrize(("theirs", "ours"), PAIRS, ids=[theirs.__name__ for theirs, _ in PAIRS])
def test_a_value_has_every_member_of_the_contract(theirs: type[Struct], ours: type[Struct]) -> None:
    """The members are compared by their names in JSON."""
    names = [{of.encode_name for of in msgspec.structs.fields(kind)} for kind in (theirs, ours)]

    assert set() == names[0] - names[1]


@pytest.mark.parametrize("call", CALLS, ids=[call.path for call in CALLS])
def test_the_documented_example_is_read(call: c.Call[Any]) -> None:
    """Each example of the contract can be read as the type that the client's call declares."""
    file = ROOT / "web" / "endpoints" / "examples.json"
    body = json.loads(file.read_text("utf-8"))["answers"][f"{call.path} 200"]

    msgspec.convert(body, call.answer)
