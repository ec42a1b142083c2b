"""Freshness: from the bytes on a source's socket to the changed body at a client.

The source is the exchange's stream, because there the benchmark decides when changes come. One client
polls with the ETag of its last body until the new price is shown; other readers are in a process of
their own.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

from scripts.benchmarks.clients.constant_rate import CONNECTIONS
from scripts.benchmarks.data.exchange import MARKETS, encoded, exchange, runner_ids, whole_image
from scripts.benchmarks.figures import median, milliseconds, quantile, short
from scripts.benchmarks.processes import CLIENT_CORE, ROOT, client_command, on_core, service
from scripts.benchmarks.report import Report

PATH = "/api/odds"  # matches without names, as the exchange's stream has them, are in v1 only
RATE = 500
WITHIN_S = 10.0
LONGEST_PAUSE_S = 0.004  # so that changes and polls do not synchronise


def run(report: Report) -> None:
    """Print median and p99, idle and with other readers."""
    seconds = report.size(12.0, 3.0)
    with (
        exchange(encoded(whole_image())) as (url, push),
        service(_config(url)) as served,
        on_core(CLIENT_CORE),
    ):
        reader = _Reader(served.url)
        reader.until(lambda body: body.count(b'"id":"exchange_') == MARKETS)
        idle = [reader.read_once() for _ in range(report.size(1000, 200))]
        times = {"one GET of the whole body, nothing else going on": idle}
        prices = iter(range(1_000_000))
        times["from the stream's bytes to the body, no other readers"] = _fresh(
            reader, push, prices, seconds
        )
        with _load(served.url + PATH, seconds + 1.0) as load:
            loaded = _fresh(reader, push, prices, seconds)
            reached = json.loads(load.communicate()[0])
    times[f"the same, {reached['rate']:.0f} requests/s of other readers"] = loaded
    times["the other readers' requests"] = [took for took, _ in reached["answers"]]
    base = median(milliseconds(idle))
    header = ["what", "times", "median, ms", "p99, ms", "longest, ms", "p99 against an idle GET's median"]
    report.table(
        "From a change to its reader", header, [_row(what, each, base) for what, each in times.items()]
    )
    statuses = Counter(status for _, status in reached["answers"])
    shares = ", ".join(f"{count:,} of status {status}" for status, count in sorted(statuses.items()))
    report.paragraph(
        f"{MARKETS:,} matches; one price changes at a time, up to {LONGEST_PAUSE_S * 1e3:.0f} ms after the"
        f" last was seen. The other readers, {RATE} requests/s wanted over {CONNECTIONS} connections, poll"
        f" with If-None-Match and take gzip ({shares}); their times count from when a request was due."
    )


class _Reader:
    """A client on one connection."""

    def __init__(self, base: str) -> None:
        self._connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=WITHIN_S)
        self._etag = ""

    def read_once(self) -> float:
        """Read the whole body. Return the seconds this took."""
        began = time.perf_counter()
        self._connection.request("GET", PATH)
        self._connection.getresponse().read()
        return time.perf_counter() - began

    def until(self, is_there: Callable[[bytes], bool]) -> None:
        """Poll until `is_there` accepts the body. Raises: TimeoutError."""
        deadline = time.monotonic() + WITHIN_S
        while time.monotonic() < deadline:
            self._connection.request("GET", PATH, headers={"If-None-Match": self._etag})
            response = self._connection.getresponse()
            self._etag = response.headers.get("ETag", "")
            if is_there(response.read()):
                return
        raise TimeoutError(f"the service did not show what was sent within {WITHIN_S:.0f} s")


def _fresh(
    reader: _Reader, push: Callable[[bytes], None], numbers: Iterator[int], seconds: float
) -> list[float]:
    """Change one price after the other. Return for each the seconds from the bytes to the body."""
    random = Random(1)
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        time.sleep(random.uniform(0, LONGEST_PAUSE_S))
        line, wanted = _change(next(numbers))
        began = time.perf_counter()
        push(line)
        reader.until(lambda body, wanted=wanted: wanted in body)  # type: ignore[misc]
        times.append(time.perf_counter() - began)
    return times


def _change(number: int) -> tuple[bytes, bytes]:
    """Return a delta and the text that the body must then contain: a price that no match had before."""
    market = number % MARKETS
    price = round(2.2 + (number + 1) / 100_000, 5)
    change = {"id": f"1.{market:06d}", "rc": [{"id": runner_ids(market)[0], "batb": [[0, price, 5.0]]}]}
    line = {"op": "mcm", "id": 2, "clk": str(number), "pt": 1, "mc": [change]}
    return encoded(line), b"[%s," % str(price).encode()


@contextlib.contextmanager
def _load(url: str, seconds: float) -> Iterator[subprocess.Popen[str]]:
    command = client_command("constant_rate", url, str(RATE), str(seconds))
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        time.sleep(0.5)  # until it has begun
        yield process
    finally:
        process.kill()
        process.wait()


def _row(what: str, times: Sequence[float], base: float) -> list[str]:
    each = milliseconds(times)
    late = quantile(each, 0.99)
    figures = (median(each), late, max(each), late / base)
    return [what, f"{len(each):,}", *(short(figure) for figure in figures)]


def _config(url: str) -> str:
    return (
        f'[sources.stream]\nkind = "betfair_stream"\nstream_url = "{url}"\ncatalogue_url = ""\n'
        'app_key = "key"\nsession_token = "token"\n'
        '[bookmakers.exchange]\nname = "Exchange"\nsource = "stream"\nkey = "exchange"\n'
    )
