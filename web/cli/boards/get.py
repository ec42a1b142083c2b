"""`oddsboard get`: prints a list of a running service as a table, CSV or JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table as Columns
from rich.text import Text

from actors.archive.export import write_csv
from actors.core.errors import ConfigError, ServiceUnreachableError
from web import client
from web.client.tables import TIMES, Table, table
from web.client.values import Health
from web.server.lifecycle import Exit

POLICY = client.Policy(attempts=3)
WIDE = 100_000
"""The width in columns of an output that is no terminal."""
SUBJECTS: Mapping[str, tuple[Callable[..., client.Call[Any]], tuple[str, ...]]] = {
    "odds": (client.odds, ("bookmaker", "at")),
    "fixtures": (client.fixtures, ("bookmaker", "market", "league", "from_", "to")),
    "surebets": (client.surebets, ("bookmaker", "market", "league", "from_", "to", "min_profit", "total")),
    "value": (client.value, ("bookmaker", "market", "league", "min_ev", "reference")),
    "closing": (client.closing, ("bookmaker", "market", "league", "from_", "to")),
}
"""The lists that can be printed, and the options that choose entries from each."""


def run(given: argparse.Namespace) -> Exit:
    """Print the list. Raises: ServiceUnreachableError, ConfigError for an option of another list."""
    make, takes = SUBJECTS[given.subject]
    asked = {name: value for name in given.names.values() if (value := getattr(given, name)) is not None}
    if refused := [name for name, value in given.names.items() if value in asked and value not in takes]:
        allowed = ", ".join(f"--{name}" for name, value in given.names.items() if value in takes)
        raise ConfigError(f"get {given.subject} takes no --{refused[0]}, only {allowed}")
    with talking(given.url), client.Client(given.url, policy=POLICY) as service:
        for note in notes(service.get(client.health())) if given.subject != "closing" else ():
            sys.stderr.write(f"{note}\n")
        _print(given.format, make(**asked), service)
    return Exit.STOPPED


@contextmanager
def talking(url: str) -> Iterator[None]:
    """Turn errors of the client into errors of the command line."""
    try:
        yield
    except (client.OddsboardError, ValueError) as error:
        raise ServiceUnreachableError(f"{url}: {clean(str(error))}") from error


def notes(health: Health) -> Iterator[str]:
    """Yield a line for each kind of price on the board that is not an offer of now."""
    checks = health.checks.values()
    simulated = [clean(of.name) for of in checks if of.simulated]
    collected = [clean(of.name) for of in checks if of.prices == "collected"]
    for kind, names in (("simulated", simulated), ("collected earlier", collected)):
        if names:
            yield f"no offers, {kind}: {', '.join(names)}"


def clean(text: str) -> str:
    """Return a text from outside without characters that a terminal obeys."""
    return "".join(each if each.isprintable() else "?" for each in text)


def _print(form: str, call: client.Call[Any], service: client.Client) -> None:
    if form == "json":
        for answer in pages(replace(call, answer=dict), service):
            sys.stdout.write(f"{msgspec.json.encode(answer).decode()}\n")
        return
    parts = list[Table]()
    for answer in pages(call, service):
        parts.append(table(answer))
        if note := getattr(answer, "note", None):
            sys.stderr.write(f"{clean(note)}\n")
    columns = tuple(dict.fromkeys(name for part in parts for name in part.columns))
    rows = (dict(zip(part.columns, row, strict=True)) for part in parts for row in part.rows)
    if form == "csv":
        write_csv(
            ({name: _cell(name, row.get(name)) for name in columns} for row in rows), sys.stdout, columns
        )
        return
    show(Table(columns, [tuple(map(row.get, columns)) for row in rows]))


def pages(call: client.Call[Any], service: client.Client) -> Iterator[Any]:
    """Yield the answer of a call, and the answers with its next pages."""
    while True:
        answer = service.get(call)
        yield answer
        further = (
            answer.get("next_from") if isinstance(answer, dict) else getattr(answer, "next_from", None)
        )
        if further is None:
            return
        call = replace(call, parameters={**call.parameters, "from": str(further)})


def _cell(name: str, value: Any) -> Any:
    """Return a value as text or number; times in ISO 8601, which sheets and data frames read."""
    if name not in TIMES or not isinstance(value, int | float):
        return value
    return datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def show(found: Table) -> None:
    """Print a table; names are plain text, whatever is in them."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = WIDE
    shown = Columns(box=None, pad_edge=False, header_style="bold")
    for name in found.columns:
        shown.add_column(Text(name), overflow="fold", no_wrap=not console.is_terminal)
    for row in found.rows:
        values = zip(found.columns, row, strict=True)
        shown.add_row(
            *(Text("" if value is None else clean(str(_cell(name, value)))) for name, value in values)
        )
    if found.rows:
        console.print(shown)
    else:
        sys.stderr.write("nothing is listed\n")
