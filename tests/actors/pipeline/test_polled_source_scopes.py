"""A source of many scopes: what happens to one is its own affair, what happens to all is the peer's."""

from __future__ import annotations

import json
from collections.abc import Collection
from itertools import pairwise
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from actors.core.cooperative import Sliced
from actors.core.errors import TransportError
from actors.core.messages import Payload, Scope
from actors.pipeline.schedule import TROUBLED
from actors.source_api.options import PolledOptions
from actors.sources.the_odds_api.kind import KIND
from actors.sources.the_odds_api.options import TheOddsApiOptions
from tests.support.builders.the_odds_api import API_KEY
from tests.support.systems.scopes import URL, ScopesStage, Script, scripted, verbatim
from tests.support.systems.supervision import supervised
from web.endpoints.monitor import source_view

pytestmark = pytest.mark.anyio

SCOPES = tuple("abcdef")
EDGES = ("source.down", "source.recovered", "scope.lost", "scope.recovered")
DENIED = TransportError("status was 401, must be 200", 60.0, reason="status_401", status=401)


def failing(
    scopes: Collection[str], since: float = 0.0, until: float = float("inf"), error: Exception | None = None
) -> Script:
    """Refuse these scopes in that time, and answer all else at once."""

    async def answer(scope: Scope, before: int) -> bytes:
        if scope in scopes and since <= anyio.current_time() < until:
            raise error or TransportError("refused", reason="connection")
        return f"{scope} {before}".encode()

    return answer


def _error(message: str) -> bytes:
    return json.dumps({"message": message, "error_code": "INVALID_KEY"}).encode()


async def played(
    script: Script, seconds: float, interval_s: float = 60.0
) -> tuple[ScopesStage, list[tuple[str, str | None]]]:
    """Run a source of these scopes for that long; give it and the edges that were logged."""
    options = PolledOptions(kind="scripted", url=URL, poll_interval_s=interval_s)
    stage = ScopesStage(scripted(SCOPES, verbatim), script, options)
    with capture_logs() as logs:
        async with supervised(stage.child):
            await anyio.sleep(seconds)
    return stage, [(line["event"], line.get("scope")) for line in logs if line["event"] in EDGES]


def _gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


async def test_every_scope_is_asked_each_interval() -> None:
    """While all is well each has its own round, and nobody is told of anything."""
    stage, edges = await played(failing(()), 300)

    assert {scope: [0.5 + 60 * number for number in range(5)] for scope in SCOPES} == {
        scope: pytest.approx(stage.times(scope)) for scope in SCOPES
    }
    assert [] == edges


async def test_one_that_fails_for_ever_is_its_own_affair() -> None:
    """The others are asked on time and stay confirmed; it is logged once, and the source is not down."""
    stage, edges = await played(failing("c"), 3600)
    others = [scope for scope in SCOPES if scope != "c"]

    rounds = [0.5 + 60 * number for number in range(60)]
    assert dict.fromkeys(others, rounds) == {
        scope: pytest.approx([at for at, got in stage.got if got == scope]) for scope in others
    }
    assert ([("scope.lost", "c")], False) == (edges, stage.context.status.is_down)
    assert {"c"} == {scope for scope, one in stage.context.status.scopes.items() if one.is_lost}


@pytest.mark.parametrize("interval_s", [60.0, 900.0])
async def test_two_that_fail_for_ever_are_not_the_source(interval_s: float) -> None:
    """While the others answer whenever they are asked, nobody is told that the source is down."""
    _, edges = await played(failing("bd"), 60 * interval_s, interval_s)

    assert [("scope.lost", "b"), ("scope.lost", "d")] == sorted(edges)


async def test_two_that_fail_for_ever_hold_nobody_up_for_long() -> None:
    """The gate may delay the others by one of its own delays, not by a round of theirs."""
    stage, _ = await played(failing("bd"), 3600)
    gaps = [at for scope in "acef" for at in _gaps(stage.times(scope))]

    assert max(gaps) <= 60 + 31


async def test_one_that_hangs_holds_nobody_up() -> None:
    """Its deadline passes while the others are asked and answered."""
    hang = TransportError("no whole answer within 10 s", reason="timeout")

    async def answer(scope: Scope, before: int) -> bytes:
        if scope == "a":
            await anyio.sleep(10)
            raise hang
        return f"{scope} {before}".encode()

    stage, edges = await played(answer, 600)

    rounds = [0.5 + 60 * number for number in range(10)]
    assert dict.fromkeys(SCOPES[1:], rounds) == {
        scope: pytest.approx(stage.times(scope)) for scope in SCOPES[1:]
    }
    assert [("scope.lost", "a")] == edges


async def test_when_all_fail_the_peer_is_asked_as_by_one() -> None:
    """Ever more slowly, one request at a time, whatever the number of scopes."""
    stage, _ = await played(failing(SCOPES), 1000)
    times = [at for at, _ in stage.asked]

    delays = _gaps(times[TROUBLED - 1 :])
    assert sorted(delays) == delays
    assert {30.0} == {round(delay, 6) for delay in delays[6:]}
    assert len(times) <= TROUBLED + 6 + 1000 / 30
    assert set(SCOPES) == {scope for _, scope in stage.asked}


async def test_when_all_fail_it_is_logged_once() -> None:
    """The source is down, and it is back: two lines, none for the scopes."""
    stage, edges = await played(failing(SCOPES, 100, 4000), 6000)

    assert [("source.down", None), ("source.recovered", None)] == edges
    assert (False, 0) == (stage.context.status.is_down, stage.context.status.failures)


