"""HTTP requests to the exchange beside its stream, and how its answers are read."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

import msgspec
import pytest

from actors.core.errors import PayloadError
from actors.source_api.stream import Request
from actors.sources.betfair.market import MarketNames
from actors.sources.betfair.rest import keep_alive, login, names_of, nearest, read_names, read_token
from tests.support.builders.betfair import APP_KEY, AWAY, DRAW, HOME, OPTIONS, TOKEN, catalogue
from tests.support.recordings import FOLDER

CREDENTIALS = {"username": "the user", "password": "p&ss=wörd+%", "session_token": None}
ACCOUNT = msgspec.structs.replace(OPTIONS, **CREDENTIALS)
EVERY = {"eventTypeIds": ["1"], "marketTypeCodes": ["MATCH_ODDS"]}
METHOD = "SportsAPING/v1.0/listMarketCatalogue"


def _headers(content_type: str, token: str | None = TOKEN) -> dict[str, str]:
    headers = {"X-Application": APP_KEY, "Accept": "application/json", "Content-Type": content_type}
    return headers if token is None else {**headers, "X-Authentication": token}


def test_login_sends_the_account_as_a_form() -> None:
    """The body is percent-encoded, and nothing of it is in the address."""
    request = login(ACCOUNT)
    assert request is not None
    form = parse_qs(request.body.decode("ascii"))

    assert {"username": ["the user"], "password": ["p&ss=wörd+%"]} == form
    assert (
        Request(
            "POST",
            "https://identitysso.betfair.com/api/login",
            _headers("application/x-www-form-urlencoded", None),
            request.body,
        )
        == request
    )


def test_certificate_uses_the_login_for_certificates() -> None:
    """The other login ignores certificates; a configured address takes precedence."""
    for options, login_url in [
        ({}, "https://identitysso.betfair.com/api/login"),
        ({"certificate": "c.pem"}, "https://identitysso-cert.betfair.com/api/certlogin"),
        ({"login_url": "https://x.example/api/login"}, "https://x.example/api/login"),
        ({"certificate": "c.pem", "login_url": "https://x.example/y"}, "https://x.example/y"),
    ]:
        request = login(msgspec.structs.replace(ACCOUNT, **options))

        assert request is not None, (options, login_url)
        assert login_url == request.url, (options, login_url)
    for missing in ({"username": None}, {"password": None}):  # a configured session cannot be renewed
        assert None is login(msgspec.structs.replace(ACCOUNT, **missing))


def test_keep_alive_uses_the_interactive_host() -> None:
    """The host for certificates has the login only; the other one has the keep-alive."""
    for login_url, keep_alive_url in [
        ("https://identitysso.betfair.com/api/login", "https://identitysso.betfair.com/api/keepAlive"),
        (
            "https://identitysso-cert.betfair.com/api/certlogin",
            "https://identitysso.betfair.com/api/keepAlive",
        ),
        ("https://identitysso.betfair.it/api/login", "https://identitysso.betfair.it/api/keepAlive"),
        (None, "https://identitysso.betfair.com/api/keepAlive"),
        ("http://127.0.0.1:8080/api/login", "http://127.0.0.1:8080/api/keepAlive"),
    ]:
        request = keep_alive(msgspec.structs.replace(OPTIONS, login_url=login_url), "a-token")

        headers = _headers("application/x-www-form-urlencoded", "a-token")
        assert Request("POST", keep_alive_url, headers, b"") == request, (login_url, keep_alive_url)


def test_empty_address_makes_no_request() -> None:
    """An empty address switches off its requests."""
    options = msgspec.structs.replace(OPTIONS, login_url="", catalogue_url="")

    assert [None] * 3 == [
        keep_alive(options, TOKEN),
        names_of(options, TOKEN, ["1.1"]),
        nearest(options, TOKEN, 5),
    ]


@pytest.mark.parametrize(
    ("request_", "wanted", "count"),
    [
        (names_of(OPTIONS, TOKEN, ["1.1", "1.2"]), {"marketIds": ["1.1", "1.2"]}, "2"),
        (nearest(OPTIONS, TOKEN, 200), EVERY, "200"),
        (nearest(OPTIONS, TOKEN, 1001), EVERY, "1000"),
    ],
    ids=["names", "nearest", "more than a catalogue gives"],
)
def test_catalogue_is_requested_by_json_rpc(
    request_: Request, wanted: dict[str, list[str]], count: str
) -> None:
    """The request asks for runners and competitions, the nearest kick-off first."""
    assert ("POST", OPTIONS.catalogue_url, _headers("application/json")) == (
        request_.method,
        request_.url,
        request_.headers,
    )
    assert {
        "jsonrpc": "2.0",
        "method": METHOD,
        "id": 1,
        "params": {
            "filter": wanted,
            "marketProjection": ["RUNNER_DESCRIPTION", "COMPETITION"],
            "sort": "FIRST_TO_START",
            "maxResults": count,
        },
    } == json.loads(request_.body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"token":"abc=","product":"k","status":"SUCCESS","error":""}',
        b'{"sessionToken":"abc=","loginStatus":"SUCCESS"}',
        b'{"token":"abc=","product":"k","status":"LIMITED_ACCESS","error":"PENDING_AUTH"}',
        b'{"token":"abc=","sessionToken":null,"status":"SUCCESS","error":null}',
    ],
    ids=["interactive", "certificate", "limited", "null"],
)
def test_session_is_read(body: bytes) -> None:
    """A session is read from both kinds of login, also for an account that may not bet."""
    assert "abc=" == read_token(body)


def test_refused_login_has_a_reason() -> None:
    """The reason is short, whatever the answer contains."""
    for body, message in [
        (
            b'{"token":"","status":"FAIL","error":"INVALID_USERNAME_OR_PASSWORD"}',
            "INVALID_USERNAME_OR_PASSWORD",
        ),
        (b'{"loginStatus":"CERT_AUTH_REQUIRED"}', "CERT_AUTH_REQUIRED"),
        (b'{"token":null,"status":"FAIL","error":"ACCOUNT_NOW_LOCKED"}', "ACCOUNT_NOW_LOCKED"),
        (b'{"token":"","status":"LIMITED_ACCESS","error":"PENDING"}', "PENDING"),
        (b'{"token":"abc","status":"FAIL","error":"PENDING"}', "PENDING"),
        (b'{"token":"","status":"SUCCESS"}', "SUCCESS"),
        (b"{}", "no reason given"),
        (json.dumps({"status": "FAIL", "error": "x" * 9999}).encode(), "x" * 64),
    ]:
        with pytest.raises(PayloadError) as caught:
            read_token(body)

        assert ("login", f"the login was refused: {message}") == (caught.value.reason, str(caught.value))


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b'{"token":7}', b'{"result":{}}', b"\xff", b"[" * 200_000, b'{"result":[{}]}'],
    ids=["empty", "html", "list", "number", "object", "bytes", "deep", "no id"],
)
def test_unreadable_answers_are_payload_errors(body: bytes) -> None:
    """Any unreadable answer, of a login or of the catalogue, is a PayloadError."""
    for read in (read_token, read_names):
        with pytest.raises(PayloadError):
            read(body)


def test_names_are_read() -> None:
    """By selection, with the competition if there is one, in their order; an odd entry costs its names."""
    entries = json.loads(catalogue("1.3", "1.1", "1.2"))
    del entries["result"][1]["competition"]
    entries["result"][2]["runners"][0]["selectionId"] = None
    runners = {HOME: "Alder Town", AWAY: "Birch United", DRAW: "The Draw"}

    expected = [("1.3", MarketNames(runners, "League")), ("1.1", MarketNames(runners))]
    assert expected == [*read_names(json.dumps(entries).encode()).items()]


def test_refused_catalogue_has_a_reason() -> None:
    """The reason is the error code if there is one; an expired session causes another login."""
    for error, reason, message in [
        (
            {
                "code": -32099,
                "message": "ANGX-0003",
                "data": {"APINGException": {"errorCode": "NO_SESSION"}},
            },
            "login",
            "NO_SESSION",
        ),
        ({"code": -32700, "message": "DSC-0018"}, "catalogue", "no reason given"),
        (None, "catalogue", "no reason given"),
    ]:
        with pytest.raises(PayloadError) as caught:
            read_names(json.dumps({"jsonrpc": "2.0", "error": error, "id": 1}).encode())

        assert (reason, f"the catalogue was refused: {message}") == (caught.value.reason, str(caught.value))


@pytest.mark.recordings
def test_recorded_catalogue() -> None:
    """The recorded catalogue has ten matches, each with three named runners, and no competitions."""
    names = read_names((FOLDER / "betfair" / "rest_list_market_catalogue_2026-01-28.json").read_bytes())

    assert 10 == len(names)
    assert {(3, "The Draw", None)} == {
        (len(name.runners), name.runners[DRAW], name.league) for name in names.values()
    }
