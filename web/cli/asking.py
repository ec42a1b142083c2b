"""Asks a running service, for commands that print its answers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2
import msgspec

from actors.core.errors import ServiceUnreachableError
from actors.service.settings import operators_token

T = TypeVar("T")

URL = "http://127.0.0.1:8000"
NO_LINKER = "the linker does not run here: /health says why; in a cluster ask the one with the lease @links"
TIMEOUT_S = 120.0  # a survey of a large board is slow


def add_url(command: argparse.ArgumentParser) -> None:
    """Add the options for the service's URL and for the file with its token for operators."""
    command.add_argument("--url", default=URL, help="the service; default: %(default)s")
    where = "a file with the token for operators; default: $ODDSBOARD_TOKEN"
    command.add_argument("--token-file", type=Path, metavar="FILE", help=where)


def part_of_path(given_id: str) -> str:
    """Return an id, encoded for a path. Raises: ServiceUnreachableError if no path can have it."""
    if given_id in {"", ".", ".."}:  # in a path these would name another resource
        raise ServiceUnreachableError(f"{given_id!r} is no id of a fixture, an entry or an event")
    return quote(given_id, safe=":", errors="replace")


def answer(given: argparse.Namespace, path: str, kind: type[T]) -> T:
    """Return the service's decoded answer to a GET of `path`; `given` has the options of `add_url`.

    Raises: ServiceUnreachableError; ConfigError if the file with the token cannot be read.
    """
    url, token = given.url, operators_token(given.token_file)
    authorization = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        found = httpx2.get(
            f"{url.rstrip('/')}{path}",
            timeout=TIMEOUT_S,
            headers={"Accept": "application/json", **authorization},
            trust_env=False,
        )
        if found.status_code == httpx2.codes.UNAUTHORIZED:
            how = "$ODDSBOARD_TOKEN, or a file with --token-file, must have the token from its [operators]"
            raise ServiceUnreachableError(f"{url}{path}: not allowed; {how}")
        if found.status_code != httpx2.codes.OK:
            raise ServiceUnreachableError(f"{url}{path}: {_detail(found)}")
        return msgspec.json.decode(found.content, type=kind)
    except httpx2.ConnectError as error:
        raise ServiceUnreachableError(
            f"no service answers at {url}: {error}; start it, or name another with --url"
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, msgspec.MsgspecError, UnicodeError) as error:
        raise ServiceUnreachableError(f"{url}{path}: {str(error) or type(error).__name__}") from error


def _detail(answer: httpx2.Response) -> str:
    try:
        document: Any = msgspec.json.decode(answer.content)
        return str(document["detail"])
    except (msgspec.MsgspecError, UnicodeError, KeyError, TypeError):
        return f"status {answer.status_code}"
