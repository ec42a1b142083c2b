"""Reads of fixtures next to reads of odds: the same entries, by how many bookmakers list a match.

Of two bookmakers a fixture is 1.4 times as long as its entries in the list, of ten it is shorter: names,
league and kick-off stand there once, best prices and fair odds are added.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from scripts.benchmarks.clients import wrk
from scripts.benchmarks.figures import spread
from scripts.benchmarks.processes import Served, configured_service, get
from scripts.benchmarks.report import Report

ODDS, FIXTURES = "/api/v2/odds", "/api/v2/fixtures"
SIZES = (1_200, 10_000)
BOOKMAKERS = (2, 3, 5, 10, 25, 50)
ROUNDS, RUN_S = 7, 1
LINKED_S, EVERY_S = 60.0, 0.5
FORMS = {"identity": {}, "gzip": {"Accept-Encoding": "gzip"}, "304": {}}
SPELLINGS, KEYS = ("plain", "formal", "short"), ("sharp", "standard", "wide")


def run(report: Report) -> None:
    """Print requests a second of both lists, and how long their bodies are."""
    if not wrk.is_there():
        report.paragraph("Not measured: wrk is missing (Debian: `apt-get install wrk`).")
        return
    report.paragraph(
        f"Requests a second of `{FIXTURES}` over those of `{ODDS}` with the same entries, by wrk over"
        f" {wrk.CONNECTIONS} connections, {RUN_S} s a run, in turn: the median of the pairs' ratios, and in"
        " brackets the least and the greatest. Simulated bookmakers of two or three sources that list the"
        " same matches, each in its own spelling. *Length*: of the fixtures' body over that of the odds'."
    )
    for size in report.size(SIZES, SIZES[:1]):
        rows = [_row(report, size, count) for count in report.size(BOOKMAKERS, BOOKMAKERS[::2])]
        header = ["bookmakers", "fixtures", *FORMS, "length, identity", "length, gzip"]
        report.table(f"{size:,} entries", header, rows)


def _row(report: Report, size: int, count: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "bench.toml"
        config.write_text(configuration(size, count), encoding="utf-8")
        with configured_service(config) as served:
            fixtures = _linked(served, size, count)
            return [str(count), f"{fixtures:,}", *_ratios(report, served)]


def _linked(served: Served, size: int, count: int) -> int:
    """Wait until the sources' matches are linked; return how many fixtures there are."""
    end = time.monotonic() + LINKED_S
    while time.monotonic() < end:
        found = int(json.loads(get(served.url, FIXTURES, {})[2])["fixtures_count"])
        if found < size / count * 1.2:
            return found
        time.sleep(EVERY_S)
    raise RuntimeError(f"there are {found} fixtures of {size} entries by {count} bookmakers")


def _ratios(report: Report, served: Served) -> list[str]:
    ratios, lengths = [], []
    for form, given in FORMS.items():
        pairs = []
        for _ in range(report.size(ROUNDS, 2)):
            rates = []
            for path in (ODDS, FIXTURES):
                headers = given or _validator(served, path, form)
                rates.append(wrk.rate(served.url + path, headers, RUN_S))
                served.settle()
            pairs.append(rates[1] / rates[0])
        ratios.append(spread(pairs))
        if form != "304":
            sizes = [len(get(served.url, path, given)[2]) for path in (ODDS, FIXTURES)]
            lengths.append(f"{sizes[1] / sizes[0]:.2f}")
    return [*ratios, *lengths]


def _validator(served: Served, path: str, form: str) -> dict[str, str]:
    return {"If-None-Match": get(served.url, path, {})[1]["etag"]} if form == "304" else {}


def configuration(size: int, count: int) -> str:
    """Return a configuration of so many entries by `count` bookmakers, whose prices hardly change."""
    sources = SPELLINGS[:count]
    text = "".join(
        f'[sources.{name}]\nkind = "simulated"\nmatches = {size // count}\nupdates_per_s = 0.001\n'
        f'spelling = "{name}"\nstale_after_s = 3600\n'
        for name in sources
    )
    for number in range(count):
        key, turn = KEYS[number % len(KEYS)], number // len(KEYS)
        text += (
            f'[bookmakers.book-{number}]\nname = "Bookmaker {number} (simulated)"\n'
            f'source = "{sources[number % len(sources)]}"\nkey = "{key}{f"-{turn}" if turn else ""}"\n'
        )
    return text + "[limits]\nrequests_per_s = 1_000_000\nburst = 1_000_000\n"
