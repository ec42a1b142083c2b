"""The options of the exchange's stream: invalid ones are refused with the name of the option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.source_api.options import secret_names
from actors.sources.betfair.options import BetfairStreamOptions, check, check_key
from tests.support.builders.betfair import OPTIONS


def _fault(**changes: Any) -> str | None:
    """Return the error for these options."""
    try:
        check(msgspec.structs.replace(OPTIONS, **changes), ("exchange",))
    except ValueError as error:
        return str(error)
    return None


def test_valid_addresses_of_streams() -> None:
    """Any host is allowed with TLS, and only this machine without it."""
    for url in [
        *("tls://stream-api.betfair.com:443", "tls://127.0.0.1:1", "tls://[::1]:65535", "tcp://[::1]:9000"),
        *("tcp://127.0.0.1:9000", "tcp://localhost:9000", "tls://stream-api-integration.betfair.com:443"),
    ]:
        assert None is _fault(stream_url=url), url


def test_invalid_addresses_of_streams() -> None:
    """The error has the option and its value."""
    for url in [
        *("tcp://stream-api.betfair.com:443", "tcp://127.0.0.1.example:443", "tcp://10.0.0.1:443"),
        *("tcp://localhost.example:9000", "tcp://127.0.0.1@stream.example:443", "tcp://127.0.0.2:443"),
        *("tls://stream-api.betfair.com", "tls://:443", "tls://x:0", "tls://x:65536", "tls://x:443/path"),
        *("https://stream-api.betfair.com:443", "stream-api.betfair.com:443", "", "TLS://x:443"),
        *("tls://user:pass@x:443", "tls://x:443\n", "tls://x:४४३"),
    ]:
        fault = _fault(stream_url=url) or ""

        assert fault.startswith(f"stream_url was {url!r}, must be tls://"), url


def test_valid_addresses_beside_the_stream() -> None:
    """Any host is allowed with TLS, and only this machine without it; an empty address is off."""
    for url in [
        "",
        "https://api.betfair.com/x",
        "http://127.0.0.1:80/x",
        "http://localhost/x",
        "http://[::1]:80/x",
    ]:
        for name in ["catalogue_url", "login_url"]:
            assert None is _fault(**{name: url}), (url, name)


def test_credentials_are_never_sent_unencrypted() -> None:
    """The host of an address decides, whatever the address looks like."""
    for url in [
        *("http://api.betfair.com/x", "http://127.0.0.1.example/x", "http://localhost.example/x"),
        *("ftp://127.0.0.1/x", "https://", "https:///x", "https://user:pass@api.betfair.com/x"),
        *("http://127.0.0.1:80@api.example/x", "http://localhost:x@api.example/x", "http://127x0x0x1/x"),
    ]:
        for name in ["catalogue_url", "login_url"]:
            fault = _fault(**{name: url}) or ""

            assert fault.startswith(f"{name} was {url!r}, must be https://"), (url, name)


def test_credentials_are_required() -> None:
    """Either a session, or an account with an address for its login."""
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
    """Both are files, or none is given; a folder is not accepted as a file."""
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
    """When the configuration is read; any other bookmaker key than the exchange as well."""
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
    """All credentials are secret options, and no others."""
    assert {"app_key", "username", "password", "session_token"} == secret_names(BetfairStreamOptions)


def test_markets_that_are_not_read_are_refused() -> None:
    """The error says which are."""
    allowed = "1x2, over_under, asian_handicap, btts"

    assert f"markets was double_chance, must be among {allowed}" == _fault(markets=("1x2", "double_chance"))
    assert None is _fault(markets=("asian_handicap",))
