"""Damaged football-data.co.uk files: a recorded file with a few lines damaged as in real errors.

Half of the files are longer and written as Excel does, without blank cells at the end of lines. Each line
is damaged at most once: a second damage can restore the width of a row whose prices have moved, and no
parser can detect that. Nor can it detect a damaged header if only one row is left to compare it
with and that row is damaged in the same way, nor a block of which most lines are damaged alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import Match
from actors.core.validation import Bounds, admit
from actors.markets.market import Kind
from actors.sources.football_data.kind import KIND
from tests.support.builders.damage import Trial
from tests.support.builders.football_data import ALL_MARKETS, as_excel, decoded, kick_off
from tests.support.builders.messages import batch
from tests.support.recordings import football_data

CODES = ("B365", "BFD", "BMGM", "BV", "BW", "CL", "LB", "PS", "BFE", "WH", "1XB", "BF", "IW", "VC", "GB")
MAX_LINES = 6
BLOCK_LINES = 16
LONG = range(17, 50)
"""The numbers of lines of a file as Excel writes it: its second block of 16 lines may be narrower."""
SEVERAL = "three lines"
FEW = 3
"""The number of damaged lines for `SEVERAL`, fewer than the other lines of `MAX_LINES`."""
_PREFIXES = {"PS": "P"}
LINE_ENDS = ("\r\n", "\n", "\r")

Place = tuple[str, str, int | None, str]
"""Home, away, start (Unix seconds) and the name of a price column, such as B365H.

