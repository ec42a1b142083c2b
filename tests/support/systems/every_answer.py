"""Every kind of answer of a service, asked of real front ends over a socket: the contract's examples."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import msgspec

from actors.alerts.recent import Recent
from actors.board.snapshot import Entry, Snapshot
from actors.board.validity import Deadlines
from actors.core.errors import CommitLateError
from actors.core.limits import Limits
from actors.core.messages import BookmakerId
from actors.runtime.facts import Transition
from tests.support.builders.alerts import alert
from tests.support.builders.messages import match
from tests.support.systems.site import EPOCH, MAX_STREAMS, Answered, Site, open_site, parsed
from web.endpoints.openapi import EXAMPLES
from web.protocol.access import Access
from web.server.connections import Caps

NAMES = {BookmakerId("alder"): "Alder", BookmakerId("birch"): "Birch"}
LISTS = ("/api/v2/odds", "/api/odds")
PROBES = ("/health", "/health/live", "/health/ready")
CHANGES = f"/api/v2/changes?since=5001-{EPOCH}"
FIXTURES = ("/api/v2/fixtures", "/api/v2/surebets")
FOR_OPERATORS = ("/monitor", "/monitor/events", "/api/stats")
OTHERS = ("/api/v2/alerts", "/api/capabilities")
ANSWERS = (*LISTS, *FIXTURES, *OTHERS, *PROBES, *FOR_OPERATORS, CHANGES)
BY_TARGET = {
    "invalid_bookmaker": "/api/v2/odds?bookmaker=nobody",
    "invalid_view": "/api/v2/changes?since=5001&view=odds",
    "invalid_league": "/api/v2/fixtures?league=a&league=b",
    "invalid_fixture": "/api/v2/markets?fixture=a&fixture=b",
    "invalid_market": "/api/v2/fixtures?market=over_under:2.50",
    "invalid_from": "/api/v2/fixtures?from=today",
    "invalid_to": "/api/v2/fixtures?to=tomorrow",
    "invalid_min_profit": "/api/v2/surebets?min_profit=1%25",
    "invalid_min_ev": "/api/v2/value?min_ev=2%25",
    "invalid_reference": "/api/v2/value?reference=nobody",
    "invalid_fair": "/api/v2/fixtures?fair=nobody",
    "invalid_doubted": "/api/v2/surebets?doubted=yes",
    "invalid_weak": "/api/v2/surebets?weak=yes",
    "invalid_total": "/api/v2/surebets?total=0",
    "invalid_step": "/api/v2/surebets?total=100&step=0",
    "invalid_at": "/api/odds?at=2026-11-25T18:00:00Z",
    "invalid_id": "/api/v2/lines?id=m1",
    "invalid_points": "/api/v2/lines?id=alder_m1&points=0",
    "invalid_format": "/api/v2/odds?format=xlsx",
    "invalid_since": "/api/v2/changes?since=yesterday",
    "invalid_wait": "/api/v2/changes?since=5001&wait=60",
    "invalid_subject": "/monitor/events?subject=a&subject=b",
    "invalid_conflate_ms": "/api/v2/stream?conflate_ms=-1",
    "too_many_parameters": "/api/v2/odds?" + "&" * 20,
    "target_too_long": "/" + "a" * 3000,
    "not_found": "/api/v3/odds",
    "no_archive": "/api/v2/closing",
    "version_not_available": "/api/v2/changes?since=1",
}
OF_ARCHIVE = (
    "/api/v2/archive",
    "/api/v2/lines?id=alder_m1",
    "/api/v2/closing?to=2100-01-01T00:00:00Z",
    "/api/v2/value/record",
)
BY_PAST = {
    "invalid_window_s": "/api/v2/movers?window_s=59",
    "invalid_min": "/api/v2/movers?min=1%25",
    "version_not_yet": "/api/v2/odds?at=9999999999999",
    "version_not_archived": "/api/v2/odds?at=1999-12-31T23:59:59Z",
}
BY_BYTES = {
    "bad_request": b"GET /\r\n\r\n",
    "http2_not_supported": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "headers_too_large": b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 200 + b"\r\n",
}


class Broken:
    """A board whose reading fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error or RuntimeError("hunter2 in /srv/secret.py")

    @property
    def newest(self) -> Snapshot:
        """Fail."""
        raise self._error

    async def read(self, deadlines: object = None) -> Snapshot:
        """Fail."""
        del deadlines
        raise self._error

    async def reject(self, bookmaker: BookmakerId, entry: Entry, why: str) -> None:
        """Never called."""
        raise NotImplementedError(bookmaker, entry, why)

    def is_valid(self, deadlines: Deadlines) -> bool:
        """Never called."""
        raise NotImplementedError(deadlines)

    def is_due(self, deadlines: Deadlines, within_s: float) -> bool:
        """Never called."""
        raise NotImplementedError(deadlines, within_s)


