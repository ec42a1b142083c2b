"""The exchange's options, and HTTP requests beside its stream: refused values, and how answers are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import msgspec
import pytest

from actors.core.errors import PayloadError
from actors.source_api.options import secret_names
from actors.source_api.stream import Request
from actors.sources.betfair.market import MarketNames
from actors.sources.betfair.options import BetfairStreamOptions, check, check_key
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
    """The host for certificates has the login only; the interactive host has the keep-alive."""
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
    """An empty address switches off the requests that go to it."""
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


def test_session_is_read() -> None:
    """Either kind of login returns a session, also if the account may not bet; a refusal has a reason."""
    for body in [
        b'{"token":"abc=","product":"k","status":"SUCCESS","error":""}',
        b'{"sessionToken":"abc=","loginStatus":"SUCCESS"}',
        b'{"token":"abc=","product":"k","status":"LIMITED_ACCESS","error":"PENDING_AUTH"}',
        b'{"token":"abc=","sessionToken":null,"status":"SUCCESS","error":null}',
    ]:
        assert "abc=" == read_token(body), body
    for body, message in [
        (b'{"token":"","status":"FAIL","error":"INVALID_USERNAME"}', "INVALID_USERNAME"),
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
    """Names are read by selection, in order, with any competition; an odd entry only loses its names."""
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


def _fault(**changes: Any) -> str | None:
    """Return the error for these options."""
    try:
        check(msgspec.structs.replace(OPTIONS, **changes), ("exchange",))
    except ValueError as error:
        return str(error)
    return None


def test_addresses_of_streams() -> None:
    """Any host is allowed with TLS, and only this machine without it; the error has option and value."""
    for url in [
        *("tls://stream-api.betfair.com:443", "tls://127.0.0.1:1", "tls://[::1]:65535", "tcp://[::1]:9000"),
        *("tcp://127.0.0.1:9000", "tcp://localhost:9000", "tls://stream-api-integration.betfair.com:443"),
    ]:
        assert None is _fault(stream_url=url), url
    for url in [
        *("tcp://stream-api.betfair.com:443", "tcp://127.0.0.1.example:443", "tcp://10.0.0.1:443"),
        *("tcp://localhost.example:9000", "tcp://127.0.0.1@stream.example:443", "tcp://127.0.0.2:443"),
        *("tls://stream-api.betfair.com", "tls://:443", "tls://x:0", "tls://x:65536", "tls://x:443/path"),
        *("https://stream-api.betfair.com:443", "stream-api.betfair.com:443", "", "TLS://x:443"),
        *("tls://user:pass@x:443", "tls://x:443\n", "tls://x:४४३"),
    ]:
        assert (_fault(stream_url=url) or "").startswith(f"stream_url was {url!r}, must be tls://"), url


@pytest.mark.parametrize("name", ["catalogue_url", "login_url"])
def test_credentials_are_never_sent_unencrypted(name: str) -> None:
    """The host of an address decides, whatever the address looks like; an empty address is off."""
    here = [f"http://{host}/x" for host in ("127.0.0.1:80", "localhost", "[::1]:80")]
    for url in ["", "https://api.betfair.com/x", *here]:
        assert None is _fault(**{name: url}), url
    for url in [
        *("http://api.betfair.com/x", "http://127.0.0.1.example/x", "http://localhost.example/x"),
        *("ftp://127.0.0.1/x", "https://", "https:///x", "https://user:pass@api.betfair.com/x"),
        *("http://127.0.0.1:80@api.example/x", "http://localhost:x@api.example/x", "http://127x0x0x1/x"),
    ]:
        assert (_fault(**{name: url}) or "").startswith(f"{name} was {url!r}, must be https://"), url


def test_credentials_are_required() -> None:
    """The options must have a session, or an account with an address for its login."""
    for credentials, missing in [
        ({"session_token": "t"}, None),
        ({"username": "u", "password": "p"}, None),
        ({"session_token": "t", "username": "u", "password": "p"}, None),
        ({}, "username"),
        ({"username": "u"}, "password"),
        ({"password": "p"}, "username"),
    ]:
        unknown = {"session_token": None, "username": None, "password": None}
        fault = f"{missing} is missing, must be there with the other of both, or a session_token"

        assert (fault if missing else None) == _fault(**{**unknown, **credentials}), credentials
    account = {"username": "u", "password": "p", "session_token": None}
    assert "login_url" in (_fault(**account, login_url="") or "")


def test_certificate_needs_its_key(tmp_path: Path) -> None:
    """Certificate and key are both files, or both are left out; a folder is not accepted as a file."""
    file, pair = str(tmp_path / "some.pem"), "certificate and certificate_key must be given together"
    (tmp_path / "some.pem").touch()
    absent = f"was {str(tmp_path)!r}, where there is no file"
    for certificate, key, fault in [
        (file, file, None),
        (file, None, pair),
        (None, file, pair),
        (str(tmp_path), file, f"certificate {absent}"),
        (file, str(tmp_path), f"certificate_key {absent}"),
    ]:
        assert fault == _fault(certificate=certificate, certificate_key=key), (certificate, key)


def test_lifetime_is_at_least_the_allowed_silence() -> None:
    """A shorter lifetime would withdraw the list between heartbeats."""
    for heartbeat_ms, stale_after_s, fault in [
        (5000, None, None),
        (5000, 10.0, None),
        (500, 1.0, None),
        (5000, 9.9, "stale_after_s was 9.9, must be at least 10: so long the stream may be silent"),
        (500, 0.9, "stale_after_s was 0.9, must be at least 1: so long the stream may be silent"),
    ]:
        assert fault == _fault(heartbeat_ms=heartbeat_ms, stale_after_s=stale_after_s), heartbeat_ms


def test_values_out_of_bounds_are_refused() -> None:
    """The error comes when the configuration is read, also for a wrong bookmaker key."""
    good: dict[str, object] = {"kind": "betfair_stream", "app_key": "k", "session_token": "t"}
    msgspec.convert(good, BetfairStreamOptions)
    for name, value in [
        *(("min_size", -1), ("min_size", float("inf")), ("price", "lay"), ("heartbeat_ms", 499)),
        *(("heartbeat_ms", 5001), ("conflate_ms", -1), ("conflate_ms", 120_001), ("max_markets", 0)),
        *(("app_key", ""), ("session_token", "two\nlines"), ("unknown", 1)),
    ]:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({**good, name: value}, BetfairStreamOptions)
    check_key("exchange")
    with pytest.raises(ValueError, match="key was 'B365', must be 'exchange'"):
        check_key("B365")


def test_credentials_are_secret() -> None:
    """All credentials are secret options; no other options are secret."""
    assert {"app_key", "username", "password", "session_token"} == secret_names(BetfairStreamOptions)


def test_markets_that_are_not_read_are_refused() -> None:
    """The error says which markets are read."""
    allowed = "1x2, over_under, asian_handicap, btts"

    assert f"markets was double_chance, must be among {allowed}" == _fault(markets=("1x2", "double_chance"))
    assert None is _fault(markets=("asian_handicap",))
