"""The configuration: TOML to frozen Structs; the only reader of configuration and environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from actors.archive.folder import ArchiveSettings
from actors.board.board import BoardRules
from actors.board.history import HistoryLimits
from actors.core.allowed import refusal
from actors.core.errors import ConfigError
from actors.core.limits import Limits, check_proxy
from actors.core.messages import BookmakerId, Fees, Offer, SourceName
from actors.core.nearest import did_you_mean
from actors.core.toml_file import read_text, tables_of
from actors.core.validation import clean_name
from actors.matches.fair import FairRules
from actors.matches.surebets import Commission, SurebetRules
from actors.matching.overrides import Overrides
from actors.review.links_file import read
from actors.service.registry import BUILT_IN, in_one_line, kind_named
from actors.source_api.kinds import Kind, PolledKind
from actors.source_api.options import PolledOptions, SourceOptions, credentials_of, secret_names
from actors.source_api.stream import StreamOptions
from actors.transports.lines import tls_context

S = TypeVar("S")

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class ServerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The HTTP server; at most `max_streams` clients follow or wait for changes."""

    bind: str = "127.0.0.1:8000"
    drain_s: Annotated[float, Meta(ge=0, le=3600)] = 1.0
    max_streams: Annotated[int, Meta(ge=0, le=1_000_000)] = 500
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class BookmakerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """A bookmaker: its source, its key there, and its display name, None where the source gives it.

    `commission` is the share that it takes of what is won net on a market. `company` is the company that
    pays, None if it has no other bookmaker.
    """

    source: SourceName
    key: str
    name: str | None = None
    commission: Commission = 0.0
    company: Annotated[str, Meta(min_length=1, max_length=64)] | None = None


class LinksSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How matches are linked: a file of links by hand, from the working directory of the service."""

    file: str | None = None


class SourceSettings(Struct, frozen=True):
    """A source: its kind, that kind's options, and its table as written, without secrets."""

    kind: Kind
    options: SourceOptions
    written: Mapping[str, Any] = {}


class Settings(Struct, frozen=True):
    """A checked configuration, in the order of the file."""

    server: ServerSettings
    board: BoardRules
    sources: Mapping[SourceName, SourceSettings]
    bookmakers: Mapping[BookmakerId, BookmakerSettings]
    history: HistoryLimits = HistoryLimits()
    limits: Limits = Limits()
    links: LinksSettings = LinksSettings()
    fair: FairRules = FairRules()
    surebets: SurebetRules = SurebetRules()
    overrides: Overrides = Overrides()  # as the file of links had them
    archive: ArchiveSettings = ArchiveSettings()

    def bookmakers_of(self, source: SourceName) -> dict[BookmakerId, BookmakerSettings]:
        """Return the bookmakers of `source`."""
        return {name: entry for name, entry in self.bookmakers.items() if entry.source == source}

    def offer_of(self, bookmaker: BookmakerSettings) -> Offer:
        """Return what kind of offer a bookmaker's prices are; a commission is never included."""
        source = self.sources[bookmaker.source]
        offer = source.kind.offer_of(bookmaker.key, source.options)
        return msgspec.structs.replace(offer, fees=Fees.NOT_INCLUDED) if bookmaker.commission else offer

    def secrets(self) -> tuple[str, ...]:
        """Return every credential of every source, never to be shown; longest first."""
        found = {secret for source in self.sources.values() for secret in credentials_of(source.options)}
        return tuple(sorted(found, key=len, reverse=True))


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    sources: Annotated[dict[str, Any], Meta(title="tables, each [sources.NAME]")]
    bookmakers: Annotated[dict[str, Any], Meta(title="tables, each [bookmakers.ID]")]
    server: ServerSettings = ServerSettings()
    board: BoardRules = BoardRules()
    history: HistoryLimits = HistoryLimits()
    limits: Limits = Limits()
    links: LinksSettings = LinksSettings()
    fair: FairRules = FairRules()
    surebets: SurebetRules = SurebetRules()
    archive: ArchiveSettings = ArchiveSettings()


def service_manager(environment: Mapping[str, str] = os.environ) -> tuple[str, float]:
    """Return the socket of the service manager ("": none) and the seconds of its watchdog (0: none)."""
    watchdog_us = environment.get("WATCHDOG_USEC", "")
    seconds = int(watchdog_us) / 1e6 if watchdog_us.isdecimal() else 0.0
    return environment.get("NOTIFY_SOCKET", ""), seconds


