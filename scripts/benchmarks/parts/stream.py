"""The exchange's stream: messages a second, and memory.

The peer is betfairlightweight, a library for this protocol, on the same bytes. It only decodes messages
and keeps ladders.
"""

from __future__ import annotations

import gc
import tracemalloc

import msgspec
from betfairlightweight import StreamListener

from actors.board.snapshot import Snapshot
from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId, SourceName
from actors.pipeline.stream_feed import StreamFeed
from actors.sources.betfair.kind import KIND
from actors.sources.betfair.options import BetfairStreamOptions
from scripts.benchmarks.data.boards import NOW
from scripts.benchmarks.data.exchange import LEVELS, MARKETS, delta, encoded, whole_image
from scripts.benchmarks.figures import in_turn, median, milliseconds, spread
from scripts.benchmarks.payload_to_commit import applied
from scripts.benchmarks.report import Report

DELTAS = 20_000
EXCHANGE = BookmakerId("exchange")
OPTIONS = BetfairStreamOptions(kind="betfair_stream", app_key="key", session_token="token")  # noqa: S106


def run(report: Report) -> None:
    """Print messages a second, and memory."""
    image, deltas = encoded(whole_image()), [encoded(delta(number)) for number in range(DELTAS)]
    lines = [image, *deltas]
    size = sum(map(len, lines)) / 2**20
    times = in_turn(
        {
            "betfairlightweight, ladders alone": lambda: _peer(lines),
            "msgspec to dicts, nothing else": lambda: [msgspec.json.decode(line) for line in lines],
            "state machine": lambda: _decode(lines),
            "to the commit, one a message": lambda: _commit(lines),
            "the image again, to the commit": lambda: _commit([image, image]),
        },
        report.size(5, 1),
    )
    again = times.pop("the image again, to the commit")
    peer = next(iter(times.values()))
    rows = [_row(what, each, peer) for what, each in times.items()]
    title = f"betfair_stream: image of {MARKETS:,} markets, then {DELTAS:,} deltas, {size:.1f} MiB"
    report.table(title, ["path", "ms", "messages/s", "speed against betfairlightweight"], rows)
    report.paragraph(
        f"Two images of {MARKETS:,} markets one after the other, to the commit:"
        f" {spread(milliseconds(again))} ms, {len(image) / 2**20:.1f} MiB each."
    )
    report.paragraph(_memory(image))


def _decode(lines: list[bytes]) -> None:
    session = KIND.historic(OPTIONS)
    for line in lines:
        run_now(session.receive(line))


def _commit(lines: list[bytes]) -> Snapshot:
    feed = StreamFeed(KIND.historic(OPTIONS), SourceName("bench"), [EXCHANGE], 3600.0)
    snapshot = Snapshot.empty(1, (EXCHANGE,))
    now = Instant(NOW.mono, NOW.wall)
    for line in lines:
        snapshot = applied(snapshot, run_now(feed.line(line, now)).batches)
    return snapshot


def _peer(lines: list[bytes]) -> None:
    listener = StreamListener(max_latency=None, lightweight=True)
    listener.register_stream(2, "marketSubscription")
    for line in lines:
        listener.on_data(line)


def _memory(image: bytes) -> str:
    gc.collect()
    tracemalloc.start()
    session = KIND.historic(OPTIONS)
    run_now(session.receive(image))
    gc.collect()
    markets, _ = tracemalloc.get_traced_memory()
    snapshot = _commit([image])
    gc.collect()
    both, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (
        f"Memory of {MARKETS:,} markets of {LEVELS} levels: the stream's side {markets / 2**20:.2f} MiB,"
        f" the board's {(both - markets) / 2**20:.2f} MiB ({snapshot.books[EXCHANGE].count:,} entries)"
    )


def _row(what: str, times: list[float], peer: list[float]) -> list[str]:
    rate, ratio = (DELTAS + 1) / median(times), median(peer) / median(times)
    return [what, spread(milliseconds(times)), f"{rate:,.0f}", f"{ratio:.1f}"]
