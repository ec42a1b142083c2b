"""The arguments of `oddsboard get` and `oddsboard watch`; their code is imported when they run."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from web.cli.asking import URL
from web.server.lifecycle import Exit

SUBJECTS = ("odds", "fixtures", "surebets", "value", "closing")
FORMATS = ("table", "csv", "json")
Command = Callable[[str, Callable[[argparse.Namespace], Exit], str], argparse.ArgumentParser]
_OPTIONS = {
    "bookmaker": ("ID", "only this bookmaker; of fixtures, surebets and value also several with commas"),
    "league": ("L", "only this league: a label, or the league_id of a fixture"),
    "market": ("M", "this market in place of 1x2, such as over_under:2.5"),
    "from": ("TIME", "matches with kick-off then or later, like 2026-12-05T15:00:00Z"),
    "to": ("TIME", "matches with kick-off before then"),
    "at": ("TIME|VERSION", "the list of that time, from the archive"),
    "min-profit": ("SHARE", "surebets with this profit or more: 0.01 is 1 %%"),
    "min-ev": ("SHARE", "values of this or more: 0.02 is 2 %% of the stake"),
    "reference": ("ID", "values by the fair odds of this bookmaker, not by the consensus"),
    "total": ("AMOUNT", "divide this total over the legs of each surebet"),
}
NAMES = {name: "from_" if name == "from" else name.replace("-", "_") for name in _OPTIONS}
"""The options that choose entries, each with the name of its value."""


def add(command: Command) -> None:
    """Add both commands."""
    get = command("get", _get, "print odds as a table, CSV or JSON")
    get.set_defaults(names=NAMES)
    get.add_argument("subject", choices=SUBJECTS, help="what to print")
    get.add_argument("--format", choices=FORMATS, default="table", help="default: %(default)s")
    for name, (shown, what) in _OPTIONS.items():
        get.add_argument(f"--{name}", dest=NAMES[name], metavar=shown, help=what)
    watch = command("watch", _watch, "show prices and their moves in the terminal, until Ctrl+C")
    watch.add_argument("--best", action="store_true", help="best prices, a row for each match")
    for name in ("league", "market", "bookmaker"):
        shown, what = _OPTIONS[name]
        watch.add_argument(f"--{name}", metavar=shown, help=what.partition(";")[0])
    for added in (get, watch):
        added.add_argument("--url", default=URL, help="the service; default: %(default)s")


def _get(given: argparse.Namespace) -> Exit:
    from web.cli.boards.get import run  # noqa: PLC0415 - a service needs no tables

    return run(given)


def _watch(given: argparse.Namespace) -> Exit:
    from web.cli.boards.watch import run  # noqa: PLC0415 - a service needs no screen

    return run(given)
