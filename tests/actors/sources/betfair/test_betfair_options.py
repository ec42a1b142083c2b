"""The options of the exchange's stream: what cannot work is refused, by the name of the option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.source_api.options import secret_names
from actors.sources.betfair.kind import KIND
from actors.sources.betfair.options import BetfairStreamOptions, check, check_key
from tests.support.builders.betfair import OPTIONS


def _fault(**changes: Any) -> str | None:
    """Return what is said against these options."""
    try:
        check(msgspec.structs.replace(OPTIONS, **changes), ("exchange",))
    except ValueError as error:
        return str(error)
    return None


def test_the_defaults_work() -> None:
    """With a session token alone."""
    assert None is _fault()


@pytest.mark.parametrize(
    "url",
    [
        *("tls://stream-api.betfair.com:443", "tls://127.0.0.1:1", "tls://[::1]:65535", "tcp://[::1]:9000"),
        *("tcp://127.0.0.1:9000", "tcp://localhost:9000", "tls://stream-api-integration.betfair.com:443"),
    ],
)
def test_addresses_of_streams(url: str) -> None:
    """Over TLS to anywhere, without it on this machine."""
    assert None is _fault(stream_url=url)


@pytest.mark.parametrize(
    "url",
    [
        *("tcp://stream-api.betfair.com:443", "tcp://127.0.0.1.example:443", "tcp://10.0.0.1:443"),
        *("tcp://localhost.example:9000", "tcp://127.0.0.1@stream.example:443", "tcp://127.0.0.2:443"),
        *("tls://stream-api.betfair.com", "tls://:443", "tls://x:0", "tls://x:65536", "tls://x:443/path"),
        *("https://stream-api.betfair.com:443", "stream-api.betfair.com:443", "", "TLS://x:443"),
        *("tls://user:pass@x:443", "tls://x:443\n", "tls://x:४४३"),
    ],
)
def test_addresses_that_are_no_streams(url: str) -> None:
    """The option is named, and what it was."""
    fault = _fault(stream_url=url) or ""

    assert fault.startswith(f"stream_url was {url!r}, must be tls://")


@pytest.mark.parametrize("name", ["catalogue_url", "login_url"])
@pytest.mark.parametrize(
    "url",
    ["", "https://api.betfair.com/x", "http://127.0.0.1:80/x", "http://localhost/x", "http://[::1]:80/x"],
)
def test_addresses_beside_the_stream(name: str, url: str) -> None:
    """Over TLS to anywhere, without it on this machine; empty is switched off."""
    assert None is _fault(**{name: url})


@pytest.mark.parametrize("name", ["catalogue_url", "login_url"])
@pytest.mark.parametrize(
    "url",
    [
        *("http://api.betfair.com/x", "http://127.0.0.1.example/x", "http://localhost.example/x"),
        *("ftp://127.0.0.1/x", "https://", "https:///x", "https://user:pass@api.betfair.com/x"),
        *("http://127.0.0.1:80@api.example/x", "http://localhost:x@api.example/x", "http://127x0x0x1/x"),
    ],
)
def test_credentials_are_sent_nowhere_in_the_clear(name: str, url: str) -> None:
    """Whatever an address looks like, its host decides."""
    fault = _fault(**{name: url}) or ""

    assert fault.startswith(f"{name} was {url!r}, must be https://")


@pytest.mark.parametrize(
    ("credentials", "is_enough"),
    [
        ({"session_token": "t"}, True),
        ({"username": "u", "password": "p"}, True),
        ({"session_token": "t", "username": "u", "password": "p"}, True),
        ({}, False),
        ({"username": "u"}, False),
        ({"password": "p"}, False),
    ],
)
def test_who_we_are_must_be_told(credentials: dict[str, str], *, is_enough: bool) -> None:
    """By a session or by an account."""
    unknown = {"session_token": None, "username": None, "password": None}
    missing = "session_token is missing, or else username and password"

    assert (None if is_enough else missing) == _fault(**{**unknown, **credentials})


def test_an_account_without_an_address_cannot_log_in() -> None:
    """Without a session there must be where to get one."""
    account = {"username": "u", "password": "p", "session_token": None}

    assert "login_url" in (_fault(**account, login_url="") or "")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ((True, True), None),
        ((True, False), "certificate and certificate_key must be given together"),
        ((False, True), "certificate and certificate_key must be given together"),
    ],
)
def test_a_certificate_goes_with_its_key(
    tmp_path: Path, given: tuple[bool, bool], fault: str | None
) -> None:
    """Neither without the other."""
    file = tmp_path / "some.pem"
    file.touch()
    names = [str(file) if one else None for one in given]

    assert fault == _fault(certificate=names[0], certificate_key=names[1])


@pytest.mark.parametrize("missing", ["certificate", "certificate_key"])
def test_a_certificate_that_is_not_there(tmp_path: Path, missing: str) -> None:
    """The option that names no file is told, folders are none."""
    (tmp_path / "some.pem").touch()
    files = dict.fromkeys(("certificate", "certificate_key"), str(tmp_path / "some.pem"))

    fault = _fault(**{**files, missing: str(tmp_path)})
    assert f"{missing} was {str(tmp_path)!r}, where there is no file" == fault


@pytest.mark.parametrize(
    ("heartbeat_ms", "stale_after_s", "fault"),
    [
        (5000, None, None),
        (5000, 10.0, None),
        (500, 1.0, None),
        (5000, 9.9, "stale_after_s was 9.9, must be at least 10: so long the stream may be silent"),
        (500, 0.9, "stale_after_s was 0.9, must be at least 1: so long the stream may be silent"),
    ],
)
def test_a_list_holds_at_least_as_long_as_the_stream_may_be_silent(
    heartbeat_ms: int, stale_after_s: float | None, fault: str | None
) -> None:
    """Otherwise it would come and go with every heartbeat."""
    assert fault == _fault(heartbeat_ms=heartbeat_ms, stale_after_s=stale_after_s)


def test_silence_is_two_heartbeats() -> None:
    """After which the connection is lost."""
    assert 3.0 == msgspec.structs.replace(OPTIONS, heartbeat_ms=1500).silence_s


def test_the_stream_carries_the_exchange_alone() -> None:
    """Any other key is no bookmaker of it."""
    check_key("exchange")

    with pytest.raises(ValueError, match="key was 'B365', must be 'exchange'"):
        check_key("B365")


@pytest.mark.parametrize(
    "option",
    [
        {"min_size": -1},
        {"min_size": float("inf")},
        {"price": "lay"},
        {"heartbeat_ms": 499},
        {"heartbeat_ms": 5001},
        {"conflate_ms": -1},
        {"conflate_ms": 120_001},
        {"max_markets": 0},
        {"app_key": ""},
        {"session_token": "two\nlines"},
        {"unknown": 1},
    ],
    ids="-".join,
)
def test_values_out_of_bounds_are_refused(option: dict[str, Any]) -> None:
    """As the configuration is read."""
    good = {"kind": "betfair_stream", "app_key": "k", "session_token": "t"}
    msgspec.convert(good, BetfairStreamOptions)

    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**good, **option}, BetfairStreamOptions)


def test_credentials_are_secret() -> None:
    """Every one of them, and nothing else."""
    assert {"app_key", "username", "password", "session_token"} == secret_names(BetfairStreamOptions)


def test_the_kind_is_what_its_parts_say() -> None:
    """The registry hands out this one."""
    assert ("betfair_stream", BetfairStreamOptions, check, check_key) == (
        KIND.name,
        KIND.options,
        KIND.check,
        KIND.check_key,
    )