def load(path: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Read and check a configuration file. Raises: ConfigError naming file, key and value."""
    text = read_text(path)
    try:
        raw = tables_of(text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    secrets: dict[str, str] = {}
    try:
        return _checked(raw, _expanded(raw, environment, secrets, ""))
    except ConfigError as error:
        message = f"{path}: {_masked(str(error), secrets)}"
    except (ValueError, RecursionError) as error:  # a number too long, or tables too deep, to be shown
        message = f"{path}: is not TOML that can be read: {_masked(str(error), secrets)}"
    raise ConfigError(message)  # without the cause, which may show a secret


def parse_bind(bind: str) -> tuple[str, int | None]:
    """Split HOST:PORT, the host of IPv6 in brackets; `unix:PATH` gives the path, without a port.

    Raises: ConfigError saying what is allowed.
    """
    if bind.startswith("unix:/") and "\0" not in bind:
        return bind.removeprefix("unix:"), None
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]\s]+)):([0-9]{1,5})", bind)
    if found is None or int(found[3]) > 65535:  # noqa: PLR2004 - the largest port
        raise ConfigError(
            f"bind was {bind!r}, must be HOST:PORT or unix:/PATH, like 127.0.0.1:8000 or [::1]:8000"
        )
    return found[1] or found[2], int(found[3])


def _checked(raw: dict[str, Any], expanded: dict[str, Any]) -> Settings:
    """Check the `expanded` file; errors quote the `raw` file."""
    file = _converted(raw, expanded, _File, "")
    with _checking("server"):
        parse_bind(file.server.bind)
    with _checking("limits"):
        for proxy in file.limits.trusted_proxies:
            check_proxy(proxy)
    settings = Settings(
        file.server,
        file.board,
        {
            SourceName(name): _source(name, raw["sources"][name], table)
            for name, table in file.sources.items()
        },
        {
            BookmakerId(name): _bookmaker(name, raw["bookmakers"][name], table)
            for name, table in file.bookmakers.items()
        },
        file.history,
        file.limits,
        file.links,
        file.fair,
        file.surebets,
        _overrides(file.links),
        file.archive,
    )
    _check_bookmakers(settings)
    _check_sources(settings)
    return settings


def _overrides(links: LinksSettings) -> Overrides:
    try:
        return Overrides() if links.file is None else read(Path(links.file))
    except ConfigError as error:
        raise ConfigError(f"links.file: {error}") from error


def _source(name: str, raw: dict[str, Any], expanded: dict[str, Any]) -> SourceSettings:
    at = f"sources.{name}"
    if not re.fullmatch("[a-z0-9_-]{1,32}", name) or not isinstance(expanded, dict):
        raise ConfigError(f"{at} must be a table, named with 1 to 32 of a-z, 0-9, '-' and '_'")
    if "kind" not in expanded:
        raise ConfigError(f"{at}.kind is missing, must be one of {', '.join(sorted(BUILT_IN))}")
    with _checking(at):
        kind = kind_named(str(expanded["kind"]))
    secret = secret_names(kind.options)
    written = {
        key: "***" if key in secret and not _VARIABLE.fullmatch(str(value)) else value
        for key, value in raw.items()
    }
    options = _converted(written, expanded, kind.options, at)
    if options.book_sum_min >= options.book_sum_max:
        raise ConfigError(f"{at}.book_sum_min was {options.book_sum_min}, must be below book_sum_max")
    if isinstance(options, PolledOptions) and not _is_http(options.url):
        raise ConfigError(f"{at}.url was {raw['url']!r}, must be http://HOST... or https://HOST...")
    return SourceSettings(kind, options, written)


def _bookmaker(name: str, raw: dict[str, Any], expanded: dict[str, Any]) -> BookmakerSettings:
    at = f"bookmakers.{name}"
    if not re.fullmatch("[a-z0-9-]{1,32}", name) or not isinstance(expanded, dict):
        raise ConfigError(f"{at} must be a table, named with 1 to 32 of a-z, 0-9 and '-'")
    bookmaker = _converted(raw, expanded, BookmakerSettings, at)
    if bookmaker.name is not None and (clean_name(bookmaker.name) != bookmaker.name or not bookmaker.name):
        allowed = "1 to 128 visible characters, single-spaced, in NFC"
        raise ConfigError(f"{at}.name was {raw['name']!r}, must be {allowed}")
    return bookmaker


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _check_bookmakers(settings: Settings) -> None:
    if not settings.bookmakers:
        raise ConfigError("bookmakers has no entry, must have at least one")
    taken: dict[tuple[str, str], str] = {}
    for bookmaker_id, bookmaker in settings.bookmakers.items():
        at = f"bookmakers.{bookmaker_id}"
        if bookmaker.source not in settings.sources:
            known, near = ", ".join(settings.sources), did_you_mean(bookmaker.source, settings.sources)
            raise ConfigError(f"{at}.source was {bookmaker.source!r}, must be one of {known}{near}")
        kind = settings.sources[bookmaker.source].kind
        with _checking(at):
            kind.check_key(bookmaker.key)
        if bookmaker.name is None and not (isinstance(kind, PolledKind) and kind.has_titles):
            raise ConfigError(f"{at}.name is missing, must be the display name")
        if bookmaker.commission and isinstance(kind, PolledKind) and kind.has_fees:
            found = f"{at}.commission was {bookmaker.commission:g}"
            raise ConfigError(f"{found}, must be left out: {kind.name} says what it takes")
        other = taken.setdefault((bookmaker.source, bookmaker.key), bookmaker_id)
        if other != bookmaker_id:
            raise ConfigError(f"{at}.key was {bookmaker.key!r}, which bookmakers.{other} has already")
    _check_names(settings)


def _check_names(settings: Settings) -> None:
    """Raise an error if two configured names are equal; titles that sources give may be.

    So may those of a company that both have.
    """
    taken: dict[str, BookmakerId] = {}
    for bookmaker_id, bookmaker in settings.bookmakers.items():
        if bookmaker.name is None:
            continue
        other = taken.setdefault(bookmaker.name, bookmaker_id)
        company = settings.bookmakers[other].company
        if other != bookmaker_id and (company is None or company != bookmaker.company):
            found = f"bookmakers.{bookmaker_id}.name was {bookmaker.name!r}, which bookmakers.{other} has"
            allowed = "one that no other bookmaker has, or both must have the same company"
            raise ConfigError(f"{found} already, must be {allowed}")


def _check_sources(settings: Settings) -> None:
    for name, source in settings.sources.items():
        at, kind, options = f"sources.{name}", source.kind, source.options
        keys = tuple(bookmaker.key for bookmaker in settings.bookmakers_of(name).values())
        if not keys:
            raise ConfigError(f"{at} is used by no bookmaker, must be used or left out")
        check = kind.plan if isinstance(kind, PolledKind) else kind.check
        if check is not None:
            with _checking(at):
                check(options, keys)
        if isinstance(options, StreamOptions) and options.certificate is not None:
            try:
                tls_context(options.certificate, options.certificate_key)
            except (OSError, ValueError) as error:
                raise ConfigError(f"{at}.certificate cannot be used: {error}") from error


@contextmanager
def _checking(at: str) -> Iterator[None]:
    """Put the place `at` before the errors of a check, which may run the code of a plug-in."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except (ConfigError, ValueError) as error:
        raise ConfigError(f"{at}.{error}") from error
    except BaseException as error:
        raise ConfigError(f"{at} cannot be checked by its kind: {in_one_line(error)}") from error


def _converted(raw: Any, expanded: Any, kind: type[S], at: str) -> S:
    why = ""
    with _checking(at):
        try:
            return msgspec.convert(expanded, kind)
        except msgspec.ValidationError as error:
            why = str(error)
    raise ConfigError(refusal(why, raw, kind, at))


def _masked(message: str, secrets: Mapping[str, str]) -> str:
    """Replace values from the environment by their names, should a message quote them."""
    for secret in sorted(secrets, key=len, reverse=True):
        for form in (secret, repr(secret)[1:-1], ascii(secret)[1:-1]):
            message = message.replace(form, secrets[secret])
    return message


def _expanded(value: Any, environment: Mapping[str, str], used: dict[str, str], at: str) -> Any:
    """Replace ${NAME} in every string from the environment; `used` gets the name of each value."""
    if isinstance(value, dict):
        return {
            key: _expanded(item, environment, used, f"{at}.{key}".lstrip("."))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_expanded(item, environment, used, at) for item in value]
    if not isinstance(value, str):
        return value

    def replacement(found: re.Match[str]) -> str:
        content = environment.get(found[1])
        if content is None:
            raise ConfigError(f"{at} refers to {found[0]}, which is not set in the environment")
        if content:
            used[content] = found[0]
        return content

    return _VARIABLE.sub(replacement, value)
