"""The options of the exchange's stream. Pure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta

from actors.markets.market import Kind
from actors.source_api.options import Hidden, Markets, Secret
from actors.source_api.stream import StreamOptions

KINDS = (Kind.ONE_X_TWO, Kind.OVER_UNDER, Kind.ASIAN_HANDICAP, Kind.BTTS)
HEARTBEATS_TO_BE_SILENT = 2
INTERACTIVE_LOGIN = "https://identitysso.betfair.com/api/login"
CERTIFICATE_LOGIN = "https://identitysso-cert.betfair.com/api/certlogin"


class BetfairStreamOptions(StreamOptions, frozen=True, kw_only=True):
    """Options of an account's subscription.

    Set either `session_token`, or `username` and `password` for a login. With an empty `catalogue_url`
    markets have no names. Offers below `min_size` do not count. `virtual_bets` includes the offers that the
    exchange derives from other bets of the market, as its own site does.
    """

    app_key: Annotated[
        Secret, Meta(description="The application key, from the environment; a free (delayed) key works.")
    ]
    stream_url: Annotated[
        str, Meta(description="The stream, tls://HOST:PORT; tcp:// is allowed for this machine only.")
    ] = "tls://stream-api.betfair.com:443"
    catalogue_url: Annotated[
        str, Meta(description="The source of names; empty leaves matches without names.")
    ] = "https://api.betfair.com/exchange/betting/json-rpc/v1"
    login_url: Annotated[str | None, Meta(description="Another address to log in at.")] = None
    username: Annotated[Hidden | None, Meta(description="The account.")] = None
    password: Annotated[Secret | None, Meta(description="Its password, from the environment.")] = None
    min_size: Annotated[
        float, Meta(ge=0, le=1e9, description="The smallest amount at a price that counts as an offer.")
    ] = 0.0
    price: Annotated[
        Literal["best_back", "last_traded"],
        Meta(description="The best price available to back, or the price of the last bet."),
    ] = "best_back"
    virtual_bets: Annotated[
        bool,
        Meta(description="Whether to count offers derived from bets on other outcomes, as the site does."),
    ] = False
    heartbeat_ms: Annotated[
        int,
        Meta(
            ge=500,
            le=5000,
            description="Milliseconds between heartbeats; two missing ones end the connection.",
        ),
    ] = 5000
    conflate_ms: Annotated[
        int, Meta(ge=0, le=120_000, description="Milliseconds in which the exchange merges changes.")
    ] = 0

    markets: Markets = (Kind.ONE_X_TWO,)

    @property
    def silence_s(self) -> float:
        """Seconds without a message after which the connection is lost."""
        return HEARTBEATS_TO_BE_SILENT * self.heartbeat_ms / 1000

    @property
    def login_address(self) -> str:
        """The configured address of the login (perhaps empty), otherwise Betfair's own."""
        if self.login_url is not None:
            return self.login_url
        return INTERACTIVE_LOGIN if self.certificate is None else CERTIFICATE_LOGIN


def check_key(key: str) -> None:
    """Raise ValueError unless `key` is "exchange", the only bookmaker of the stream."""
    if key != "exchange":
        raise ValueError(f"key was {key!r}, must be 'exchange'")


def check(options: BetfairStreamOptions, keys: tuple[str, ...]) -> None:
    """Raise ValueError, naming the option, for options that cannot work together."""
    del keys
    if unknown := [kind for kind in options.kinds if kind not in KINDS]:
        raise ValueError(f"markets was {unknown[0]}, must be among {', '.join(KINDS)}")
    _check_addresses(options)
    _check_credentials(options)
    if options.stale_after_s is not None and options.stale_after_s < options.silence_s:
        raise ValueError(
            f"stale_after_s was {options.stale_after_s:g}, must be at least {options.silence_s:g}:"
            " so long the stream may be silent"
        )


def _check_addresses(options: BetfairStreamOptions) -> None:
    """Refuse addresses that would send credentials over the network without TLS."""
    found = re.fullmatch(r"(tls|tcp)://([A-Za-z0-9.-]+|\[[0-9a-f:]+\]):([0-9]{1,5})", options.stream_url)
    if found is None or not 0 < int(found[3]) < 2**16:
        raise ValueError(f"stream_url was {options.stream_url!r}, must be tls://HOST:PORT")
    if found[1] == "tcp" and urlsplit(options.stream_url).hostname not in {"127.0.0.1", "::1", "localhost"}:
        raise ValueError(f"stream_url was {options.stream_url!r}, must be tls:// except on this machine")
    here = r"http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?/"
    for name, url in (("catalogue_url", options.catalogue_url), ("login_url", options.login_url)):
        if url and not re.match(rf"https://[^/?#@]+/|{here}", url):
            raise ValueError(f"{name} was {url!r}, must be https://HOST/... except on this machine")


def _check_credentials(options: BetfairStreamOptions) -> None:
    if options.session_token is None:
        if options.username is None or options.password is None:
            name = "username" if options.username is None else "password"
            raise ValueError(f"{name} is missing, must be there with the other of both, or a session_token")
        if not options.login_address:
            raise ValueError("login_url was '', must be an address where there is no session_token")
    if (options.certificate is None) != (options.certificate_key is None):
        raise ValueError("certificate and certificate_key must be given together")
    for name, file in (("certificate", options.certificate), ("certificate_key", options.certificate_key)):
        if file is not None and not Path(file).is_file():
            raise ValueError(f"{name} was {file!r}, where there is no file")
