"""Writes a configuration that fits a table, and marks the options that a person must set. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Any, Final

from anyascii import anyascii
from msgspec import convert

from actors.markets.market import Kind
from actors.sources.table.guessing_markets import guessed_markets
from actors.sources.table.odds import price
from actors.sources.table.options import ISO, KEY, UNIX, UNIX_MS, Column, TableOptions
from actors.sources.table.starts import moment_of, start_of
from actors.sources.table.text import Columns, lines_of

MAX_BYTES: Final = 1024 * 1024  # the part of a table that is examined
MAX_BOOKMAKERS: Final = 50
_ROLES: Final[Mapping[str, str]] = {
    "home": "home hometeam teamhome team1 heim heimteam heimmannschaft local equipolocal domicile casa",
    "away": "away awayteam teamaway team2 gast gastteam gastmannschaft auswarts visitante exterieur ospite",
    "league": "league liga competition comp div division wettbewerb tournament ligue campionato",
    "bookmaker": "bookmaker bookie buchmacher sportsbook operator wettanbieter anbieter",
    "id": "id matchid eventid fixtureid spielid gameid",
    "updated": "updated lastupdate updatedat lastupdated stand timestamp",
    "when": "start starttime startsat kickoff kickofftime commencetime datetime anpfiff spielbeginn date"
    " datum fecha data matchdate eventdate jour time zeit uhrzeit hora heure ora anstoss matchtime",
}
_SIDES: Final = ("home draw away", "heim remis gast", "one draw two", "1 x 2", "h d a")
_PLAIN: Final = frozenset({"", "odds", "price", "prices", "quote", "quota", "cote"})  # no bookmakers
_AGGREGATES: Final = frozenset({"max", "avg", "min", "mean", "best", "bbmx", "bbav"})
_FORMATS: Final = (("decimal", False), ("decimal", True), ("american", False), ("fractional", False))
_DAYS: Final = ("%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%Y/%m/%d", "%d/%b/%Y", "%b/%d/%Y")
_CLOCKS: Final = ("", " %H:%M", " %H:%M:%S", " %I:%M %p")
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,/:T Z+-]{2,}").fullmatch
_TIME = re.compile(r"[0-9]{1,2}[:.][0-9]{2}(:[0-9]{2})?( ?[AaPp][Mm])?").fullmatch


def configuration_of(path: str, body: bytes) -> tuple[str, tuple[str, ...]]:
    """Return a configuration for the table at `path`, and the options that a person must set first.

    Raises: PayloadError for a text that is not a table.
    """
    guess = _Guess(body[: body.rfind(b"\n", 0, MAX_BYTES) + 1] or body)
    keys = guess.prices(PurePath(path).stem) if guess.values else [""]
    guess.times()
    needed = ("home", "away", *([] if {"start", "date"} & guess.options.keys() else ["start"]))
    for name in (*needed, "one", "draw", "two"):
        if name not in guess.options:
            guess.put(name, "", f"which of: {', '.join(map(str, guess.values))[:200]}")
    asked = tuple(name for name, value in guess.options.items() if value == "")
    lines = [
        "# A guess at each option, made of the table. Check them all.",
        '[sources.table]\nkind = "table"',
        f"path = {_quoted(path)}",
        'prices = "collected"  # or "live": they then hold for stale_after_s after the table was written',
        *(f"{name} = {_quoted(value)}{guess.remarks[name]}" for name, value in guess.options.items()),
    ]
    lines += guess.markets(keys)
    for name, key in _named(keys).items():
        lines.append(
            f'\n[bookmakers.{name}]\nname = {_quoted(key)}\nsource = "table"\nkey = {_quoted(key)}'
        )
    return "\n".join([*lines, ""]), asked


class _Guess:
    """The options guessed so far, with remarks, and each column's values without blanks."""

    def __init__(self, body: bytes) -> None:
        self.options: dict[str, Any] = {}
        self.remarks: dict[str, str] = {}
        encoding = self._encoding(body)
        if body.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"{"):
            self.put("format", "jsonl")
            names, rows = _cells(body, format="jsonl", encoding=encoding)
        else:
            names, rows = self._csv(body, encoding)
        self.count = len(rows)
        self.values: dict[Column, list[str]] = {
            name: [row[at] for row in rows if row[at:] and row[at]]
            for at, name in enumerate(names)
            if name and str(name).isprintable()
        }
        self._roles()

    def put(self, name: str, value: object, remark: str = "") -> None:
        """Set an option, and the remark behind it."""
        self.options[name] = value
        self.remarks[name] = f"  # {_printable(' '.join(remark.split()), '?')}" if remark else ""

    def _encoding(self, body: bytes) -> str:
        encoding, remark = "utf-8", ""
        if body.startswith((b"\xff\xfe", b"\xfe\xff")):
            encoding = "utf-16"
        else:
            try:
                body.decode()
            except UnicodeDecodeError:
                encoding = "cp1252"
                words = re.findall(r"\w*[^\x00-\x7f]\w*", body.decode(encoding, "replace"))
                remark = f"it is not utf-8; are these words right: {', '.join(dict.fromkeys(words))[:80]}"
        self.put("encoding", encoding, remark)
        return encoding

    def _csv(self, body: bytes, encoding: str) -> tuple[list[Column], list[list[str]]]:
        read = {mark: _cells(body, delimiter=mark, encoding=encoding)[1] for mark in ",;\t|"}
        widths = {mark: Counter(map(len, rows)).most_common(1) for mark, rows in read.items()}
        mark = max(
            widths,
            key=lambda mark: max(((width > 1) * count * width for width, count in widths[mark]), default=0),
        )
        rows = read[mark]
        has_header = bool(rows) and not any(map(_NUMBER, rows[0]))
        self.put("delimiter", mark)
        self.put("header", has_header)
        if not body.endswith((b"\n", b"\r")):
            self.remarks["header"] += "  # the last line has no end: it is not read, as it may be cut"
        if has_header:
            return [*rows[0]], rows[1:]
        return [*range(1, len(rows[0]) + 1 if rows else 1)], rows

    def _roles(self) -> None:
        """Guess the role of each column by its name, or by its values if there are no names."""
        plain = {name: re.sub("[^a-z0-9]", "", anyascii(str(name)).lower()) for name in self.values}
        self.moments: list[Column] = [name for name in plain if plain[name] in _ROLES["when"].split()]
        found = {
            role: next((name for name in plain if plain[name] in names.split()), None)
            for role, names in _ROLES.items()
        }
        if 1 in self.values:
            text = [
                name for name, values in self.values.items() if any(map(str.isalpha, "".join(values)[:9]))
            ]
            dated = [name for name in self.values if self._forms(self.values[name])]
            self.moments = dated + [
                name for name, v in self.values.items() if all(map(_TIME, v)) and ":" in "".join(v)
            ]
            teams = sorted(set(text) - set(self.moments), key=lambda name: -len({*self.values[name]}))[:2]
            found |= dict(zip(("home", "away"), sorted(teams, key=str), strict=False))
            found["league"] = next((name for name in text if name not in {*teams, *self.moments}), None)
        for role in ("home", "away", "league", "bookmaker", "id"):
            if (name := found[role]) is not None and self.values[name]:
                self.put(role, name, f"as in: {', '.join(dict.fromkeys(self.values[name]))[:60]}")
        if "id" in self.options and not self._is_id(self.values[self.options["id"]]):
            del self.options["id"]
        self._updated = found["updated"]

    def _is_id(self, values: Sequence[str]) -> bool:
        return len(values) == self.count and ("bookmaker" in self.options or len({*values}) == self.count)

    def prices(self, name: str) -> list[str]:
        """Guess columns and format of prices; return the bookmakers' keys."""
        groups = self._groups()
        columns, keys = max(groups.items(), key=lambda group: len(group[1]), default=((), []))
        if "bookmaker" in self.options and len(keys) > 1:
            del self.options["bookmaker"]
        if "bookmaker" in self.options:
            columns = tuple(_with_key(column, (*keys, "")[0]) for column in columns)
            keys = [*dict.fromkeys(self.values[self.options["bookmaker"]])][:MAX_BOOKMAKERS]
        placed = "" if self.options.get("header", True) else "by its place alone: check it"
        for outcome, column in zip(("one", "draw", "two"), columns, strict=False):
            self.put(outcome, column, placed)
        if not columns:
            return keys or [name]
        cells = [
            cell
            for key in keys or [""]
            for column in columns
            for cell in self.values.get(_with_key(column, key), ())
        ]
        fits = {form: sum(price(cell, form[0], comma=form[1]) > 0 for cell in cells) for form in _FORMATS}
        (odds_format, comma), most = max(fits.items(), key=lambda form: form[1])
        shown = f"{most} of {len(cells)} prices are written so, as {', '.join(dict.fromkeys(cells))[:40]}"
        if odds_format == "decimal" and fits["american", False] == most:
            odds_format, shown = "", f"decimal or american: every price may be either, as {cells[0]}"
        self.put("odds_format", odds_format, shown)
        self.put("decimal_comma", comma)
        return keys or [name]

    def markets(self, keys: Iterable[str]) -> Iterator[str]:
        """Yield tables of other markets in the header, as comments, because they are optional."""
        values = {str(name): cells for name, cells in self.values.items() if cells}
        priced = [name for name, cells in values.items() if all(map(_is_price, cells))]
        has_keys = KEY in str(self.options.get("one", ""))
        found = guessed_markets(priced, values, [*keys] if has_keys else [])
        if found:
            yield "\n# The header speaks of other markets: without the number signs their columns are read."
        for market, columns in found.items():
            if market == Kind.ASIAN_HANDICAP:
                yield "# Check that the line is the goals that are added to the home team."
            yield f"# [sources.table.markets.{_quoted(market)}]"
            yield from (f"# {role} = {_quoted(column)}" for role, column in columns.items())

    def _groups(self) -> dict[tuple[Column, ...], list[str]]:
        """Return triples of price columns with their keys; similar columns share a name with {key}."""
        groups: dict[tuple[Column, ...], list[str]] = {}
        priced = [name for name, values in self.values.items() if values and all(map(_is_price, values))]
        if 1 in self.values:
            runs = (tuple(range(at, at + 3)) for at in self.values if isinstance(at, int))
            return {run: [] for run in [run for run in runs if {*run} <= {*priced}][:1]}
        names = {str(name).lower(): str(name) for name in priced}
        for sides in map(str.split, _SIDES):
            for lower, name in names.items():
                for found in re.finditer(re.escape(sides[0]), lower):
                    before, behind = lower[: found.start()], lower[found.end() :]
                    columns = [names.get(f"{before}{side}{behind}") for side in sides]
                    key = name[: found.start()].rstrip(" _-.:")
                    if None in columns or key.lower() in _AGGREGATES:
                        continue
                    plain = key.lower() in _PLAIN
                    group = tuple(str(each) if plain else KEY + str(each)[len(key) :] for each in columns)
                    groups.setdefault(group, []).extend([] if plain else [key])
        return groups

    def times(self) -> None:
        """Guess columns and format of the start; mark it to be set if several formats fit."""
        of_day = [name for name in self.moments if all(map(_TIME, self.values[name]))]
        first = next((name for name in self.moments if name not in of_day and self.values[name]), None)
        if first is None:
            return
        values = self.values[first]
        forms = self._forms(values)
        if ":" in values[0] or forms[:1] in ([UNIX], [UNIX_MS]):
            of_day = []
        self.put("date" if of_day else "start", first, f"as in: {', '.join(values)[:60]}")
        if of_day:
            self.put("time", of_day[0], f"as in: {', '.join(self.values[of_day[0]])[:40]}")
        if forms != [ISO]:
            fits = " and ".join(map(_quoted, forms)) or "no form that is known"
            known = len(forms) == 1
            self.put("date_format", forms[0] if known else "", "" if known else f"every row fits {fits}")
        if of_day or (forms[:1] not in ([UNIX], [UNIX_MS]) and not all(map(_has_offset, values))):
            self.put(
                "timezone", "", 'the zone of these times, like "Europe/Berlin": the table does not say it'
            )
        if self._updated is not None and forms:
            options = _options(date_format=forms[0], timezone="UTC", time=of_day[0] if of_day else None)
            with suppress(ValueError):
                for cell in self.values[self._updated]:
                    moment_of(cell, options)
                self.put("updated", self._updated, "the time of a row's prices")

    @staticmethod
    def _forms(values: Sequence[str]) -> list[str]:
        """Return the formats of dates that fit every value."""
        if not values:
            return []
        if all(re.fullmatch(r"[0-9]{10}(\.[0-9]+)?|[0-9]{13}", value) for value in values):
            return [UNIX_MS if len(values[0]) == 13 else UNIX]  # noqa: PLR2004
        if _fit(ISO, values):
            return [ISO]
        days = [day.replace("/", mark) for mark in "/.- " for day in _DAYS]
        return [form for day in days for clock in _CLOCKS if _fit(form := day + clock, values)]


