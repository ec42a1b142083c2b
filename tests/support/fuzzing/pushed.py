"""Targets of the exchange's stream, of the requests beside it, and of the integrity gate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError, StreamError
from actors.core.messages import Match, Removal
from actors.core.validation import Bounds, admit
from actors.source_api.stream import Reaction
from actors.sources.betfair.market import MarketNames
from actors.sources.betfair.options import KINDS
from actors.sources.betfair.rest import read_names, read_token
from actors.sources.betfair.session import BetfairSession
from actors.sources.betfair.wire import WHOLE_BYTES
from tests.support.builders import betfair as wire
from tests.support.builders import betfair_lines as lines
from tests.support.builders.messages import batch, match
from tests.support.fuzzing.prices import admitted, valid
from tests.support.fuzzing.target import Target

CHOICES = (
    wire.OPTIONS,
    msgspec.structs.replace(wire.OPTIONS, virtual_bets=True),
    msgspec.structs.replace(wire.OPTIONS, price="last_traded"),
    msgspec.structs.replace(wire.OPTIONS, min_size=2.0),
    msgspec.structs.replace(wire.OPTIONS, markets=KINDS),
)
NAMES = {wire.HOME: "Home", wire.AWAY: "Away"}
BEGINNING = tuple(
    wire.line(entry)
    for entry in (
        {"op": "connection"},
        {**wire.SUCCESS, "id": 1},
        {**wire.SUCCESS, "id": 2},
        wire.image(lines.result(), lines.handicaps()),
    )
)
LOGIN = {"token": "t", "status": "SUCCESS"}
CATALOGUE = {
    "result": [
        {
            "marketId": "1.1",
            "runners": [{"selectionId": 11, "runnerName": "Home"}],
            "competition": {"name": "L"},
        }
    ]
}
CATALOGUE_REFUSED = {"error": {"data": {"APINGException": {"errorCode": "INVALID_SESSION_INFORMATION"}}}}
FIELDS = ("home_price", "draw_price", "away_price", "home", "away", "league", "start_time", "source_time")


def targets() -> tuple[Target, ...]:
    """Return the targets."""
    ladders = {
        "id": wire.HOME,
        "batb": [[0, 2.2, 3.0]],
        "bdatb": [[0, 2.2, 3.0]],
        "atb": [[2.2, 3.0]],
        "ltp": 2.4,
    }
    home = {"id": wire.HOME, "hc": -0.5, "batb": [[0, 2.2, 3.0]], "batl": [[0, 2.3, 3.0]], "atl": None}
    messages = [
        wire.line(entry)
        for entry in (
            wire.delta(wire.change("1.1", ladders)),
            wire.delta(wire.market("1.2", (1.5, 4.0, 7.5)), con=True),
            wire.delta({"id": "1.1", "marketDefinition": wire.definition(status="SUSPENDED")}),
            wire.heartbeat(status=503, heartbeatMs=1000),
            wire.delta(wire.market(), segmentType="SEG_START", ct="SUB_IMAGE"),
            wire.delta(wire.change("1.1", ladders), segmentType="SEG_END", clk="AA"),
            wire.failure("INVALID_CLOCK", closed=False),
            wire.delta(wire.change("1.9", home, lines.back(wire.AWAY, 0.5, 1.8))),
            wire.delta(lines.total("1.7"), wire.change("1.7", {"id": 5, "batl": [[0, 3.0, 2.0]]})),
            wire.delta(lines.handicaps("1.8"), lines.result(status="SUSPENDED")),
            wire.delta({"id": "1.9", "marketDefinition": lines.handicap_definition(status="CLOSED")}),
        )
    ]
    gate = json.dumps([_fields(match(f"m{at}", prices=(2.0, 3.5, 4.0))) for at in range(4)]).encode()
    return (
        Target(
            "betfair_stream",
            _stream,
            (*messages, b"\n".join(messages), b" " + messages[0]),
            (b"SUB_IMAGE", b"SEG_END", b"ASIAN_HANDICAP", b"0.25"),
        ),
        Target("betfair_login", _login, (json.dumps(LOGIN).encode(), b'{"loginStatus":"X"}')),
        Target(
            "betfair_names",
            _names,
            (json.dumps(CATALOGUE).encode(), json.dumps(CATALOGUE_REFUSED).encode()),
        ),
        Target(
            "integrity_gate",
            _gate,
            (gate, gate[:1] + gate[gate.rindex(b"{") :]),
            (b"NaN", b"1.95", b"20.5"),
        ),
    )


def _stream(text: bytes) -> int:
    """Play lines to a live subscription; a line behind a blank is read in parts, as a long line."""
    session = BetfairSession(CHOICES[len(text) % len(CHOICES)])
    checked = 0
    begun = False
    for line in text.split(b"\n")[:32]:
        if not begun:
            session.connect(wire.TOKEN)
            for body in BEGINNING:
                run_now(session.receive(body))
            begun = True
        try:
            reaction = run_now(session.receive(line.ljust(WHOLE_BYTES + 1) if line[:1] == b" " else line))
        except (PayloadError, StreamError):
            begun = False
            session.forget()
            continue
        checked += admitted(*_extracts(session, reaction))
    return checked + admitted(session.image())


def _extracts(session: BetfairSession, reaction: Reaction) -> Iterator[Any]:
    yield reaction.image
    yield reaction.changes
    if reaction.unnamed:
        yield session.name(dict.fromkeys(reaction.unnamed, MarketNames(NAMES, "League")))


def _login(body: bytes) -> int:
    try:
        token = read_token(body)
    except PayloadError:
        return 0
    if not (token and isinstance(token, str)):
        raise AssertionError(f"the token was {token!r}")
    return 0


def _names(body: bytes) -> int:
    try:
        names = read_names(body)
    except PayloadError:
        return 0
    session = BetfairSession(wire.OPTIONS)
    session.connect(wire.TOKEN)
    for line in BEGINNING:
        run_now(session.receive(line))
    return admitted(session.name(names))


def _fields(listed: Match) -> Any:
    return {name: getattr(listed, name) for name in ("source_match_id", *FIELDS)}


def _gate(text: bytes) -> int:
    """Pass matches through the gate: all together, and then the result again, which must not change."""
    try:
        listed = [_match(listing) for listing in json.loads(text)]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return 0
    removals = [Removal(shown_match.source_match_id, "withdrawn") for shown_match in listed[5:6]]
    first = run_now(admit(batch(listed, removals=removals), Bounds()))
    again = run_now(admit(first.batch, Bounds()))
    if again.batch.matches != first.batch.matches or (
        listed and not (first.rejected or first.batch.matches)
    ):
        raise AssertionError("what has passed does not pass again, or a match is neither here nor there")
    alone = [
        shown_match
        for single in listed
        for shown_match in run_now(admit(batch([single]), Bounds())).batch.matches
    ]
    if not set(first.batch.matches) <= set(alone):
        raise AssertionError("a match passes among others and not alone")
    return valid(first.batch.matches) + valid(again.batch.matches)


def _match(fields: dict[str, Any]) -> Match:
    """Return a match with numbers of any value and of the right types. Raises: TypeError."""
    home, draw, away = (float(fields[name]) for name in FIELDS[:3])
    match_id, *names = (fields[name] for name in ("source_match_id", "home", "away", "league"))
    if not all(isinstance(text, str) for text in (match_id, *names)):
        raise TypeError("must be text")
    start, source_time = fields.get("start_time"), fields.get("source_time")
    times = (None if start is None else int(start), None if source_time is None else float(source_time))
    return Match(match_id, names[0], names[1], names[2], home, draw, away, *times)
