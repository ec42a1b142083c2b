"""What an archive costs a service: two at once, with and without; then how long the archived one restarts.

50 bookmakers x 1,000 matches, 1,000 changes a second, as `scale.toml`; fewer bookmakers change as often.
Both commit and are read alike; work is counted in processor time, so that other programs matter little.

PYTHONPATH=. .venv/bin/python scripts/benchmarks/archive_beside.py [BLOCKS [BOOKMAKERS]]
"""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import statistics
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.systems.process import ROOT, Service, service
from tests.support.time.waiting import eventually

SCALE = ROOT / "scripts" / "benchmarks" / "scale.toml"
BLOCK_S = 5.0
LINKED_S = 600.0
FULL = 900
"""Entries of each bookmaker with which a board counts as full: all but those in play, or over."""
CHANGES = 1_400
"""Updates a second of all sources, of which 1,000 change an entry."""
LIST = "/api/v2/odds"
OK = 200


class Answer(NamedTuple):
    """An answer of a service."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def main() -> None:
    """Print all figures."""
    blocks, bookmakers = (int(given) for given in (*sys.argv[1:], *("8", "50")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        plain, archived = Path(folder) / "plain.toml", Path(folder) / "archived.toml"
        text, full = _configured(bookmakers), bookmakers * FULL
        plain.write_text(text, "utf-8")
        archived.write_text(f"{text}\n[archive]\npath = {f'{folder}/archive'!r}\n", "utf-8")
        with service(plain) as without, service(archived) as kept:
            beside({"without": without, "with": kept}, blocks, full)
        for number in (signal.SIGTERM, signal.SIGKILL):
            restarted(archived, number, full)


def beside(services: dict[str, Service], blocks: int, full: int) -> None:
    """Print what each takes while it is not read, and for a read, in turn."""
    for running in services.values():
        eventually(partial(_is_linked, running, full), "all is linked", LINKED_S)
    idle, each_s = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for block in range(blocks):
        before = {name: _cpu_s(running) for name, running in services.items()}
        time.sleep(BLOCK_S)
        for name, running in services.items():
            idle[name].append((_cpu_s(running) - before[name]) / BLOCK_S)
        for name in sorted(services, reverse=bool(block % 2)):
            reads, took_s = _read(services[name])
            each_s[name].append((took_s - idle[name][-1] * BLOCK_S) / reads)
    print(f"{blocks} blocks of {BLOCK_S:g} s; medians, least and greatest:")
    room = {}
    for name, running in services.items():
        commit = _data(running)["commit_ms"]
        print(f"  {name} archive: {_spread(idle[name], 100)} % of a core while it is not read")
        print(f"    {_spread(each_s[name], 1e6)} us a read")
        print(f"    a commit p50 {commit['p50']} ms, p99 {commit['p99']} ms")
        room[name] = (1 - statistics.median(idle[name])) / statistics.median(each_s[name])
    ratio = statistics.median(each_s["without"]) / statistics.median(each_s["with"])
    print(f"  reads per processor second, with / without: {ratio:.3f}")
    print(f"  reads that a core has room for, with / without: {room['with'] / room['without']:.3f}")
    print(f"  archive: {_of_archive(services['with'])}")


def restarted(config: Path, number: signal.Signals, full: int) -> None:
    """Print the seconds, also of a processor, from a signal to lists, and to an answer that goes on."""
    with service(config) as running:
        eventually(lambda: _count(running) >= full, "the board is full", LINKED_S)
        view = _view(running)
        cursor = _get(running, f"{LIST}?bookmaker={view}").headers["Odds-Cursor"]
        version = int(cursor.partition("-")[0])
        eventually(lambda: _of_archive(running)["written_version"] >= version, "it is written", LINKED_S)
        began = time.monotonic(), _cpu_s(running)
        running.process.send_signal(number)
        took_s = 0.0
        while running.process.poll() is None:
            took_s = max(took_s, _cpu_s(running) - began[1])
            time.sleep(0.01)
        ended = time.monotonic()
    print(f"{number.name}: ended after {ended - began[0]:.1f} s ({took_s:.1f} s of a processor);")
    with service(config) as running:

        def note(what: str) -> None:
            print(
                f"  {what} after {time.monotonic() - ended:.1f} s ({_cpu_s(running):.1f} s of a processor)"
            )

        answer = _get(running, f"/api/v2/changes?bookmaker={view}&since={cursor}")
        note(f"`since` from before answered with {answer.status}")
        eventually(lambda: _get(running, "/health/ready").status == OK, "it is ready", LINKED_S)
        note(f"ready with {_count(running):,} entries")
        eventually(lambda: _count(running) >= full, "the board is full", LINKED_S)
        note(f"{_count(running):,} entries")


def _configured(bookmakers: int) -> str:
    """Return the first bookmakers of `scale.toml`, which change as often as all."""
    scale = tomllib.loads(SCALE.read_text("utf-8"))
    tables = dict.fromkeys(("sources", "bookmakers"), "")
    for table in tables:
        for name, given in [*scale[table].items()][:bookmakers]:
            if table == "sources":
                given["updates_per_s"] = CHANGES / bookmakers
            pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in given.items())
            tables[table] += f"{name} = {{ {pairs} }}\n"
    return "\n".join(f"[{table}]\n{lines}" for table, lines in tables.items())


def _read(running: Service) -> tuple[int, float]:
    """Read a list for a block; return how often, and the processor seconds of the service."""
    view = _view(running)
    connection = http.client.HTTPConnection(*running.address)
    before_s, until, count = _cpu_s(running), time.monotonic() + BLOCK_S, 0
    while time.monotonic() < until:
        connection.request("GET", f"{LIST}?bookmaker={view}", headers={"Accept-Encoding": "gzip"})
        connection.getresponse().read()
        count += 1
    took_s = _cpu_s(running) - before_s
    connection.close()
    return count, took_s


def _get(running: Service, path: str) -> Answer:
    """Get a path, however long that takes on a busy machine."""
    connection = http.client.HTTPConnection(*running.address, timeout=LINKED_S)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())


def _view(running: Service) -> str:
    return str(json.loads(_get(running, "/api/capabilities").body)["supported_bookmakers"][0])


def _of_archive(running: Service) -> Any:
    return json.loads(_get(running, "/health").body)["archive"]


def _data(running: Service) -> Any:
    return json.loads(_get(running, "/api/stats").body)["data"]


def _is_linked(running: Service, full: int) -> bool:
    pending = json.loads(_get(running, "/health").body)["links"]["pending"]
    return _count(running) >= full and pending == 0


def _count(running: Service) -> int:
    return int(_data(running)["matches"])


def _cpu_s(running: Service) -> float:
    """Return the processor seconds of all threads of a service; 0 once it has ended."""
    total = 0
    for file in Path(f"/proc/{running.process.pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # the thread has ended
            total += int(file.read_text("ascii").split()[0])
    return total / 1e9


def _spread(found: list[float], times: float) -> str:
    low, high = min(found) * times, max(found) * times
    return f"{statistics.median(found) * times:.1f} [{low:.1f}, {high:.1f}]"


if __name__ == "__main__":
    main()