async def test_when_the_peer_is_back_all_are_asked_soon() -> None:
    """One success opens the gate: every scope answers again within its own longest delay."""
    stage, _ = await played(failing(SCOPES, 100, 4000), 4100)

    back = {scope: min(at for at, got in stage.got if got == scope and at >= 4000) for scope in SCOPES}
    assert max(back.values()) <= 4000 + 30 + 30


async def test_a_scope_that_is_lost_and_found_is_logged_once_each() -> None:
    """However many failures there were in between."""
    stage, edges = await played(failing("e", 100, 2000), 4000)

    assert [("scope.lost", "e"), ("scope.recovered", "e")] == edges
    assert (0, None) == (stage.context.status.scopes[Scope("e")].failures, stage.context.status.error)


async def test_a_single_failure_of_a_scope_is_only_counted() -> None:
    """It takes two in a row to be lost."""

    async def answer(scope: Scope, before: int) -> bytes:
        if scope == "b" and before % 2:
            raise TransportError("refused", reason="connection")
        return f"{scope} {before}".encode()

    stage, edges = await played(answer, 600)

    assert [] == edges
    assert stage.context.status.failures_total == stage.context.status.failed_by["connection"] > 4


async def test_a_denied_key_is_not_tried_with_every_scope() -> None:
    """A 401 for all: at most two requests in any minute, from the first on (faults.md, A13)."""
    stage, _ = await played(failing(SCOPES, error=DENIED), 3600)

    assert stage.most_in(60) <= 2
    assert 50 <= len(stage.asked) <= 70


async def test_a_crash_neither_repeats_a_round_nor_forgets_a_delay() -> None:
    """Others keep their times, the failing one its backoff; only what was under way is asked again."""
    crashed: list[float] = []

    def decode(payload: Payload, options: Any) -> Sliced[object]:
        if payload.scope == "c" and payload.received_mono > 100 and not crashed:
            crashed.append(payload.received_mono)
            raise RuntimeError("a bug")
        return verbatim(payload, options)

    calm = ScopesStage(scripted(SCOPES, verbatim), failing("e"))
    stage = ScopesStage(scripted(SCOPES, decode), failing("e"))
    async with supervised(calm.child), supervised(stage.child):
        await anyio.sleep(400)

    repeated = [at for at in stage.times("c") if at not in calm.times("c")][:1]
    unharmed = [scope for scope in SCOPES if scope != "c"]
    assert (1, 1) == (len(crashed), stage.context.status.actor.crashes)
    assert {scope: calm.times(scope) for scope in unharmed} == {
        scope: pytest.approx(stage.times(scope), abs=1.0) for scope in unharmed
    }
    assert [pytest.approx(crashed[0], abs=1.0)] == repeated


ECHOES = {
    "a broken connection": TransportError(f"ConnectError: {API_KEY}: refused", reason="connection"),
    "a refusal": TransportError("status was 401", status=401, body=_error(f"API key {API_KEY} is unknown")),
    "a long refusal": TransportError("status was 401", status=401, body=_error("x" * 120 + API_KEY)),
}


@pytest.mark.parametrize("echo", ECHOES)
async def test_an_error_that_echoes_the_key_does_not_show_it(echo: str) -> None:
    """Neither whole nor in part, in no record and in no line of the log."""
    assert_hidden(await shown(failing(["soccer_a", "soccer_b"], error=ECHOES[echo])))


@pytest.mark.parametrize("message", [f"API key {API_KEY} is unknown", "x" * 120 + API_KEY])
async def test_an_answer_that_echoes_the_key_does_not_show_it(message: str) -> None:
    """Nor does an error that comes with status 200."""

    async def answer(scope: Scope, before: int) -> bytes:
        del scope, before
        return _error(message)

    assert_hidden(await shown(answer))


async def shown(script: Script) -> str:
    """Return all that a source of The Odds API says of itself and logs."""
    options = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports=("soccer_a", "soccer_b"))
    stage = ScopesStage(KIND, script, options)
    with capture_logs() as logs:
        async with supervised(stage.child):
            await anyio.sleep(300)
    status = stage.context.status
    said = [status.last_error, *(one.last_error for one in status.scopes.values())]
    assert {None} != set(said)
    return repr((logs, said, status, source_view(status), stage.schedule.plan.facts()))


def assert_hidden(text: str) -> None:
    """Check that no part of the key that is worth anything stands there."""
    assert API_KEY[:6] not in text


async def test_what_became_due_while_the_machine_slept_is_asked_when_it_wakes() -> None:
    """Not as much later as was left before, though no timer ran meanwhile; all else keeps its round."""
    stage = ScopesStage(scripted("a", verbatim), failing(()))
    async with supervised(stage.child):
        await anyio.sleep(10)
        stage.clock.asleep_s += 20.0
        stage.context.wake.set()
        await anyio.sleep(5)
        early = stage.times("a")
        stage.clock.asleep_s += 28_800.0
        stage.context.wake.set()
        await anyio.sleep(100)

    assert [0.5] == early
    assert [0.5, 15.0, 75.0] == stage.times("a")


async def test_an_answer_that_the_machine_slept_over_is_none() -> None:
    """It vouches for a moment long gone: the next request comes as after a timeout, not after a round."""

    async def asleep(scope: Scope, before: int) -> bytes:
        del scope
        stage.clock.asleep_s += 0.0 if before else 28_800.0
        return b"body"

    stage = ScopesStage(scripted("a", verbatim), asleep)
    async with supervised(stage.child):
        await anyio.sleep(70)

    assert [0.5, 1.0, 61.0] == stage.times("a")
    assert {"timeout": 1} == stage.context.status.failed_by
