"""A source of many scopes: a failing scope affects only itself; the peer is down only if all fail."""

from __future__ import annotations

import json
from collections.abc import Collection
from itertools import pairwise
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from actors.core.clock import elapsed_s
from actors.core.cooperative import BUDGET_S, Sliced
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
    """Return answers that fail for these scopes from `since` to `until`, and succeed at once otherwise."""

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
    """Run a source of these scopes for `seconds`; return its stage and the logged transitions."""
    options = PolledOptions(kind="scripted", url=URL, poll_interval_s=interval_s)
    stage = ScopesStage(scripted(SCOPES, verbatim), script, options)
    with capture_logs() as logs:
        async with supervised(stage.child):
            await anyio.sleep(seconds)
    return stage, [(line["event"], line.get("scope")) for line in logs if line["event"] in EDGES]


def _gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


async def test_one_failing_scope_does_not_affect_the_others() -> None:
    """The others are polled on time and stay confirmed; the loss is logged once, the source is not down."""
    stage, edges = await played(failing("c"), 3600)
    others = [scope for scope in SCOPES if scope != "c"]

    rounds = [0.5 + 60 * number for number in range(60)]
    assert dict.fromkeys(others, rounds) == {
        scope: pytest.approx([at for at, got in stage.got if got == scope]) for scope in others
    }
    assert ([("scope.lost", "c")], False) == (edges, stage.context.status.is_down)
    assert {"c"} == {scope for scope, record in stage.context.status.scopes.items() if record.is_lost}
    reported = [(failure.scope, failure.at_mono) for failure in stage.failures]
    assert [("c", at) for at in stage.times("c")] == reported


@pytest.mark.parametrize("interval_s", [60.0, 900.0])
async def test_two_failing_scopes_do_not_make_the_source_down(interval_s: float) -> None:
    """The gate delays the other scopes by one of its own delays, not by one of their intervals."""
    stage, edges = await played(failing("bd"), 60 * interval_s, interval_s)
    gaps = [at for scope in "acef" for at in _gaps(stage.times(scope))]

    assert [("scope.lost", "b"), ("scope.lost", "d")] == sorted(edges)
    assert max(gaps) <= interval_s + max(31.0, interval_s / 3 + 1)


async def test_hanging_scope_does_not_delay_the_others() -> None:
    """The other scopes are polled and answered before the deadline of the hanging scope."""
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


async def test_peer_in_trouble_is_polled_as_by_one_scope() -> None:
    """If all scopes fail, however many, there is one request at a time, with increasing delays."""
    stage, _ = await played(failing(SCOPES), 1000)
    times = [at for at, _ in stage.asked]

    delays = _gaps(times[TROUBLED - 1 :])
    assert sorted(delays) == delays
    assert {30.0} == {round(delay, 6) for delay in delays[6:]}
    assert len(times) <= TROUBLED + 6 + 1000 / 30
    assert set(SCOPES) == {scope for _, scope in stage.asked}


async def test_denied_key_is_not_tried_with_every_scope() -> None:
    """If all requests get a 401, there are at most two in any minute, from the first (faults.md, A13)."""
    stage, _ = await played(failing(SCOPES, error=DENIED), 3600)

    assert stage.most_in(60) <= 2
    assert 50 <= len(stage.asked) <= 70


async def test_crash_keeps_the_times_of_all_scopes() -> None:
    """Scopes keep their due times and backoff; only those with a request under way are polled again."""
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
    assert crashed == [failure.at_mono for failure in stage.failures if failure.scope == "c"]
    assert {scope: calm.times(scope) for scope in unharmed} == {
        scope: pytest.approx(stage.times(scope), abs=1.0) for scope in unharmed
    }
    assert [pytest.approx(crashed[0], abs=1.0)] == repeated


async def test_a_fatal_payload_is_blamed_although_another_one_waits() -> None:
    """The payload crashes the actor twice and is set aside; a payload decoded at the same time is not."""
    crashed: list[str] = []

    def decode(payload: Payload, options: Any) -> Sliced[object]:
        ends = elapsed_s() + 2 * BUDGET_S
        while payload.scope == "b" and elapsed_s() < ends:
            yield
        if payload.scope == "a" and payload.received_mono > 30:
            crashed.append(payload.list_id)
            raise RuntimeError("a bug")
        return (yield from verbatim(payload, options))

    async def together(scope: Scope, before: int) -> bytes:
        await anyio.sleep(1 - anyio.current_time() % 1)
        return f"{scope} {min(before, 1)}".encode()

    stage = ScopesStage(scripted("ba", decode), together)  # b comes first
    async with supervised(stage.child):
        await anyio.sleep(400)

    assert (2, 2) == (len(crashed), stage.context.status.actor.crashes)
    assert {"set_aside": stage.context.status.scopes[Scope("a")].failures} == stage.context.status.failed_by
    assert 0 == stage.context.status.scopes[Scope("b")].failures


def _answering(body: bytes) -> Script:
    async def answer(scope: Scope, before: int) -> bytes:
        del scope, before
        return body

    return answer


LEAGUES = ("soccer_a", "soccer_b")
UNKNOWN, LONG = (_error(text) for text in (f"API key {API_KEY} is unknown", "x" * 120 + API_KEY))
ECHOES = {
    "a broken connection": failing(LEAGUES, error=TransportError(f"ConnectError: {API_KEY}: refused")),
    "a refusal": failing(LEAGUES, error=TransportError("status was 401", status=401, body=UNKNOWN)),
    "a long refusal": failing(LEAGUES, error=TransportError("status was 401", status=401, body=LONG)),
    "an error with status 200": _answering(UNKNOWN),
    "a long one": _answering(LONG),
}


@pytest.mark.parametrize("echo", ECHOES)
async def test_error_that_contains_the_key_does_not_show_it(echo: str) -> None:
    """No part of the key above a harmless length is in a record or in a line of the log."""
    assert API_KEY[:6] not in await shown(ECHOES[echo])


async def shown(script: Script) -> str:
    """Return everything that a source of The Odds API records and logs."""
    options = TheOddsApiOptions(kind=KIND.name, api_key=API_KEY, sports=LEAGUES)
    stage = ScopesStage(KIND, script, options)
    with capture_logs() as logs:
        async with supervised(stage.child):
            await anyio.sleep(300)
    status = stage.context.status
    said = [status.last_error, *(scope.last_error for scope in status.scopes.values())]
    assert {None} != set(said)
    return repr((logs, said, status, source_view(status), stage.schedule.plan.facts()))


async def test_scope_due_during_a_sleep_is_polled_on_waking() -> None:
    """A scope due in a sleep is polled at once, although no timer ran; other scopes keep their times."""
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


async def test_answer_received_after_a_sleep_is_dropped() -> None:
    """Such an answer is old, so the next request comes as after a timeout, not after an interval."""

    async def asleep(scope: Scope, before: int) -> bytes:
        del scope
        stage.clock.asleep_s += 0.0 if before else 28_800.0
        return b"body"

    stage = ScopesStage(scripted("a", verbatim), asleep)
    async with supervised(stage.child):
        await anyio.sleep(70)

    assert [0.5, 1.0, 61.0] == stage.times("a")
    assert {"timeout": 1} == stage.context.status.failed_by
