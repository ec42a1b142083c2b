"""Section A of docs/faults.md, one test a row: connections that fail, hang, break, lie and flood."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import floor
from pathlib import Path
from random import Random

import anyio
import pytest
from structlog.testing import capture_logs

from actors.core.clock import SystemClock
from actors.core.errors import PayloadError, TransportError
from actors.runtime.backoff import BASE_S, MIN_CAP_S
from actors.transports.http import RestTransport
from actors.transports.lines import connected, tls_context
from actors.transports.polling import Limits, PollingTransport
from tests.support.builders.certificates import Authority
from tests.support.builders.the_odds_api import API_KEY
from tests.support.memory import most_memory
from tests.support.peers.broken import ELSEWHERE, ENDLESS, RESET, SHORT, TOTAL, Pourer
from tests.support.peers.fetching import LIMITS, NONE, trouble
from tests.support.peers.http import Answer, http_peer, respond
from tests.support.peers.http import reset as _reset_after
from tests.support.peers.lines import CREDENTIALS, MAX, lines_of, trouble_with
from tests.support.peers.stream import stream_peer
from tests.support.peers.web import Answer as WebAnswer
from tests.support.peers.web import dripping, hanging, refusing, serving
from tests.support.systems.feed import sheet
from tests.support.systems.playback import BOOKMAKERS, Running, config
from tests.support.systems.playback import running as polling
from tests.support.systems.schedule_stage import Stage
from tests.support.systems.scripted_service import (
    POLL_S,
    SOME,
    STALE_AFTER_S,
    TIMEOUT_S,
    ScriptedService,
    pass_to,
    running,
    until,
)
from tests.support.systems.stream_stage import StreamStage
from tests.support.systems.stream_stage import running as streaming
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

Figure = Callable[[str], None]
READS = 100_000
DEFAULT = Limits(timeout_s=10.0, max_payload_bytes=4 * 2**20, max_inflated_bytes=16 * 2**20)
"""As of `PolledOptions`."""
NEW = (2.1, 3.2, 3.7)


async def test_a1_a_source_that_refuses_from_the_start(figure: Figure) -> None:
    """The service lives and answers 503 with Retry-After until it is there; tries are spread and rarer."""
    service = ScriptedService("alder")
    web = service.webs["alder"]
    served, web.answer = web.answer, refusing
    refused = set[tuple[int, bool]]()
    with capture_logs() as logs:
        async with running(service):
            for second in range(1, 61):
                await pass_to(second)
                answer = await service.get()
                refused.add((answer.status, "retry-after" in answer.headers))
            tries = list(web.asked)
            web.answer = served
            back_s = await until(lambda: service.entries("alder")) - 60
            after = (await service.get()).status

    downs = sum(one["event"] == "source.down" for one in logs)
    longest = [min(MIN_CAP_S, BASE_S * 2**number) for number in range(len(tries))]
    figure(
        f"alive after 60 s, {len(tries)} attempts, {downs} log line; live {back_s:.1f} s after it was there"
    )
    assert ({(503, True)}, 200, 1) == (refused, after, downs)
    assert 3 < len(tries)
    assert all(new - old <= most for (old, new), most in zip(pairwise(tries), longest, strict=False))


async def _detected(answer: WebAnswer, figure: Figure) -> None:
    """Let one of two sources answer like that; its poll must fail in time, and the other go on."""
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


async def test_a3_a_source_that_never_answers(figure: Figure) -> None:
    """The deadline ends the request; the others do not notice."""
    await _detected(hanging, figure)


async def test_a6_a_source_that_sends_a_byte_a_second(figure: Figure) -> None:
    """The deadline is for the whole answer."""
    await _detected(dripping, figure)


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

    lines = [one["bookmaker"] for one in logs if one["event"] == "bookmaker.withdrawn"]
    figure(
        f"withdrawn after {took_s:.1f} s of {STALE_AFTER_S:g}, 1 log line; {older} of {READS:,} reads older"
    )
    assert (1, 0, [503, 200], ["alder"]) == (before, older, statuses, lines)
    assert abs(took_s - STALE_AFTER_S) <= 1.0


async def _rejected(answers: dict[str, Answer], folder: Path, figure: Figure) -> None:
    """Serve a file, then each of these over a socket: none may change the board."""
    good = b"\n".join([*sheet("B365", SOME).splitlines(), b""])
    with http_peer() as peer:
        peer.answers["/fixtures.csv"] = respond(good)
        async with polling(folder, config(peer.url("/fixtures.csv")), WALL_0) as board:
            await board.until(lambda: bool(board.serving()))
            version = board.snapshot.version
            for answer in answers.values():
                failures = board.source.failures_total
                peer.answers["/fixtures.csv"] = answer
                await board.until(partial(_has_failed, board, failures + 2))
            failed, kept = board.source.failures_total, board.snapshot.version
            shown = [one.match.home_price for one in board.entries(next(iter(BOOKMAKERS)))]

    figure(f"{len(answers)} ways, {failed} answers rejected whole, version unchanged, 0 partial applies")
    assert (version, [SOME[0]]) == (kept, shown)


def _has_failed(board: Running, times: int) -> bool:
    return board.source.failures_total >= times


@pytest.mark.real_time
async def test_a7_a_reset_in_mid_body(tmp_path: Path, figure: Figure) -> None:
    """The answer is rejected as a whole, and the list stays."""
    changed = sheet("B365", NEW, NEW)
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(changed) + 1}\r\n\r\n".encode()
    answers = {**RESET, "all but a byte": _reset_after(head + changed)}
    await _rejected(answers, tmp_path, figure)


@pytest.mark.real_time
async def test_a8_a_body_shorter_than_announced(tmp_path: Path, figure: Figure) -> None:
    """The same, also where what came is a whole file by itself."""
    changed = sheet("B365", NEW, NEW)
    answers = {**SHORT, "a whole row missing": respond(changed, length=len(changed) + 60)}
    await _rejected(answers, tmp_path, figure)


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
    assert all(abs(one - 300.0) <= 1.0 for one in kept_s)


SEEDS = 4
SHOWN = ("/health", "/health/ready", "/monitor", "/api/stats", "/api/v2/odds", "/api/capabilities")


def _is_withdrawn(service: ScriptedService, name: str) -> bool:
    return not service.entries(name)


async def test_a13_a_denied_source(figure: Figure) -> None:
    """It is asked rarely, and its key is nowhere, though the server quotes it."""
    statuses = {"of-401": 401, "of-403": 403}
    service = ScriptedService(*statuses, api_key=API_KEY)
    with capture_logs() as logs:
        async with running(service):
            for name, status in statuses.items():
                quoted = f'{{"message": "{API_KEY} is wrong", "error_code": "INVALID_KEY"}}'.encode()
                service.webs[name].answer = serving(quoted, status, {"X-Key": API_KEY, "Server": API_KEY})
            await pass_to(1200)
            answers = [await service.get(path) for path in SHOWN]

    asked = {name: service.webs[name].asked for name in statuses}
    most = max(_most_in(60.0, times) for times in asked.values())
    texts = [repr(one) for one in (*logs, *answers)]
    leaks = sum(API_KEY in one for one in texts)
    figure(
        f"at most {most} request a minute in 20 min; the key in {leaks} of {len(texts)} lines and answers"
    )
    assert all(API_KEY in str(one.url) for web in service.webs.values() for one in web.requests)
    assert all(len(times) > 10 for times in asked.values())
    assert "invalid_key" in repr(answers)
    assert (most <= 2, 0) == (True, leaks)


@pytest.mark.real_time
async def test_a14_a_redirect_to_another_host(figure: Figure) -> None:
    """Another host, port, user or scheme is refused without a connection to it."""
    refused = 0
    async with PollingTransport(LIMITS, SystemClock()) as transport:
        with http_peer() as peer, http_peer() as other:
            for location in ELSEWHERE:
                target = location.format(other=other.port, port=peer.port)
                peer.answers["/f.csv"] = respond(status=302, headers={"Location": target})
                with pytest.raises(TransportError, match="to another host, which is not followed"):
                    await transport.fetch(peer.url("/f.csv"), NONE)
                refused += 1

    figure(f"{refused} of {len(ELSEWHERE)} refused, {other.connections} connections to the other host")
    assert (0, len(ELSEWHERE)) == (other.connections, len(peer.asked))


async def test_a15_a_flapping_stream(figure: Figure) -> None:
    """A server that is up for a second and down for a second is not asked ever more often."""
    connects = tries = versions = 0
    for seed in range(SEEDS):
        stage = StreamStage(Random(seed))
        first = stage.version
        async with streaming(stage), anyio.create_task_group() as tasks:
            tasks.start_soon(_flap, stage)
            await anyio.sleep(300)
            tasks.cancel_scope.cancel()
        connects, tries = max(connects, len(stage.wires) - 1), max(tries, len(stage.opened) - 1)
        versions = max(versions, stage.version - first)

    figure(
        f"at most {connects} reconnects in {tries} tries, {versions} versions in 5 min, over {SEEDS} seeds"
    )
    assert 3 < connects <= 30
    assert 0 < versions <= 6 * 5


async def _flap(stage: StreamStage) -> None:
    while True:
        stage.is_refused = bool(floor(anyio.current_time()) % 2)
        if stage.is_refused:
            stage.wire.close()
        await anyio.sleep(floor(anyio.current_time()) + 1 - anyio.current_time())


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
async def test_a16_the_retries_of_a_service_with_200_sources_are_spread(figure: Figure) -> None:
    """The same with all actors, transports and the board."""
    service, outage_s = ScriptedService(*(f"s{number}" for number in range(200))), 300.0
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
    return max(sum(start <= one < start + span_s for one in times) for start in times)


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


@pytest.mark.real_time
async def test_a18_a_gzip_bomb(figure: Figure) -> None:
    """Unpacking stops at the limit, or at 100 times the size, whichever comes first."""
    steep = _packed(zlib.compressobj(9, wbits=31), bytes(2**20), 64)
    flat = _packed(zlib.compressobj(1, wbits=31), Random(1).randbytes(2**14) + bytes(2**20), 17)
    grown = list[float]()
    with http_peer() as peer:
        for bomb in (steep, flat):
            peer.answers["/f.csv"] = respond(bomb, headers={"Content-Encoding": "gzip"})
            with most_memory() as most:
                error = await trouble(peer.url("/f.csv"), limits=DEFAULT)
            assert isinstance(error, PayloadError)
            assert "inflates beyond" in str(error)
            grown.append(most.mib)

    ratios = [64 * 2**20 / len(steep), 17 * (2**20 + 2**14) / len(flat)]
    told = " and ".join(
        f"{ratio:.0f}:1 with RSS +{mib:.0f} MiB" for ratio, mib in zip(ratios, grown, strict=True)
    )
    figure(f"2 of 2 rejected: {told}")
    assert grown[0] <= 24


def _packed(packer: zlib._Compress, part: bytes, times: int) -> bytes:
    return b"".join([*(packer.compress(part) for _ in range(times)), packer.flush()])
