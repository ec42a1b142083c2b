"""JSON whose objects can have a field twice, and damage of such JSON as programs make it.

No number is replaced by another, because no parser can detect such damage.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any


class Table(list[tuple[str, Any]]):
    """A JSON object as its fields in order, so that a field can occur twice."""


def table_of(value: Any) -> Any:
    """Return a value with its objects as tables."""
    if isinstance(value, dict):
        return Table((name, table_of(inner)) for name, inner in value.items())
    return [table_of(inner) for inner in value] if isinstance(value, list) else value


def text_of(value: Any, comma: str = ", ", colon: str = ": ") -> str:
    """Return the JSON of a value with tables."""
    if isinstance(value, Table):
        fields = (f"{json.dumps(name)}{colon}{text_of(inner, comma, colon)}" for name, inner in value)
        return f"{{{comma.join(fields)}}}"
    if isinstance(value, list):
        return f"[{comma.join(text_of(item, comma, colon) for item in value)}]"
    return json.dumps(value)


def parts_of(value: Any) -> Iterator[Any]:
    """Yield every table and every list within a value, including the value itself."""
    if isinstance(value, list):
        yield value
        for inner in value:
            yield from parts_of(inner[1] if isinstance(value, Table) else inner)


def tables_of(whole: Any, *having: str) -> list[list[Table]]:
    """Return all tables that have the field, by their sort; a sort is the names of a table's fields."""
    sorts: dict[frozenset[str], list[Table]] = {}
    for value in parts_of(whole):
        if isinstance(value, Table) and value:
            names = frozenset(name for name, _ in value)
            if not having or names & {*having}:
                sorts.setdefault(names, []).append(value)
    return [*sorts.values()]


def one_of(random: Random, whole: Any, *having: str) -> tuple[Table, list[Table]]:
    """Choose a sort first and then one of its tables, because some sorts have few; return all as well."""
    alike = random.choice(tables_of(whole, *having))
    return random.choice(alike), alike


def put(table: Table, name: str, value: Any) -> None:
    """Give a field another value."""
    table[:] = [(known, value if known == name else old) for known, old in table]


def get(table: Table, name: str) -> Any:
    """Return the first value of a field, None if the table lacks it."""
    return next((value for known, value in table if known == name), None)


def list_of(random: Random, whole: Any, least: int) -> list[Any] | None:
    """Choose a sort first and then one of its lists with at least `least` tables; None without any list."""
    sorts: dict[str, list[list[Any]]] = {} if isinstance(whole, Table) else {"": [whole]}
    for table in parts_of(whole):
        for name, value in table if isinstance(table, Table) else ():
            if isinstance(value, list) and not isinstance(value, Table):
                sorts.setdefault(name, []).append(value)
    long = [[of for of in alike if len(of) >= least] for alike in sorts.values()]
    return random.choice(random.choice([alike for alike in long if alike] or [[[]]])) or None


def remove_field(random: Random, whole: Any) -> None:
    """Remove any field."""
    table, _ = one_of(random, whole)
    del table[random.randrange(len(table))]


def double_field(random: Random, whole: Any) -> None:
    """Repeat a field: with its own value, or with the value in another table of the same sort."""
    table, alike = one_of(random, whole)
    name, value = random.choice(table)
    others = [found for item in alike if (found := get(item, name)) is not None]
    table.insert(random.randint(0, len(table)), (name, random.choice((value, *others))))


def change_type(random: Random, whole: Any, more: Sequence[Any] = ()) -> None:
    """Give a field a value of another type, or one of the values that a test names."""
    table, _ = one_of(random, whole)
    name, value = random.choice(table)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    others = [None, True, False, 0, -1, 10**30, "", [], Table(), [value], Table([(name, value)]), *more]
    if is_number:
        others = [each for each in others if isinstance(each, bool) or not isinstance(each, int | float)]
    put(table, name, random.choice(others if isinstance(value, str) else [*others, str(value)]))


def remove_item(random: Random, whole: Any) -> None:
    """Remove an item of any list."""
    if (listed := list_of(random, whole, 1)) is not None:
        del listed[random.randrange(len(listed))]


def double_item(random: Random, whole: Any) -> None:
    """Repeat an item: unchanged, with other prices, or with damage in the copy."""
    if (listed := list_of(random, whole, 1)) is not None:
        copy = deepcopy(random.choice(listed))
        factor = random.choice((1.0, 1.1, 0.9))
        for table in (some for alike in tables_of(copy, "price") for some in alike):
            put(table, "price", get(table, "price") * factor)
        if not tables_of(copy, "price"):
            random.choice((remove_field, change_type))(random, copy)
        listed.insert(random.randint(0, len(listed)), copy)


def merge_items(random: Random, whole: Any) -> None:
    """Remove the boundary between two items, so that one item has the fields of both."""
    if (listed := list_of(random, whole, 2)) is not None:
        at = random.randrange(len(listed) - 1)
        listed[at : at + 2] = [Table([*listed[at], *listed[at + 1]])]


def reorder(random: Random, whole: Any) -> None:
    """Shuffle all fields and items."""
    for listed in list(parts_of(whole)):
        random.shuffle(listed)