def _fit(form: str, values: Iterable[str]) -> bool:
    options = _options(date_format=form, timezone="UTC")
    with suppress(ValueError):
        return all(start_of(value, "", options) for value in values)
    return False


def _has_offset(value: str) -> bool:
    return re.search(r":[0-9]{2}(\.[0-9]+)? ?(Z|[+-][0-9]{2}:?[0-9]{2})$", value) is not None


def _options(**some: object) -> TableOptions:
    columns = {"home": 1, "away": 2, "one": 3, "draw": 4, "two": 5}
    return convert({"kind": "table", "path": "-", "header": False, **columns, **some}, TableOptions)


def _cells(body: bytes, **written: str) -> tuple[list[Column], list[list[str]]]:
    columns: Columns = {}
    rows = [line.cells for line in lines_of(body, _options(**written), columns) if not line.fault]
    return [*columns], rows


def _is_price(cell: str) -> bool:
    return any(price(cell, form, comma=comma) > 0 for form, comma in _FORMATS)


def _with_key(column: Column, key: str) -> Column:
    return column.replace(KEY, key) if isinstance(column, str) else column


def _named(keys: Iterable[str]) -> dict[str, str]:
    """Return bookmakers' ids for these keys."""
    named: dict[str, str] = {}
    for key in keys:
        name = re.sub("[^a-z0-9]+", "-", anyascii(key).lower()).strip("-")[:28] or "bookmaker"
        named[name if name not in named else f"{name}-{len(named)}"] = key
    return named


def _quoted(value: object) -> str:
    """Return a TOML value; TOML's escapes are JSON's."""
    return _printable(json.dumps(value, ensure_ascii=False), "\\u{:04x}")


def _printable(text: str, other: str) -> str:
    return "".join(each if each.isprintable() else other.format(ord(each)) for each in text)