@contextlib.asynccontextmanager
async def showing(**others: Any) -> AsyncIterator[Site]:
    """Serve a board with an entry of each bookmaker, one of them changed since version 5001."""
    recent = Recent()
    recent.epoch = EPOCH
    recent.add(alert(title="Unión Calavares - Grandrive: surebet of 1.20 %", version=5003))
    async with open_site(names=NAMES, recent=recent, **others) as site:
        derby = partial(match, "m1", home="Unión Calavares", away="Grandrive", league="France - Ligue 1")
        site.publish("alder", derby(prices=(1.6, 4.71, 4.58)), match("m2"))
        site.clock.pass_(4.2)
        site.publish("alder", derby(prices=(1.65, 4.6, 4.4)))
        site.publish("birch", derby(prices=(1.7, 4.5, 4.2)))
        why = {"bookmaker": "birch", "error": "the document has no column 'odds'"}
        site.status.log.journal.note(Transition("bookmaker.lost", "birch", site.clock.wall, why))
        yield site


async def answers(site: Site) -> dict[str, Answered]:
    """Return the answers with status 200 by path."""
    return {target.partition("?")[0]: await site.raw("GET", target) for target in ANSWERS}


async def surebets() -> Answered:
    """Return the list with a surebet, once the surebet has stood for long enough."""
    async with open_site(names=NAMES) as site:
        derby = partial(match, "m1", home="Unión Calavares", away="Grandrive", league="France - Ligue 1")
        site.publish("alder", derby(prices=(2.2, 3.9, 3.0)))
        site.publish("birch", derby(prices=(2.0, 3.0, 4.2)))
        site.clock.pass_(2)
        site.apply()
        return await site.raw("GET", "/api/v2/surebets?total=100")


async def values() -> Answered:
    """Return the value of a price that is too high by three other prices."""
    names = {**NAMES, BookmakerId("cedar"): "Cedar", BookmakerId("dogwood"): "Dogwood"}
    derby = partial(match, "m1", home="Unión Calavares", away="Grandrive", league="France - Ligue 1")
    async with open_site(names=names) as site:
        for name in names:
            site.publish(name, derby(prices=(1.65, 4.6, 4.4) if name != "birch" else (1.8, 4.2, 4.1)))
        return await site.raw("GET", "/api/v2/value")


async def archived() -> dict[str, Answered]:
    """Return the answers of an archive of a short life, by path."""
    with TemporaryDirectory() as folder:
        async with showing(archived=Path(folder)) as site:
            return {path.partition("?")[0]: await site.raw("GET", path) for path in OF_ARCHIVE}


async def moves() -> Answered:
    """Return the move of a fixture that two of three bookmakers followed."""
    names = {**NAMES, BookmakerId("cedar"): "Cedar"}
    derby = partial(match, "m1", home="Unión Calavares", away="Grandrive", league="France - Ligue 1")
    with TemporaryDirectory() as folder:
        async with open_site(names=names, archived=Path(folder)) as site:
            for name in names:
                site.publish(name, derby(prices=(1.65, 4.6, 4.4)))
            for name in (BookmakerId("birch"), BookmakerId("alder")):
                site.clock.pass_(4.2)
                site.publish(name, derby(prices=(1.55, 4.8, 5.0)))
            return await site.raw("GET", "/api/v2/movers")


async def failing_probes() -> dict[str, Answered]:
    """Return the answers with status 503 that are no problem documents, by path."""
    async with open_site(names=NAMES) as site:
        site.clock.pass_(60)
        site.status.board.last_turn_mono = 0.0
        return {path: await site.raw("GET", path) for path in PROBES}


