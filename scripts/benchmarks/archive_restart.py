"""Measures how long an archived service takes to serve again after an orderly stop, and after a kill.

50 bookmakers x 1,000 matches, 1,000 changes a second, as in `scale.toml`; fewer have as many changes.

PYTHONPATH=. .venv/bin/python scripts/benchmarks/archive_restart.py [BOOKMAKERS]
"""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.systems.process import ROOT, Service, started
from tests.support.time.waiting import eventually

SCALE = ROOT / "scripts" / "benchmarks" / "scale.toml"
PATIENCE_S = 600.0
FULL = 900
"""Entries of each bookmaker on a full board: all entries except those of matches in play or over."""
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
    bookmakers = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "archived.toml"
        archive = f"\n[archive]\npath = {f'{folder}/archive'!r}\n"
        config.write_text(_configured(bookmakers) + archive, "utf-8")
        for number in (signal.SIGTERM, signal.SIGKILL):
            restarted(config, number, bookmakers * FULL)


def restarted(config: Path, number: signal.Signals, full: int) -> None:
    """Print the seconds (clock and processor) of a restart until lists, and then changes, are answered."""
    with _service(config) as running:
        eventually(lambda: _count(running) >= full, "the board is full", PATIENCE_S)
        view = _view(running)
        cursor = _get(running, f"{LIST}?bookmaker={view}").headers["Odds-Cursor"]
        version = int(cursor.partition("-")[0])
        eventually(lambda: _of_archive(running)["written_version"] >= version, "it is written", PATIENCE_S)
        began = time.monotonic(), _cpu_s(running)
        running.process.send_signal(number)
        took_s = 0.0
        while running.process.poll() is None:
            took_s = max(took_s, _cpu_s(running) - began[1])
            time.sleep(0.01)
        ended = time.monotonic()
    print(f"{number.name}: ended after {ended - began[0]:.1f} s ({took_s:.1f} s of a processor);")
    with _service(config) as running:

        def note(what: str) -> None:
            print(
                f"  {what} after {time.monotonic() - ended:.1f} s ({_cpu_s(running):.1f} s of a processor)"
            )

        answer = _get(running, f"/api/v2/changes?bookmaker={view}&since={cursor}")
        note(f"`since` from before answered with {answer.status}")
        eventually(lambda: _get(running, "/health/ready").status == OK, "it is ready", PATIENCE_S)
        note(f"ready with {_count(running):,} entries")
        eventually(lambda: _count(running) >= full, "the board is full", PATIENCE_S)
        note(f"{_count(running):,} entries")


def _service(config: Path) -> contextlib.AbstractContextManager[Service]:
    """Run a service within a block; its start may take long on a busy machine."""
    command = [sys.executable, "-m", "web", "serve", "--config", str(config), "--bind", "127.0.0.1:0"]
    return started(command, ROOT, within_s=PATIENCE_S)


def _configured(bookmakers: int) -> str:
    """Return `scale.toml` with only its first bookmakers, and with the changes of all."""
    scale = tomllib.loads(SCALE.read_text("utf-8"))
    tables = dict.fromkeys(("sources", "bookmakers"), "")
    for table in tables:
        for name, given in [*scale[table].items()][:bookmakers]:
            if table == "sources":
                given["updates_per_s"] = CHANGES / bookmakers
            pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in given.items())
            tables[table] += f"{name} = {{ {pairs} }}\n"
    return "\n".join(f"[{table}]\n{lines}" for table, lines in tables.items())


def _get(running: Service, path: str) -> Answer:
    """Get a path without a time limit."""
    connection = http.client.HTTPConnection(*running.address, timeout=PATIENCE_S)
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


def _count(running: Service) -> int:
    return int(_data(running)["matches"])


def _cpu_s(running: Service) -> float:
    """Return the processor seconds of all threads of a service; 0 once it has ended."""
    total = 0
    for file in Path(f"/proc/{running.process.pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # the thread has ended
            total += int(file.read_text("ascii").split()[0])
    return total / 1e9


if __name__ == "__main__":
    main()
