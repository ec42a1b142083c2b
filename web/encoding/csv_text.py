"""Rows of CSV (RFC 4180, UTF-8), made so that spreadsheets read each cell as it is meant.

Pure. Spreadsheets run a text that looks like a formula, and names of teams come from strangers.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO
from itertools import islice
from typing import Final

from msgspec import UNSET, UnsetType

ROWS: Final = 100
"""Rows written in a step: about a millisecond, during which no other thread runs."""
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
"""The first characters of formulas, also in their full-width forms."""
_BLANKS = frozenset("\t\r\n")
_EPOCH = datetime.fromtimestamp(0, UTC)


def rows(values: Iterable[Iterable[object]]) -> bytes:
    """Return rows, each ended by CRLF. Raises: UnicodeEncodeError for a lone surrogate."""
    written = StringIO(newline="")
    csv.writer(written, lineterminator="\r\n").writerows(map(cell, row) for row in values)
    return written.getvalue().encode()


def cell(value: object) -> str:
    """Return a value as the text of a cell; None and UNSET give an empty text.

    Numbers have a decimal point and no exponent. A text that may be read as a formula gets an apostrophe in
    front, as OWASP recommends (owasp.org/www-community/attacks/CSV_Injection).
    """
    if value is None or value is UNSET:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        shown = repr(value)
        return f"{Decimal(shown):f}" if "e" in shown else shown
    text = str(value)
    return f"'{text}" if text[:1] in _BLANKS or text.lstrip()[:1] in _FORMULA else text


def table(columns: Sequence[str], records: Iterable[Mapping[str, object]]) -> Iterator[bytes]:
    """Yield the names of the columns, then the rows of records that may lack some of these, in steps."""
    yield rows([columns])
    left = iter(records)
    while some := [*islice(left, ROWS)]:
        yield rows([record.get(name) for name in columns] for record in some)


def by_outcome(name: str, values: Mapping[str, object] | UnsetType | None) -> dict[str, object]:
    """Return the columns of a value of each outcome, such as `odds_1`."""
    return {f"{name}_{outcome}": value for outcome, value in values.items()} if values else {}


def utc(seconds: float | UnsetType | None) -> str:
    """Return Unix seconds as UTC, such as 2026-12-05 15:00:00, cut to whole seconds; nothing if unknown.

    Spreadsheets read this form of ISO 8601 (its `T` left out, as RFC 3339 allows) as a time.
    """
    if seconds is None or isinstance(seconds, UnsetType):
        return ""
    return (_EPOCH + timedelta(seconds=seconds // 1)).isoformat(" ")[:19]


def listed(values: Iterable[str]) -> str:
    """Return several texts as one cell."""
    return "; ".join(values)
