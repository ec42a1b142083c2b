"""The exchange's stream: messages a second, from a delta's bytes to the changed body, memory.

The peer is betfairlightweight, the library of this protocol, on the same bytes; it decodes and keeps
ladders and does nothing else. It comes with the test dependencies (`scripts/prepare test`).
"""

from __future__ import annotations

import gc
import http.client
import tempfile
import time
import tracemalloc
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from boards import NOW, RULES
from exchange import LEVELS, MARKETS, delta, encoded, exchange, runner_ids, whole_image
from serving import server
from tables import seconds, spread, table

from actors.board import Board
from actors.clock import Instant
from actors.integrity import Bounds, admit
from actors.messages import BookmakerId, SourceName
from actors.slices import finish
from actors.snapshot import Snapshot
from actors.sources.betfair_stream import KIND
from actors.sources.betfair_stream_options import BetfairStreamOptions
from actors.stream_feed import StreamFeed

DELTAS, FRESH = 20_000, 1_000
RUNS = 5
EXCHANGE = BookmakerId("exchange")
OPTIONS = BetfairStreamOptions(kind="betfair_stream", app_key="key", session_token="token")  # noqa: S106


def run() -> None:
    """Print all three."""
    image, deltas = encoded(whole_image()), [encoded(delta(number)) for number in range(DELTAS)]
    lines = [image, *deltas]
    times = {
        "state machine": _timed(lambda: _decode(lines)),
        "to commit, one a message": _timed(lambda: _commit(lines)),
    }
    peer: list[float] | None = None
    if find_spec("betfairlightweight"):
        peer = times["betfairlightweight, decoding alone"] = _timed(lambda: _peer(lines))
    else:
        print("\nstream: betfairlightweight is missing, nothing to compare with (scripts/prepare test)")
    rows = [_row(what, each, peer) for what, each in times.items()]
    size = sum(map(len, lines)) / 2**20
    title = f"Stream: image of {MARKETS:,} markets, then {DELTAS:,} deltas, {size:.1f} MiB"
    table(title, ["path", "ms: median (min to max)", "messages/s", "speed against the peer"], rows)
    _print_memory(image)
    _print_freshness(image)


def _decode(lines: list[bytes]) -> None:
    session = KIND.historic(OPTIONS)
    for line in lines:
        finish(session.receive(line))


def _commit(lines: list[bytes]) -> Snapshot:
    feed = StreamFeed(KIND.historic(OPTIONS), SourceName("bench"), [EXCHANGE], 3600.0)
    snapshot = Snapshot.empty(1, (EXCHANGE,))
    now = Instant(NOW.mono, NOW.wall)
    for line in lines:
        board = Board(snapshot, RULES)
        for batch in finish(feed.line(line, now)).batches:
            finish(board.apply(finish(admit(batch, Bounds())).batch, now))
        snapshot = board.commit()
    return snapshot


def _peer(lines: list[bytes]) -> None:
    from betfairlightweight import StreamListener  # noqa: PLC0415 - a test dependency, not always there

    listener = StreamListener(max_latency=None, lightweight=True)
    listener.register_stream(2, "marketSubscription")
    for line in lines:
        listener.on_data(line)


def _print_memory(image: bytes) -> None:
    gc.collect()
    tracemalloc.start()
    session = KIND.historic(OPTIONS)
    finish(session.receive(image))
    gc.collect()
    markets, _ = tracemalloc.get_traced_memory()
    snapshot = _commit([image])
    gc.collect()
    both, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(
        f"\nMemory of {MARKETS:,} markets of {LEVELS} levels: the stream's side {markets / 2**20:.2f} MiB,"
        f" the board's {(both - markets) / 2**20:.2f} MiB ({snapshot.books[EXCHANGE].count:,} entries)"
    )


def _print_freshness(image: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, exchange(image) as (url, push):
        config = Path(folder) / "bench.toml"
        config.write_text(
            f'[sources.stream]\nkind = "betfair_stream"\nstream_url = "{url}"\ncatalogue_url = ""\n'
            'app_key = "key"\nsession_token = "token"\n'
            '[bookmakers.exchange]\nname = "Exchange"\nsource = "stream"\nkey = "exchange"\n',
            encoding="utf-8",
        )
        with server(["-m", "web", "serve", "--config", str(config)]) as base:
            times = _until_changed(base, push)
    print("\nFrom a delta's bytes to the changed body of /api/odds, one client that reads again and again,")
    median, late, last = times[FRESH // 2], times[FRESH * 99 // 100], times[-1]
    print(
        f"{MARKETS:,} markets, {FRESH:,} deltas: median {median:.1f} ms, p99 {late:.1f}, longest {last:.1f}"
    )


def _until_changed(base: str, push: Any) -> list[float]:
    times = []
    with closing(http.client.HTTPConnection(base.removeprefix("http://"), timeout=10)) as client:
        _read_until(client, lambda body: body.count(b"exchange_1.") == MARKETS)
        for number in range(FRESH):
            price = round(2.2 + (number + 1) / 10_000, 4)  # one that no match had before
            wanted = b"[%s," % str(price).encode()
            change = {"id": f"1.{number % MARKETS:06d}"}
            change["rc"] = [{"id": runner_ids(number % MARKETS)[0], "batb": [[0, price, 5.0]]}]  # type: ignore[assignment]
            line = encoded({"op": "mcm", "id": 2, "clk": str(number), "pt": 1, "mc": [change]})
            began = time.perf_counter()
            push(line)
            _read_until(client, lambda body, wanted=wanted: wanted in body)
            times.append((time.perf_counter() - began) * 1e3)
    return sorted(times)


def _read_until(client: http.client.HTTPConnection, is_there: Any) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        client.request("GET", "/api/odds")
        if is_there(client.getresponse().read()):
            return
    raise TimeoutError("the service did not show what was sent within 10 s")


def _timed(work: Any) -> list[float]:
    return seconds(work, RUNS)


def _median(times: list[float]) -> float:
    return times[len(times) // 2]


def _row(what: str, times: list[float], peer: list[float] | None) -> list[str]:
    rate, ratio = (DELTAS + 1) / _median(times), _median(peer or times) / _median(times)
    shown = f"{ratio:.1f}" if peer else "not measured"
    return [what, spread([one * 1e3 for one in times]), f"{rate:,.0f}", shown]
