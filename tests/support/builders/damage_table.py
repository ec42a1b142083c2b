"""Damaged tables of invented matches, and what a reader that shares no code with ours finds in them.

A price is wrong if it differs from the undamaged table's price for that match, and from the damaged text's
price by the simplest reading: one line, split at each delimiter, the header's names over its cells.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import Match
from actors.core.validation import Bounds, admit
from actors.markets.market import Kind
from actors.sources.table.kind import KIND
from tests.support.builders.damage import Trial
from tests.support.builders.messages import batch
from tests.support.builders.table import COLUMNS, ZONE, decoded, options_of

ANY_SUM = Bounds(
    0.01, 100.0, book_sums=dict.fromkeys(Kind, (0.01, 100.0)), kinds=tuple(Kind)
)  # of prices that are drawn at random
IS_INVENTED = True  # these trials need no recordings
BERLIN = ZoneInfo("Europe/Berlin")
KEYS = ("Nord", "Süd")
CUT = "cut the end"
NAMES = (
    "1. FC Köln",
    "Mainz 05",
    "Alder Town",
    "Birch, Sons",
    "Ílhavo",
    "Cedar City",
    "VfL Osnabrück",
    "Dale",
)
FORMS: Mapping[str, Callable[[float], str]] = {
    "decimal": lambda price: f"{price:.2f}",
    "comma": lambda price: f"{price:.2f}".replace(".", ","),
    "american": lambda price: f"{100 * (price - 1):+.0f}" if price >= 2 else f"{-100 / (price - 1):.0f}",
    "fractional": lambda price: f"{100 * (price - 1):.0f}/100",
}

Said = tuple[str, str, int | None, str, str, tuple[float, ...]]
"""Home, away, start (Unix seconds), the key of the bookmaker, the market and its prices."""

OTHERS: Mapping[str, tuple[str, ...]] = {
    "over_under:2.5": ("over", "under"),
    "asian_handicap": ("home", "away"),
    "btts": ("yes", "no"),
}
OF_LINE = "Line"  # the column, common to all bookmakers, of the home team's line


class Written(NamedTuple):
    """An undamaged table: its bytes, its options, and its columns in the form that the oracle needs."""

    body: bytes
    options: dict[str, Any]
    form: str
    delimiter: str
    encoding: str
    day: str


def trial(random: Random, kind: str | None = None) -> Trial:
    """Damage a table, and compare each shown price with the undamaged and the damaged text."""
    kind = random.choice(KINDS) if kind is None else kind
    made = _written(random)
    body = _DAMAGES[kind](random, made)
    true = {*_said(made.body, made)}
    if kind != CUT:  # a cut table may have prices that the undamaged table has not
        true |= {*_said(body, made)}
    rejected: Counter[str] = Counter()
    accepted, wrong = 0, []
    options = options_of(**made.options)
    try:
        table = decoded(body, options)
    except PayloadError:
        return Trial(kind, 0, Counter(["file"]), ())
    for key in KEYS:
        try:
            read = run_now(KIND.extract(table, key, options))
        except PayloadError:
            rejected["column"] += 1
            continue
        passed = run_now(admit(batch(read.matches, removals=read.removals, kinds=()), ANY_SUM))
        rejected.update(passed.rejected)
        rejected.update(read.passed_over)
        accepted += len(passed.batch.matches)
        wrong += [
            f"{match} in {body!r}" for match in passed.batch.matches if _as_said(match, key) not in true
        ]
    return Trial(kind, accepted, rejected, tuple(wrong))


def _as_said(match: Match, key: str) -> Said:
    prices = tuple(round(price, 6) for price in match.prices)
    return match.home, match.away, match.begun_by, key, str(match.market), prices


def _written(random: Random) -> Written:
    """Write some matches in a random form."""
    form, day = random.choice([*FORMS]), random.choice(("%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y"))
    encoding = random.choice(("utf-8", "utf-8", "cp1252"))
    is_json = random.random() < 0.25
    delimiter = random.choice(";\t|" if form == "comma" else ",;\t|")
    is_by_row = random.random() < 0.4
    more = [f"{market} {side}" for market, sides in OTHERS.items() for side in sides]
    sides = [*"1X2", *more]
    prices = [f"{key} {side}" for key in KEYS for side in sides]
    names = [
        "League",
        "Date",
        "Time",
        "Home",
        "Away",
        OF_LINE,
        *(["Book", *sides] if is_by_row else prices),
    ]
    if random.random() < 0.3:
        random.shuffle(names)
    rows = [
        row
        for _ in range(random.randint(3, 9))
        for row in _match(random, FORMS[form], day, is_by_row=is_by_row)
    ]
    options: dict[str, Any] = {**COLUMNS, **ZONE, "delimiter": delimiter, "encoding": encoding}
    options |= {
        name: f"{'' if is_by_row else '{key} '}{side}"
        for name, side in zip(("one", "draw", "two"), "1X2", strict=True)
    }
    options["markets"] = {
        market: {side: f"{'' if is_by_row else '{key} '}{market} {side}" for side in sides}
        for market, sides in OTHERS.items()
    }
    options["markets"]["asian_handicap"]["line"] = OF_LINE
    options |= {"bookmaker": "Book"} if is_by_row else {}
    options |= {"date_format": "iso" if day == "%Y-%m-%d" else day, "decimal_comma": form == "comma"}
    options["odds_format"] = "decimal" if form == "comma" else form
    if is_json:
        options |= {"format": "jsonl"}
        lines = [json.dumps({name: row[name] for name in names}, ensure_ascii=False) for row in rows]
    else:
        lines = [delimiter.join(names)]
        lines += [delimiter.join(_quoted(row[name], delimiter) for name in names) for row in rows]
    end = random.choice(("\n", "\r\n"))
    return Written(
        "".join(line + end for line in lines).encode(encoding), options, form, delimiter, encoding, day
    )


def _quoted(cell: str, delimiter: str) -> str:
    return f'"{cell}"' if delimiter in cell else cell


def _match(
    random: Random, write: Callable[[float], str], day: str, *, is_by_row: bool
) -> Iterator[dict[str, str]]:
    home, away = random.sample(NAMES, 2)
    on_the, hour, minute = random.randint(1, 28), random.randint(10, 22), random.choice((0, 15, 30, 45))
    start = datetime(2026, 12, on_the, hour, minute, tzinfo=BERLIN)
    row = {
        "League": random.choice(("Liga", "2. Liga", "")),
        "Date": start.strftime(day),
        "Time": random.choice((f"{start:%H:%M}", f"{start:%H:%M}", "")),
        "Home": home,
        "Away": away,
        OF_LINE: f"{random.randint(-8, 8) / 4:g}",
    }
    if write is FORMS["comma"]:
        row[OF_LINE] = row[OF_LINE].replace(".", ",")
    more = [f"{market} {side}" for market, sides in OTHERS.items() for side in sides]
    for key in KEYS:
        prices = {side: write(random.randint(110, 900) / 100) for side in [*"1X2", *more]}
        if is_by_row:
            yield {**row, "Book": key, **prices}
        row |= {f"{key} {side}": price for side, price in prices.items()}
    if not is_by_row:
        yield row


def _said(body: bytes, made: Written) -> Iterator[Said]:
    """Read a table in the simplest way, and yield each price that a line may mean."""
    text = body.decode(made.encoding, "replace")
    names: list[str] = []
    for line in re.split(r"\r\n|\n|\r", text):
        if made.options.get("format") == "jsonl":
            try:
                row = json.loads(line, parse_float=str, parse_int=str)
            except ValueError:
                continue
            row = row if isinstance(row, dict) else {}
        else:
            cells = [cell.strip() for cell in _cells(line, made.delimiter)]
            if not names or {"Home", "Away"} <= {*cells}:  # the header of another table that follows
                names = cells
            if len(cells) != len(names):
                continue
            row = dict(zip(names, cells, strict=True))
        row = {name: cell for name, cell in row.items() if isinstance(cell, str)}
        yield from _of_row(row, made)


def _cells(line: str, delimiter: str) -> list[str]:
    parts = re.findall(
        rf'(?:^|(?<=[{re.escape(delimiter)}]))(?:"((?:[^"]|"")*)"|([^{re.escape(delimiter)}]*))(?=[{re.escape(delimiter)}]|$)',
        line,
    )
    return [(quoted or plain).replace('""', '"') for quoted, plain in parts]


def _of_row(row: dict[str, str], made: Written) -> Iterator[Said]:
    home, away = (" ".join(row.get(name, "").split()) for name in ("Home", "Away"))
    start = _start(row.get("Date", "").strip(), row.get("Time", "").strip(), made.day)
    for key in KEYS:
        if "Book" in row and row["Book"].strip() != key:
            continue
        before = "" if "Book" in row else f"{key} "
        for market, sides in (("1x2", tuple("1X2")), *OTHERS.items()):
            columns = [side if market == "1x2" else f"{market} {side}" for side in sides]
            prices = [_price(row.get(f"{before}{column}", "").strip(), made.form) for column in columns]
            named = market if market != "asian_handicap" else _handicap(row.get(OF_LINE, ""), made.form)
            if start is not None and None not in prices:
                yield home, away, start, key, named, tuple(round(price or 0.0, 6) for price in prices)


def _handicap(cell: str, form: str) -> str:
    """Return the market of a written line, without the code of the product."""
    try:
        line = Fraction(cell.strip().replace(",", ".") if form == "comma" else cell.strip())
    except (ValueError, ZeroDivisionError):
        return ""
    return f"asian_handicap:{float(line):g}" if (4 * line).denominator == 1 else ""


def _start(day: str, clock: str, form: str) -> int | None:
    half = re.fullmatch(r"(.*?) ?([AaPp])[Mm]", clock)
    try:
        at = datetime.strptime(day, form).replace(tzinfo=BERLIN)
        if not clock:
            return int(at.replace(hour=23, minute=59).timestamp()) + 60
        hour, minute, *second = map(int, re.split("[:.]", half[1] if half else clock))
        return int(at.replace(hour=hour, minute=minute, second=sum(second)).timestamp())
    except ValueError:
        return None


def _price(cell: str, form: str) -> float | None:
    """Read a price written in `form`, without the code of the product."""
    try:
        if form == "fractional":
            over, _, under = cell.partition("/")
            return 1 + int(over) / int(under)
        if form == "american":
            number = int(cell)
            return 1 + (number / 100 if number > 0 else -100 / number)
        return float(cell.replace(",", ".") if form == "comma" else cell)
    except (ValueError, ZeroDivisionError):
        return None


def _flipped(random: Random, made: Written) -> bytes:
    """Change some bytes anywhere."""
    body = bytearray(made.body)
    for _ in range(random.randint(1, 4)):
        body[random.randrange(len(body))] ^= 1 << random.randrange(8)
    return bytes(body)


def _cut(random: Random, made: Written) -> bytes:
    """Cut off the end of the table."""
    return made.body[: random.randrange(len(made.body))]


def _lost(random: Random, made: Written) -> bytes:
    """Lose a piece out of the middle of the table."""
    first = random.randrange(len(made.body))
    return made.body[:first] + made.body[first + random.choice((1, 2, 5, 20, 80)) :]


def _of_lines(change: Callable[[Random, list[str], int, str], None]) -> Callable[[Random, Written], bytes]:
    def damage(random: Random, made: Written) -> bytes:
        lines = made.body.decode(made.encoding).splitlines(keepends=True)
        change(random, lines, random.randrange(len(lines)), made.delimiter)
        return "".join(lines).encode(made.encoding, "replace")

    return damage


def _moved_cells(random: Random, lines: list[str], at: int, delimiter: str) -> None:
    """Exchange, lose or double a cell of a line, as when a column was moved in a part of a file."""
    cells = lines[at].rstrip("\r\n").split(delimiter)
    first, other = random.randrange(len(cells)), random.randrange(len(cells))
    match random.randrange(3):
        case 0:
            cells[first], cells[other] = cells[other], cells[first]
        case 1:
            del cells[first]
        case _:
            cells.insert(first, cells[other])
    lines[at] = delimiter.join(cells) + "\n"


def _moved_columns(random: Random, lines: list[str], at: int, delimiter: str) -> None:
    """Move a column in all lines from `at` on, as when two tables were joined, perhaps with its header."""
    header = lines[0].rstrip("\r\n").split(delimiter)
    first, other = random.randrange(len(header)), random.randrange(len(header))
    joined = [lines[0]] if at and random.random() < 0.7 else []
    moved = []
    for line in (*joined, *lines[at:]):
        cells = line.rstrip("\r\n").split(delimiter)
        cells.insert(min(other, len(cells)), cells.pop(min(first, len(cells) - 1)))
        moved.append(delimiter.join(cells) + "\n")
    lines[at:] = moved


def _delimiters(random: Random, lines: list[str], at: int, delimiter: str) -> None:
    """Write another delimiter in one line, in all lines, or in one place."""
    other = random.choice(",;\t| ")
    if random.random() < 0.3:
        lines[:] = [line.replace(delimiter, other) for line in lines]
    elif random.random() < 0.5:
        lines[at] = lines[at].replace(delimiter, other)
    else:
        place = random.randrange(len(lines[at]))
        lines[at] = lines[at][:place] + random.choice((delimiter, other, '"', "\n")) + lines[at][place:]


def _joined(random: Random, lines: list[str], at: int, delimiter: str) -> None:
    """Lose a line end, double a line, or put a piece of one line behind another line."""
    match random.randrange(3):
        case 0:
            lines[at] = lines[at].rstrip("\r\n") + random.choice(("", delimiter))
        case 1:
            lines.insert(random.randrange(len(lines)), lines[at])
        case _:
            lines[at] = lines[at].rstrip("\r\n") + lines[-1][random.randrange(len(lines[-1])) :]


def _digits(random: Random, lines: list[str], at: int, delimiter: str) -> None:
    """Write points as commas, or commas as points, in one line or in all lines."""
    del delimiter
    forms = [(r"(?<=\d)\.(?=\d)", ","), (r"(?<=\d),(?=\d)", "."), (r"(?<=\d)[.,/](?=\d)", "")]
    form, other = random.choice(forms)
    for number in range(len(lines)) if random.random() < 0.4 else [at]:
        lines[number] = re.sub(form, other, lines[number])


_DAMAGES: Mapping[str, Callable[[Random, Written], bytes]] = {
    "flip bytes": _flipped,
    CUT: _cut,
    "lose bytes": _lost,
    "move cells": _of_lines(_moved_cells),
    "move columns": _of_lines(_moved_columns),
    "delimiters": _of_lines(_delimiters),
    "join lines": _of_lines(_joined),
    "points and commas": _of_lines(_digits),
}
KINDS = tuple(_DAMAGES)