async def problems() -> dict[str, Answered]:
    """Return an answer for each code."""
    async with showing() as site:
        found = {code: await site.raw("GET", target) for code, target in BY_TARGET.items()}
        found |= {code: parsed(await site.exchange(data)) for code, data in BY_BYTES.items()}
        refusing = "Accept-Encoding: identity;q=0, gzip;q=0"
        found["not_acceptable"] = await site.raw("GET", "/api/v2/odds", refusing)
        found["method_not_allowed"] = await site.raw("POST", "/api/v2/odds")
        found["too_many_streams"] = await _crowded(site, MAX_STREAMS)
        await site.audience.leave()
        found["stopping"] = await site.raw("GET", "/api/v2/stream")
    limits = Limits(max_streams_per_client=1, trusted_proxies=("127.0.0.1",))
    async with showing(of_clients=limits) as site:
        found["too_many_client_streams"] = await _crowded(site, 1, "X-Forwarded-For: 198.51.100.1")
    few = Limits(requests_per_s=0.01, burst=1, trusted_proxies=("127.0.0.1",))
    async with showing(of_clients=few) as site:
        for _ in range(2):
            found["too_many_requests"] = await site.raw(
                "GET", "/api/v2/odds", "X-Forwarded-For: 198.51.100.1"
            )
    async with showing(caps=Caps(connections=1)) as site:
        found["overloaded"] = await _crowded(site, 1)
    async with showing(access=Access("a" * 16)) as site:
        found["unauthorized"] = await site.raw("GET", "/monitor")
    with TemporaryDirectory() as folder:
        async with showing(archived=Path(folder)) as site:
            found |= {code: await site.raw("GET", target) for code, target in BY_PAST.items()}
    async with open_site(names=NAMES) as site:
        found["no_bookmaker_serving"] = await site.raw("GET", "/api/v2/odds")
    async with open_site(names=NAMES, is_linked_first=True) as site:
        found["linking"] = await site.raw("GET", "/api/v2/fixtures")
    late = Broken(CommitLateError("what is overdue was not withdrawn in time"))
    async with open_site(late, NAMES) as site:
        found["commit_late"] = await site.raw("GET", "/api/v2/odds")
    async with open_site(Broken(), NAMES) as site:
        found["internal_error"] = await site.raw("GET", "/api/v2/odds")
    return found


async def _crowded(site: Site, others: int, *lines: str) -> Answered:
    """Return the answer to the next client when `others` follow already."""
    async with anyio.create_task_group() as tasks:
        for _ in range(others):
            tasks.start_soon(site.raw, "GET", "/api/v2/changes?since=5003&wait=30", *lines)
        await site.until(lambda: len(site.audience) == others)
        refused = await site.raw("GET", "/api/v2/stream", *lines)
        tasks.cancel_scope.cancel()
    return refused


async def examples() -> dict[str, dict[str, Any]]:
    """Return the examples of the contract: answers by path and status, problem documents by code."""
    async with showing() as site:
        of_answers = {f"{path} 200": answer for path, answer in (await answers(site)).items()}
        async with anyio.create_task_group() as tasks:
            sent: list[bytes] = []
            tasks.start_soon(_first_events, site, sent)
            await site.until(lambda: len(site.audience) == 1)
            await site.audience.leave()
    of_answers["/api/v2/surebets 200"] = await surebets()
    of_answers["/api/v2/value 200"] = await values()
    of_answers |= {f"{path} 200": answer for path, answer in (await archived()).items()}
    of_answers["/api/v2/movers 200"] = await moves()
    of_answers |= {f"{path} 503": probe for path, probe in (await failing_probes()).items()}
    return {
        "answers": {
            **{key: msgspec.json.decode(answer.body) for key, answer in of_answers.items()},
            "/api/v2/stream 200": b"".join(sent).decode(),
        },
        "problems": {
            code: msgspec.json.decode(problem.body) for code, problem in (await problems()).items()
        },
    }


async def _first_events(site: Site, sent: list[bytes]) -> None:
    body = (await site.client.get(f"/api/v2/stream?since=5001-{EPOCH}")).content
    sent.append(body)


if __name__ == "__main__":
    text = json.dumps(anyio.run(examples), indent=1, ensure_ascii=False)
    EXAMPLES.write_text(f"{text}\n", "utf-8")
