"""The tables [[alert]] of a configuration: their kinds, and the checks against the other tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeAlias

from actors.alerts.rules.rule import RULES, Rule, faults
from actors.core.messages import BookmakerId
from actors.core.nearest import did_you_mean

Read: TypeAlias = Callable[[Any, Any, type[Rule], str], Rule | None]
"""Takes a table as written, the table, its type and its place; returns it, or None after noting faults."""


def rules_in(raw: Any, tables: Sequence[Any], read: Read, found: list[str]) -> tuple[Rule, ...]:
    """Return the rules of the tables without faults; `found` gets the faults of the other tables.

    `raw` are the tables as written.
    """
    rules = []
    for number, table in enumerate(tables):
        at = place(table, number)
        if not isinstance(table, dict):
            found.append(f"{at} was {table!r}, must be a table [[alert]]")
        elif (kind := RULES.get(str(table.get("when")))) is None:
            near = did_you_mean(str(table.get("when")), RULES)
            was = f"was {table['when']!r}" if "when" in table else "is missing"
            found.append(f"{at}.when {was}, must be one of {', '.join(RULES)}{near}")
        elif (rule := read(raw[number], table, kind, at)) is not None:
            rules.append(rule)
    return tuple(rules)


def place(table: Any, number: int) -> str:
    """Return how a fault names a table: by its name, otherwise by its number."""
    name = table.get("name") if isinstance(table, dict) else None
    return f"alert.{name}" if isinstance(name, str) and name else f"alert {number + 1}"


def rule_faults(
    rules: Collection[Rule], bookmakers: Collection[BookmakerId], sources: Collection[str]
) -> Iterator[str]:
    """Yield the faults of the rules of a configuration, each beginning with its place."""
    for rule in rules:
        for fault in faults(rule, bookmakers, sources):
            yield f"alert.{rule.name}.{fault}"
        if len({*rule.to}) < len(rule.to):
            yield f"alert.{rule.name}.to was {[*rule.to]}, must name each receiver once"
    for name, count in Counter(rule.name for rule in rules).items():
        if count > 1:
            yield f"alert.{name} stands {count} times, must have a name of its own each time"
