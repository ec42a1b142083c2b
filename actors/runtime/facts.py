"""Transitions of a source, a bookmaker, the archive, the cluster: each is a value that is published once.

`facts.tsv` lists the kinds, each with its log level and the operator's action; `scripts/operations` writes
them to docs/operations.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import structlog
from msgspec import Struct
from structlog.typing import FilteringBoundLogger as Log

from actors.core.clock import wall_s


class Fact(Struct, frozen=True):
    """A kind of transition; `level` is the log level, or the possible levels, of its log line."""

    kind: str
    level: str
    what_to_do: str


class Transition(Struct, frozen=True):
    """A `kind` of FACTS, of `subject`, at `at` (Unix seconds).

    `why` are the fields of its log line, without secrets and without the exception.
    """

    kind: str
    subject: str
    at: float
    why: Mapping[str, Any]


_ROWS = Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()[1:]
FACTS: Mapping[str, Fact] = {fact.kind: fact for fact in (Fact(*row.split("\t")) for row in _ROWS)}

_SUBJECTS = ("bookmaker", "source", "actor", "link", "collector", "receiver")
_followers: list[Callable[[Transition], None]] = []
_secrets: list[str] = []


def conceal(secrets: Iterable[str]) -> None:
    """Mask these texts in every later transition; replaces the texts of the previous call."""
    _secrets[:] = secrets


def masked(value: Any) -> Any:
    """Replace the secrets in a text, or in the text of another value."""
    text = shown = str(value)
    for secret in _secrets:
        shown = shown.replace(secret, "***")
    return value if shown == text else shown


@contextmanager
def followed(follower: Callable[[Transition], None]) -> Iterator[None]:
    """Pass each transition of the process to `follower` during the block, whatever the log level.

    `follower` is called where the transition happens, in any thread; it must neither wait nor raise.
    """
    _followers.append(follower)
    try:
        yield
    finally:
        _followers.remove(follower)


def announce(log: Log, kind: str, level: str = "", /, **why: Any) -> None:
    """Publish a transition: to `log`, with the values bound to it, and to all followers.

    The subject is the most precise of `_SUBJECTS` among the fields, otherwise the first part of `kind`.
    `level` is for a kind that has several levels. Raises: KeyError for an unknown kind.
    """
    fact, bound = FACTS[kind], log.bind(**why)
    getattr(bound, level or fact.level)(kind)
    if followers := tuple(_followers):
        fields = structlog.get_context(bound)
        why = {name: masked(value) for name, value in fields.items() if name != "exc_info"}
        subject = next((str(why[name]) for name in _SUBJECTS if name in why), kind.partition(".")[0])
        transition = Transition(kind, subject, wall_s(), why)
        for follower in followers:
            follower(transition)
