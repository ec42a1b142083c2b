"""The HTTP requests beside the exchange's stream: login, keep-alive, and the names of markets.

Pure. Formats: Betfair's "Interactive Login", "Non-Interactive (bot) login", "Keep Alive" and
"listMarketCatalogue" over JSON-RPC. A real catalogue entry (cut):

    {"marketId": "1.18", "runners": [{"selectionId": 57425, "runnerName": "Home Town", "sortPriority": 1},
     ...], "competition": {"id": "1", "name": "Some League"}, "event": {"name": "Home Town v Away"}}
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from actors.core.errors import UNREADABLE, PayloadError
from actors.source_api.json_parts import part, without_half_characters
from actors.source_api.parsing import Whole
from actors.source_api.stream import Request
from actors.sources.betfair.lines import types_of
from actors.sources.betfair.market import SOCCER, MarketNames
from actors.sources.betfair.options import BetfairStreamOptions

T = TypeVar("T")

GRANTED = frozenset({"SUCCESS", "LIMITED_ACCESS"})  # accounts with limited access see prices
MAX_RESULTS = 1000  # markets in an answer of the catalogue
METHOD = "SportsAPING/v1.0/listMarketCatalogue"
FORM = "application/x-www-form-urlencoded"


class _Login(Struct, frozen=True):
    token: str | None = None
    sessionToken: str | None = None  # noqa: N815 - in answers to a login with a certificate
    status: str | None = None
    loginStatus: str | None = None  # noqa: N815
    error: str | None = None


class _Runner(Struct, frozen=True):
    selectionId: Whole  # noqa: N815
    runnerName: str = ""  # noqa: N815


class _Competition(Struct, frozen=True):
    name: str | None = None


class _Entry(Struct, frozen=True):
    marketId: str  # noqa: N815
    runners: tuple[_Runner, ...] = ()
    competition: _Competition | None = None


class _Catalogue(Struct, frozen=True):
    result: tuple[msgspec.Raw, ...] | None = None
    error: Any = None


_ENTRY = msgspec.json.Decoder(_Entry)


def login(options: BetfairStreamOptions) -> Request | None:
    """Return the request for a session token; None without user name and password."""
    if options.username is None or options.password is None:
        return None
    body = urlencode({"username": options.username, "password": options.password}).encode()
    return Request("POST", options.login_address, _headers(options, FORM), body)


def keep_alive(options: BetfairStreamOptions, token: str) -> Request | None:
    """Return the request to keep the session; None without an address for it."""
    if not options.login_address:
        return None
    address = options.login_address.replace("//identitysso-cert.", "//identitysso.")
    url = re.sub("/[^/]*$", "/keepAlive", address)
    return Request("POST", url, _headers(options, FORM, token), b"")


def read_token(body: bytes) -> str:
    """Read the token in the answer to a login or a keep-alive. Raises: PayloadError after a refusal."""
    answer = _decoded(body, _Login)
    token = answer.token or answer.sessionToken
    if GRANTED.isdisjoint({answer.status, answer.loginStatus}) or not token:
        said = answer.error or answer.loginStatus or answer.status or "no reason given"
        raise PayloadError(f"the login was refused: {said[:64]}", "login")
    return token


def names_of(options: BetfairStreamOptions, token: str, markets: Sequence[str]) -> Request | None:
    """Return the request for the names of these markets; None without a catalogue."""
    return _catalogue(options, token, {"marketIds": list(markets)}, len(markets))


def nearest(options: BetfairStreamOptions, token: str, count: int) -> Request | None:
    """Return the request for the nearest kick-offs, at most 1000 markets; None without a catalogue."""
    wanted = {"eventTypeIds": [SOCCER], "marketTypeCodes": types_of(options.kinds)}
    return _catalogue(options, token, wanted, count)


def read_names(body: bytes) -> dict[str, MarketNames]:
    """Read a catalogue, in order; entries of another shape are left out. Raises: PayloadError."""
    answer = _decoded(without_half_characters(body), _Catalogue)
    if answer.result is None:
        found = re.search("[A-Z]+(?:_[A-Z]+)+", str(answer.error))
        code = found[0] if found else "no reason given"
        reason = "login" if "SESSION" in code else "catalogue"
        raise PayloadError(f"the catalogue was refused: {code}", reason)
    entries = [entry for raw in answer.result if (entry := part(_ENTRY, raw)) is not None]
    if answer.result and not entries:
        raise PayloadError("the answer cannot be read: none of its entries is of a market")
    return {
        entry.marketId: MarketNames(
            {int(runner.selectionId): runner.runnerName for runner in entry.runners},
            entry.competition.name if entry.competition else None,
        )
        for entry in entries
    }


def _catalogue(options: BetfairStreamOptions, token: str, wanted: Any, count: int) -> Request | None:
    if not options.catalogue_url:
        return None
    params = {
        "filter": wanted,
        "marketProjection": ["RUNNER_DESCRIPTION", "COMPETITION"],
        "sort": "FIRST_TO_START",
        "maxResults": str(min(count, MAX_RESULTS)),
    }
    body = msgspec.json.encode({"jsonrpc": "2.0", "method": METHOD, "params": params, "id": 1})
    return Request("POST", options.catalogue_url, _headers(options, "application/json", token), body)


def _headers(options: BetfairStreamOptions, content_type: str, token: str | None = None) -> dict[str, str]:
    headers = {"X-Application": options.app_key, "Accept": "application/json", "Content-Type": content_type}
    return headers if token is None else {**headers, "X-Authentication": token}


def _decoded(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except UNREADABLE as error:
        raise PayloadError(f"the answer cannot be read: {error}") from error
