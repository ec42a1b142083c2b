"""A request to a receiver, or a program to run for it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Post(Struct, frozen=True):
    """A POST request."""

    url: str
    body: bytes
    headers: Mapping[str, str] = {}


class Run(Struct, frozen=True):
    """A program, with its arguments and the content of its standard input."""

    command: tuple[str, ...]
    stdin: bytes
