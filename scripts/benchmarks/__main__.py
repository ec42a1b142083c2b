"""Runs the benchmarks named on the command line, or all, and prints their tables."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from scripts.benchmarks import compare
from scripts.benchmarks.parts import (
    archive,
    intake,
    programs,
    proxy,
    publish,
    reads,
    scale,
    stream,
    streams,
    waits,
)
from scripts.benchmarks.report import Report

BENCHMARKS: dict[str, tuple[str, Callable[[Report], None]]] = {
    "reads": ("Reads", reads.run),
    "proxy": ("Behind nginx and Varnish", proxy.run),
    "publish": ("Publishing", publish.run),
    "intake": ("Intake", intake.run),
    "stream": ("The exchange's stream", stream.run),
    "programs": ("Programs as sources", programs.run),
    "streams": ("Streams of changes", streams.run),
    "waits": ("Waits for changes", waits.run),
    "scale": ("Scale of one process", scale.run),
    "markets": ("Scale of one process, six markets an entry", scale.run_markets),
    "archive": ("An archive", archive.run),
}


def main(arguments: list[str]) -> int:
    """Run the requested parts. Return 1 if one of them could not be measured."""
    given = _parsed(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    report = Report(
        is_short=given.short,
        has_peers=not given.without_peers,
        has_servers=given.with_servers,
        scale_file=given.file,
    )
    code = 0
    for name in given.names:
        title, run = BENCHMARKS[name]
        began = time.monotonic()
        report.section(title)
        try:
            if given.against:
                compare.run(report, name, given.against.resolve())
            else:
                run(report)
        except (RuntimeError, TimeoutError) as error:  # the other parts are still worth measuring
            report.paragraph(f"Not measured: {error}.")
            code = 1
        print(f"\n({name}: {time.monotonic() - began:.0f} s)", flush=True)
    return code


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measure the service on this machine."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; default all")
    parser.add_argument("--short", action="store_true", help="a few runs of everything, for trying")
    parser.add_argument("--file", type=Path, help="the configuration of `scale`, default scale.toml")
    parser.add_argument("--without-peers", action="store_true", help="measure the service itself only")
    parser.add_argument("--with-servers", action="store_true", help="`reads` beside Granian and nginx, too")
    parser.add_argument(
        "--against", type=Path, metavar="CLONE", help="compare with the commit of another clone, in turn"
    )
    given = parser.parse_args(arguments)
    known: Mapping[str, object] = compare.PARTS if given.against else BENCHMARKS
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"{unknown[0]!r} is not one of {', '.join(known)}")
    if given.against and not (given.against / "scripts" / "bench").is_file():
        parser.error(f"{given.against} is no clone: it has no scripts/bench")
    given.names = given.names or list(known)
    return given


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
