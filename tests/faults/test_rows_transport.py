"""Rows of docs/faults.md, A, that no other test shows: connections that hang, break, lie and flood."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from structlog.testing import capture_logs

from actors.core.clock import SystemClock
from actors.core.errors import TransportError
from actors.runtime.backoff import MIN_CAP_S
from actors.transports.http import RestTransport
from actors.transports.lines import connected, tls_context
from actors.transports.polling import FetchLimits
from tests.support.builders.certificates import Authority
from tests.support.builders.football_data import sheet
from tests.support.memory import most_memory
from tests.support.peers.broken import ENDLESS, RESET, SHORT, TOTAL, Pourer
from tests.support.peers.fetching import trouble
from tests.support.peers.http import http_peer, reset, respond
from tests.support.peers.lines import CREDENTIALS, MAX, lines_of, trouble_with
from tests.support.peers.stream import stream_peer
from tests.support.peers.web import Answer as WebAnswer
from tests.support.peers.web import dripping, hanging, refusing, serving
from tests.support.systems.feed import configured
from tests.support.systems.process import Service
from tests.support.systems.process import service as process
from tests.support.systems.schedule_stage import Stage
from tests.support.systems.virtual_service import (
    POLL_S,
    SOME,
    STALE_AFTER_S,
    TIMEOUT_S,
    ScriptedService,
    pass_to,
    running,
    until,
)
from tests.support.time.waiting import eventually

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]
READS = 100_000
DEFAULT = FetchLimits(timeout_s=10.0, max_payload_bytes=4 * 2**20, max_inflated_bytes=16 * 2**20)
"""As of `PolledOptions`."""
NEW = (2.1, 3.2, 3.7)


@pytest.mark.parametrize("answer", [hanging, dripping], ids=["A3", "A6"])
async def test_a6_a_late_answer_ends_at_the_deadline(answer: WebAnswer, figure: Figure) -> None:
    """Whether nothing comes or a byte a second, the poll fails in time, and the other source goes on."""
    service = ScriptedService("alder", "birch")
    alder, birch = (service.webs[name] for name in ("alder", "birch"))
    async with running(service):
        await pass_to(25)
        alder.answer = answer
        await until(lambda: alder.asked_from(25))
        asked = alder.asked[-1]
        failed = await until(lambda: service.source("alder").failures_total)
        await pass_to(120)
        apart = {round(new - old, 3) for old, new in pairwise(birch.asked)}
        live = await service.state("birch")

    figure(
        f"detected after {failed - asked:.1f} s of {TIMEOUT_S:g};"
        f" the other one polled {len(birch.asked)} times, each {POLL_S:g} s"
    )
    assert TIMEOUT_S <= failed - asked + 0.001 <= TIMEOUT_S + 1.0
    assert ({POLL_S}, "live", "timeout") == (apart, live, *service.source("alder").failed_by)


async def test_a4_a_stuck_source_is_withdrawn_in_time(figure: Figure) -> None:
    """A list is shown for as long as its last answer holds, and in no read after that."""
    service = ScriptedService("alder", "birch")
    with capture_logs() as logs:
        async with running(service):
            await pass_to(35)
            vouched = service.webs["alder"].asked[-1]
            service.webs["alder"].answer = hanging
            await pass_to(vouched + STALE_AFTER_S - 0.5)
            before = len(service.entries("alder"))
            took_s = await until(lambda: not service.entries("alder")) - vouched
            older = sum(bool(service.entries("alder")) for _ in range(READS))
            statuses = [
                (await service.get(query=f"bookmaker={name}")).status for name in ("alder", "birch")
            ]

    lines = [line["bookmakers"] for line in logs if line["event"] == "bookmaker.withdrawn"]
    figure(
        f"withdrawn after {took_s:.1f} s of {STALE_AFTER_S:g}, 1 log line; {older} of {READS:,} reads older"
    )
    assert (1, 0, [503, 200], [["alder"]]) == (before, older, statuses, lines)
    assert abs(took_s - STALE_AFTER_S) <= 1.0


@pytest.mark.long
def test_a7_a_body_that_does_not_come_whole(tmp_path: Path, figure: Figure) -> None:
    """Reset or ended early, even after a whole row: the answer is rejected, and the list stays."""
    changed = sheet("B365", NEW, NEW)
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(changed) + 1}\r\n\r\n".encode()
    missing = respond(changed, length=len(changed) + 60)
    ways = [*RESET.values(), reset(head + changed), *SHORT.values(), missing]
    names = [f"way{number}" for number in range(len(ways))]
    with http_peer() as peer:
        peer.answers = {f"/{name}.csv": respond(sheet("B365", SOME)) for name in names}
        with process(configured(tmp_path, peer, names, stale_after_s=300.0)) as running:
            eventually(lambda: all(running.has("live", name) for name in names), "all are live")
            before = running.get("/api/v2/odds").json()
            peer.answers = {f"/{name}.csv": way for name, way in zip(names, ways, strict=True)}
            failed = eventually(lambda: _failures(running, names), "each has failed twice")
            after = running.get("/api/v2/odds").json()

    figure(f"{len(ways)} ways, {failed} answers rejected whole, version unchanged, 0 partial applies")
    assert before == after
    assert [SOME[0]] * len(ways) == [match["odds"]["1"] for match in after["matches"]]


def _failures(running: Service, names: Sequence[str]) -> int:
    """Return how often all sources have failed, when each has failed twice; 0 before."""
    failures = [running.source(name)["failures"] for name in names]
    return sum(failures) if min(failures) >= 2 else 0


@pytest.mark.real_time
async def test_a9_certificates_that_are_not_valid(
    tmp_path_factory: pytest.TempPathFactory, figure: Figure
) -> None:
    """A stream and a web client both refuse them, before any byte of a credential is sent."""
    authority = Authority(tmp_path_factory.mktemp("certificates"))
    trusting = tls_context(None, None)
    trusting.load_verify_locations(authority.itself.certificate)
    faults = {
        "self-signed": authority.self_signed("self"),
        "expired": authority.signed("expired", days=-1),
        "wrong host": authority.signed("other", "DNS:stream.example,IP:127.0.0.2"),
        "unknown authority": authority.signed("good"),
    }
    refused = 0
    for fault, pair in faults.items():
        context = tls_context(None, None) if fault == "unknown authority" else trusting
        with stream_peer(pair.server_context()) as peer:
            errors = [await trouble_with(peer.url, context), await _web_trouble(peer.port, context)]
        assert ([], ["connection"] * 2) == (peer.received, [error.reason for error in errors])
        assert all("certificate" in str(error).lower() and not error.is_sent for error in errors)
        refused += len(errors)
    with stream_peer(faults["unknown authority"].server_context()) as peer:
        async with connected(peer.url, 5.0, MAX, trusting) as connection:  # the same one, when trusted
            await lines_of(connection, 1)
            await connection.send(CREDENTIALS)
            await lines_of(connection, 1)

    figure(f"{refused} of {2 * len(faults)} refused (stream and web), no credential left")
    assert [CREDENTIALS] == peer.received


async def _web_trouble(port: int, context: ssl.SSLContext) -> TransportError:
    async with RestTransport(5.0, SystemClock(), context) as transport:
        with pytest.raises(TransportError) as caught:
            await transport.ask(
                "POST", f"https://127.0.0.1:{port}/", {"X-Authentication": "token"}, b"secret"
            )
    return caught.value


RETRY_AFTER_S = 90


async def test_a11_errors_with_retry_after(figure: Figure) -> None:
    """No request comes before Retry-After; the list stays until it is stale."""
    statuses = {"of-500": 500, "of-502": 502, "of-503": 503, "of-429": 429}
    service = ScriptedService(*statuses, stale_after_s=300.0)
    async with running(service):
        await pass_to(25)
        vouched = {name: service.webs[name].asked[-1] for name in statuses}
        for name, status in statuses.items():
            service.webs[name].answer = serving(b"busy", status, {"Retry-After": str(RETRY_AFTER_S)})
        kept_s = [
            await until(partial(_is_withdrawn, service, name)) - at
            for at, name in sorted((at, name) for name, at in vouched.items())
        ]
        await pass_to(500)
    tries = [service.webs[name].asked_from(25) for name in statuses]
    waits = [new - old for times in tries for old, new in pairwise(times)]

    figure(
        f"{len(statuses)} statuses, {len(waits)} waits, the shortest {min(waits):.1f} s of {RETRY_AFTER_S};"
        f" the list stayed for {min(kept_s):.0f} s of 300"
    )
    assert len(waits) > 3 * len(statuses)
    assert min(waits) >= RETRY_AFTER_S - 1e-6
    assert all(abs(value - 300.0) <= 1.0 for value in kept_s)


SEEDS = 4
SHOWN = ("/health", "/health/ready", "/monitor", "/api/stats", "/api/v2/odds", "/api/capabilities")


def _is_withdrawn(service: ScriptedService, name: str) -> bool:
    return not service.entries(name)


async def test_a16_the_retries_of_200_sources_are_spread(figure: Figure) -> None:
    """After an outage that hits all at once, few come back in the same tenth of a second."""
    random, outage_s = Random(1), 600.0
    returns = list[float]()
    for _ in range(200):
        stage = Stage("a", random)
        while stage.mono < outage_s:
            stage.mono += stage.due_s("a")
            stage.begin()
            stage.end("a", TransportError("refused", reason="connection", is_sent=False))
        returns.append(stage.mono + stage.due_s("a"))

    most = _most_in(0.1, returns)
    figure(f"schedules alone: at most {most} of 200 first retries in any 100 ms after {outage_s:g} s")
    assert most <= 10


@pytest.mark.long
@pytest.mark.timeout(120)
async def test_a16_the_retries_of_a_service_with_200_sources_are_spread(
    figure: Figure, *, is_whole: bool
) -> None:
    """The same with all actors, transports and the board, after two minutes, with `--whole` five."""
    service = ScriptedService(*(f"s{number}" for number in range(200)))
    outage_s = 300.0 if is_whole else 120.0
    async with running(service):
        await pass_to(15)
        served = [web.answer for web in service.webs.values()]
        for web in service.webs.values():
            web.answer = refusing
        await pass_to(15 + outage_s)
        for web, answer in zip(service.webs.values(), served, strict=True):
            web.answer = answer
        await pass_to(15 + outage_s + MIN_CAP_S)
        live = sum(book.is_serving for book in service.snapshot.books.values())

    most = _most_in(0.1, [web.asked_from(15 + outage_s)[0] for web in service.webs.values()])
    figure(f"whole service: at most {most} of 200 in any 100 ms after {outage_s:g} s, {live} live again")
    assert (most <= 10, 200) == (True, live)


def _most_in(span_s: float, times: Sequence[float]) -> int:
    return max(sum(start <= time < start + span_s for time in times) for start in times)


@pytest.mark.real_time
async def test_a17_a_body_of_100_mb(figure: Figure) -> None:
    """Reading stops at the limit, and memory does not grow beyond it."""
    poured = list[int]()
    with http_peer() as peer, most_memory() as grown:
        for way in ("announced", "until the end", "big chunks", "one header"):
            pourer = Pourer(*ENDLESS[way])
            peer.answers["/f.csv"] = pourer
            assert isinstance(await trouble(peer.url("/f.csv"), limits=DEFAULT), TransportError)
            assert pourer.done.wait(10)
            poured.append(pourer.poured)

    figure(
        f"{len(poured)} ways rejected, at most {max(poured) / 1e6:.1f} of 100 MB taken,"
        f" RSS +{grown.mib:.0f} MiB"
    )
    assert max(poured) < TOTAL / 5
    assert grown.mib <= 24