The name of a handicap ends with its line, as in B365AHH -0.25.
"""

Damage = Callable[[Random, list[str], int], None]
"""A function that damages the line at a given index in place."""


class Recorded(NamedTuple):
    """One recorded file as text: its lines without line ends, and the values in the cells of each line."""

    header: str
    lines: list[str]
    prices: list[Mapping[Place, float]]
    codes: tuple[str, ...]


def trial(random: Random, kind: str | None = None) -> Trial:
    """Damage some lines of a recorded file and compare each shown price with the undamaged lines."""
    kind = random.choice(KINDS) if kind is None else kind
    file = random.choice(recorded())
    count = MAX_LINES if kind == SEVERAL else random.randint(1, MAX_LINES)
    if is_long := random.random() < 0.5:
        count = min(random.choice(LONG), len(file.lines))
        while kind == SEVERAL and 0 < (count + 1) % BLOCK_LINES <= 2 * FEW:
            count -= 1
    first = random.randint(0, len(file.lines) - count)
    chosen = slice(first, first + count)
    lines = [file.header, *file.lines[chosen]]
    if is_long:
        lines = as_excel(lines)
    if kind == SEVERAL:
        for at in sorted(random.sample(range(len(lines)), FEW), reverse=True):
            random.choice([*_DAMAGES.values()])(random, lines, at)
    else:
        _DAMAGES[kind](random, lines, random.randrange(len(lines)))
    body = "".join(line + "\r\n" for line in lines).encode()
    return _judged(kind, body, file.codes, file.prices[chosen])


def _judged(kind: str, body: bytes, codes: tuple[str, ...], unharmed: list[Mapping[Place, float]]) -> Trial:
    rejected: Counter[str] = Counter()
    shown: dict[Place, float] = {}
    accepted, kinds = 0, set[Kind]()
    try:
        sheet = decoded(body)
    except PayloadError:
        return Trial(kind, 0, Counter(["file"]), ())
    for code in codes:
        try:
            extract = run_now(KIND.extract(sheet, code, ALL_MARKETS))
        except PayloadError:
            rejected["column"] += 1
            continue
        bounds = Bounds(kinds=ALL_MARKETS.kinds)
        admission = run_now(admit(batch(extract.matches, removals=extract.removals, kinds=()), bounds))
        rejected.update(extract.passed_over)
        rejected.update(admission.rejected)
        accepted += len(admission.batch.matches)
        for match in admission.batch.matches:
            shown.update(_places(match, code))
            kinds.add(match.market.kind)
    there = {item for line in unharmed for item in line.items()}
    wrong = tuple(
        f"{place} {price} in {body!r}" for place, price in shown.items() if (place, price) not in there
    )
    return Trial(kind, accepted, rejected, wrong, frozenset(kinds))


def _places(match: Match, code: str) -> dict[Place, float]:
    prefix, line = code, match.market.line
    names = ["H", "D", "A"]
    if match.market.kind is Kind.OVER_UNDER:
        prefix, names = _PREFIXES.get(code, code), [f">{line}", f"<{line}"]
    elif match.market.kind is Kind.ASIAN_HANDICAP:
        prefix, names = _PREFIXES.get(code, code), [f"AHH {line}", f"AHA {line}"]
    return {
        (match.home, match.away, match.start_time, prefix + name): price
        for name, price in zip(names, match.prices, strict=True)
    }


@cache
def recorded() -> list[Recorded]:
    """Read the recorded files that have prices; finished matches are changed back to upcoming ones."""
    paths = [
        path for folder in ("fixtures", "seasons", "quirks") for path in football_data(folder, "*.csv")
    ]
    return [file for file in map(_read, paths) if file.codes]


def _read(path: Path) -> Recorded:
    body = path.read_bytes()
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = body.decode("cp1252")
    text = text.replace(",FTHG,", ",Goals,", 1).replace(",HG,", ",Goals,", 1)
    header, *lines = text.splitlines()
    header = header if ",PSH," in header else header.replace(",PSC", ",PS")
    names = header.split(",")
    codes = tuple(code for code in CODES if {code + side for side in "HDA"} <= set(names))
    lines = [line for line in lines if line.strip(", ")]
    columns = [code + side for code in codes for side in "HDA"]
    others = [_PREFIXES.get(code, code) + end for code in codes for end in (">2.5", "<2.5", "AHH", "AHA")]
    columns += [name for name in others if name in names]
    return Recorded(header, lines, [_prices(names, line, columns) for line in lines], codes)


def _prices(names: list[str], line: str, columns: list[str]) -> dict[Place, float]:
    cells = dict(zip(names, line.split(","), strict=True))
    home, away = (
        " ".join(next(cells[name] for name in found if name in cells).split())
        for found in (("HomeTeam", "Home", "HT"), ("AwayTeam", "Away", "AT"))
    )
    start = kick_off(cells["Date"], cells.get("Time", ""))
    line = f" {float(cells.get('AHh') or 'nan')}"
    return {
        (home, away, start, name + line * (name[-3:-1] == "AH")): float(cells[name])
        for name in columns
        if _is_number(cells[name])
    }


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[0-9.]+", cell) is not None


def _delete(random: Random, lines: list[str], at: int) -> None:
    cells = lines[at].split(",")
    del cells[random.randrange(len(cells))]
    lines[at] = ",".join(cells)


def _double(random: Random, lines: list[str], at: int) -> None:
    cells = lines[at].split(",")
    place = random.randrange(len(cells))
    lines[at] = ",".join([*cells[: place + 1], *cells[place:]])


def _split(random: Random, lines: list[str], at: int) -> None:
    """Cut a cell in two, between two of its characters if it has any."""
    cells = lines[at].split(",")
    place = random.choice([place for place, cell in enumerate(cells) if cell])
    cut = random.randint(1, max(len(cells[place]) - 1, 1))
    cells[place] = f"{cells[place][:cut]},{cells[place][cut:]}"
    lines[at] = ",".join(cells)


def _comma(random: Random, lines: list[str], at: int) -> None:
    lines[at] = _with(lines[at], random.randint(0, len(lines[at])), random.choice((",", ", ", ",,")))


def _quote(random: Random, lines: list[str], at: int) -> None:
    """Insert one quotation mark anywhere, or a pair around cells, perhaps across two lines."""
    if random.random() < 0.3:
        lines[at] = _with(lines[at], random.randint(0, len(lines[at])), '"')
        return
    until = random.choice((at, random.randrange(at, len(lines))))
    cells, others = lines[at].split(","), lines[until].split(",")
    place = random.randrange(len(cells))
    close = random.choice((place, random.randrange(len(others))))
    if at == until:
        close = max(place, close)
        cells[close] += '"'
    elif close < len(others):
        others[close] += '"'
        lines[until] = ",".join(others)
    cells[place] = '"' + cells[place]
    lines[at] = ",".join(cells)


def _decimal_comma(random: Random, lines: list[str], at: int) -> None:
    """Write one number, all numbers of a line or all of the file with a decimal comma, perhaps quoted."""
    form = random.choice((r"\1,\2", r"\1,\2", r'"\1,\2"'))
    numbers = r"(?<![^,])([0-9]+)\.([0-9]+)(?![^,])"
    if random.random() < 0.2:
        lines[1:] = [re.sub(numbers, form, line) for line in lines[1:]]
    elif found := [*re.finditer(numbers, lines[at])]:
        choice = random.choice(found)
        whole = re.sub(numbers, form, lines[at])
        single = lines[at][: choice.start()] + choice.expand(form) + lines[at][choice.end() :]
        lines[at] = random.choice((whole, single))


def _cut(random: Random, lines: list[str], at: int) -> None:
    """Break a line in two, or remove at least one cell from its end."""
    line = lines[at]
    if random.random() < 0.3:
        lines[at] = line[: random.randint(0, line.rindex(","))]
    else:
        lines[at] = _with(line, random.randint(0, len(line)), random.choice(LINE_ENDS))


def _join(random: Random, lines: list[str], at: int) -> None:
    """Remove the line end or replace it by a blank; the last line is joined to the one above it."""
    at = min(at, len(lines) - 2)
    lines[at : at + 2] = [random.choice(("", "", " ", ",")).join(lines[at : at + 2])]


def _with(line: str, place: int, piece: str) -> str:
    return line[:place] + piece + line[place:]


_DAMAGES: Mapping[str, Damage] = {
    "delete a cell": _delete,
    "double a cell": _double,
    "split a cell": _split,
    "stray comma": _comma,
    "stray quotes": _quote,
    "decimal comma": _decimal_comma,
    "cut a line": _cut,
    "join lines": _join,
}
KINDS = (*_DAMAGES, SEVERAL)
