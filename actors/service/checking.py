"""Checks a configuration, and finds all of its faults in one run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from actors.archive.folder import check_place
from actors.configuration.allowed import refusals
from actors.configuration.environment import is_variable
from actors.core.clock import Instant
from actors.core.errors import ConfigError
from actors.core.limits import check_proxy
from actors.core.messages import BookmakerId, SourceName
from actors.core.nearest import did_you_mean
from actors.core.validation import clean_name
from actors.matching.overrides import Overrides
from actors.review.links_file import read
from actors.service.alert_rules import rule_faults, rules_in
from actors.service.registry import BUILT_IN, checking, kind_named
from actors.service.tables import CLUSTER_URL, BookmakerSettings, File, Settings, SourceSettings, parse_bind
from actors.source_api.kinds import Kind, PolledKind
from actors.source_api.options import PolledOptions, secret_names
from actors.source_api.stream import StreamOptions
from actors.transports.lines import tls_context

S = TypeVar("S")

_TABLES = ("sources", "bookmakers", "receivers")
_COPIED = tuple(name for name in File.__struct_fields__ if name not in {*_TABLES, "alert"})


class Check:
    """Collects the `faults` of a file. Checks that depend on a faulty part are left out."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._wrong_keys: set[BookmakerId] = set()
        self._kinds: dict[SourceName, Kind] = {}  # also the kinds of faulty sources

    def settings(self, raw: dict[str, Any], expanded: dict[str, Any]) -> Settings:
        """Check the `expanded` file; return its parts without faults. Faults quote the `raw` file."""
        wrong = self._refusals(raw, expanded, File, "")
        for tables in (*_TABLES, "alert"):
            if wrong.get(tables) == []:  # an unset ${NAME} in one of the tables, reported already
                del wrong[tables]
        whole = {key: table for key, table in expanded.items() if key not in wrong}
        file = msgspec.convert({"sources": {}, "bookmakers": {}, **whole}, File)
        self._check_places(expanded)
        sources = {
            name: self._source(name, raw["sources"][name], file.sources[name]) for name in file.sources
        }
        bookmakers = {
            name: self._bookmaker(name, raw["bookmakers"][name], table)
            for name, table in file.bookmakers.items()
        }
        settings = Settings(
            sources={SourceName(name): source for name, source in sources.items() if source is not None},
            bookmakers={
                BookmakerId(name): entry for name, entry in bookmakers.items() if entry is not None
            },
            overrides=self._overrides(expanded),
            alert=rules_in(raw.get("alert"), file.alert, self.table, self.faults),
            **{name: getattr(file, name) for name in _COPIED},
        )
        if "bookmakers" not in wrong and not file.bookmakers:
            self.faults.append("bookmakers has no entry, must have at least one")
        if "sources" not in wrong:
            self._check_bookmakers(settings, [*file.sources])
        self._check_names(settings)
        self.faults += rule_faults(settings.alert, settings.bookmakers, settings.sources)
        self._check_cluster(settings, _value(expanded, "cluster", "url"))
        found = {None if entry is None else entry.source for entry in bookmakers.values()}
        may_be_used = "bookmakers" in wrong or not found <= {*file.sources}
        self._check_sources(settings, may_be_used=may_be_used)
        return settings

    def _check_places(self, expanded: dict[str, Any]) -> None:
        if isinstance(path := _value(expanded, "archive", "path"), str) and path:
            with self._at("archive"):
                check_place(Path(path))
        if isinstance(queue := _value(expanded, "alerts", "path"), str) and Path(queue).is_dir():
            self.faults.append(f"alerts.path was {queue!r}, must be a file, not a folder")
        if isinstance(bind := _value(expanded, "server", "bind"), str):
            with self._at("server"):
                parse_bind(bind)
        proxies = _value(expanded, "limits", "trusted_proxies")
        for proxy in proxies if isinstance(proxies, list) else ():
            if isinstance(proxy, str):
                with self._at("limits"):
                    check_proxy(proxy)

    def _overrides(self, expanded: dict[str, Any]) -> Overrides:
        links = _value(expanded, "links", "file")
        try:
            return read(Path(links)) if isinstance(links, str) else Overrides()
        except ConfigError as error:
            self.faults += [f"links.file: {line}" for line in str(error).splitlines()]
            return Overrides()

    def _source(self, name: str, raw: Any, expanded: Any) -> SourceSettings | None:
        at = f"sources.{name}"
        is_table = isinstance(expanded, dict)
        if not _is_source_name(name) or not is_table:
            self.faults.append(f"{at} must be a table, named with 1 to 32 of a-z, 0-9, '-' and '_'")
        if not is_table:
            return None
        named, kind = expanded.get("kind"), None
        if named is None:
            self.faults.append(f"{at}.kind is missing, must be one of {', '.join(sorted(BUILT_IN))}")
        elif named is not UNSET:
            with self._at(at):
                kind = kind_named(str(named))
        if kind is None:
            return None
        self._kinds[SourceName(name)] = kind
        secret = secret_names(kind.options)
        written = {key: _hidden(value) if key in secret else value for key, value in raw.items()}
        options = self.table(written, expanded, kind.options, at)
        url = expanded.get("url") if issubclass(kind.options, PolledOptions) else None
        is_address = not isinstance(url, str) or _is_http(url)
        if not is_address:
            is_bare = "://" not in str(url) and _is_http(f"https://{url}")
            near = f"; did you mean 'https://{raw['url']}'?" if is_bare else ""
            self.faults.append(
                f"{at}.url was {raw['url']!r}, must be http://HOST... or https://HOST...{near}"
            )
        if options is None:
            return None
        if options.book_sum_min >= options.book_sum_max:
            found = f"{at}.book_sum_min was {options.book_sum_min}"
            self.faults.append(f"{found}, must be below book_sum_max ({options.book_sum_max})")
        return SourceSettings(kind, options, written) if is_address else None

    def _bookmaker(self, name: str, raw: Any, expanded: Any) -> BookmakerSettings | None:
        at = f"bookmakers.{name}"
        is_table = isinstance(expanded, dict)
        if not re.fullmatch("[a-z0-9-]{1,32}", name) or not is_table:
            near = did_you_mean(name, [re.sub("[^a-z0-9]+", "-", name.lower())[:32]]) if is_table else ""
            self.faults.append(f"{at} must be a table, named with 1 to 32 of a-z, 0-9 and '-'{near}")
        if not is_table:
            return None
        wrong = self._refusals(raw, expanded, BookmakerSettings, at)
        if not wrong.keys() <= expanded.keys() - {"source", "key", "name", "company", "short"}:
            return None
        right = {key: value for key, value in expanded.items() if key not in wrong}
        bookmaker = msgspec.convert(right, BookmakerSettings)
        if bookmaker.short is not None and clean_name(bookmaker.short) != bookmaker.short:
            allowed = "visible characters, single-spaced, in NFC"
            self.faults.append(f"{at}.short was {raw['short']!r}, must be {allowed}")
        if bookmaker.name is None:
            return bookmaker
        if clean_name(bookmaker.name) != bookmaker.name or not bookmaker.name:
            allowed = "1 to 128 visible characters, single-spaced, in NFC"
            self.faults.append(f"{at}.name was {raw['name']!r}, must be {allowed}")
        return bookmaker

    def _check_bookmakers(self, settings: Settings, sources: Collection[str]) -> None:
        """Check each bookmaker with its source. `sources` are all names; settings lack faulty ones."""
        taken: dict[tuple[str, str], str] = {}
        for bookmaker_id, bookmaker in settings.bookmakers.items():
            at = f"bookmakers.{bookmaker_id}"
            if bookmaker.source not in sources:
                near = did_you_mean(bookmaker.source, filter(_is_source_name, sources))
                known = ", ".join(sources)
                must = f"must be one of {known}" if sources else "must be a table [sources.NAME]"
                self.faults.append(f"{at}.source was {bookmaker.source!r}, {must}{near}")
            other = taken.setdefault((bookmaker.source, bookmaker.key), bookmaker_id)
            if other != bookmaker_id:
                found = f"{at}.key was {bookmaker.key!r}, which bookmakers.{other} has already"
                self.faults.append(f"{found}, must be another")
            if (kind := self._kinds.get(bookmaker.source)) is not None:
                told = len(self.faults)
                with self._at(at):
                    kind.check_key(bookmaker.key)
                if len(self.faults) > told:
                    self._wrong_keys.add(bookmaker_id)
                self._check_with_kind(bookmaker, kind, at)

    def _check_with_kind(self, bookmaker: BookmakerSettings, kind: Kind, at: str) -> None:
        if bookmaker.name is None and not (isinstance(kind, PolledKind) and kind.has_titles):
            self.faults.append(f'{at}.name is missing, must be the display name, like "Bet365"')
        if bookmaker.commission and isinstance(kind, PolledKind) and kind.has_fees:
            found = f"{at}.commission was {bookmaker.commission:g}"
            self.faults.append(f"{found}, must be left out: {kind.name} gives its fees itself")

    def _check_names(self, settings: Settings) -> None:
        """Report equal configured names, except the names of bookmakers of one company.

        Names that sources give may be equal.
        """
        taken: dict[str, BookmakerId] = {}
        for bookmaker_id, bookmaker in settings.bookmakers.items():
            if bookmaker.name is None:
                continue
            other = taken.setdefault(bookmaker.name, bookmaker_id)
            company = settings.bookmakers[other].company
            if other != bookmaker_id and (company is None or company != bookmaker.company):
                found = (
                    f"bookmakers.{bookmaker_id}.name was {bookmaker.name!r}, which bookmakers.{other} has"
                )
                allowed = "one that no other bookmaker has, or both must have the same company"
                self.faults.append(f"{found} already, must be {allowed}")
        self._check_shorts(settings)

    def _check_shorts(self, settings: Settings) -> None:
        """Report short names that are equal, ignoring case."""
        taken: dict[str, BookmakerId] = {}
        for bookmaker_id, bookmaker in settings.bookmakers.items():
            if bookmaker.short is None:
                continue
            other = taken.setdefault(bookmaker.short.casefold(), bookmaker_id)
            if other != bookmaker_id:
                found = f"bookmakers.{bookmaker_id}.short was {bookmaker.short!r}, as of bookmakers.{other}"
                self.faults.append(f"{found}, must be another")

    def _check_cluster(self, settings: Settings, url: object) -> None:
        """Check the options that a cluster requires, and those that it does not support."""
        if not isinstance(url, str):
            return
        if not _is_of_server(url):
            _, at, place = url.rpartition("@")  # the part before it may contain a password
            found = f"***@{place}" if at else place
            self.faults.append(f"cluster.url was {found!r}, must be {CLUSTER_URL}")
        if find_spec("redis") is None:
            self.faults.append("cluster.url needs redis; pip install 'oddsboard[cluster]'")
        for name, bookmaker in settings.bookmakers.items():
            if bookmaker.name is None:
                why = "in a cluster it must be configured, the same for all processes"
                self.faults.append(f"bookmakers.{name}.name is missing: {why}")
        for source_name, source in settings.sources.items():
            with self._at(f"sources.{source_name}"):
                self._check_budget(source, settings, source_name)

    def _check_budget(self, source: SourceSettings, settings: Settings, name: SourceName) -> None:
        """Check that a budget is handed over with the lease: otherwise each collector has its own count."""
        keys = tuple(bookmaker.key for bookmaker in settings.bookmakers_of(name).values())
        if not isinstance(source.kind, PolledKind) or not keys or self._wrong_keys:
            return
        plan = source.kind.plan(source.options, keys)
        if plan.quota() is not None and not plan.carried((), Instant(0.0, 0.0)):
            why = "which its kind cannot hand over to another process; must not be in a cluster"
            self.faults.append(f"sources.{name} has a budget of requests, {why}")

    def _check_sources(self, settings: Settings, *, may_be_used: bool) -> None:
        """Check each source with its bookmakers' keys. `may_be_used`: faulty bookmakers may use it."""
        for name, source in settings.sources.items():
            at, kind, options = f"sources.{name}", source.kind, source.options
            used = settings.bookmakers_of(name)
            keys = tuple(entry.key for entry_id, entry in used.items() if entry_id not in self._wrong_keys)
            if not used and not may_be_used:
                self.faults.append(f"{at} is used by no bookmaker, must be used or left out")
            check = kind.plan if isinstance(kind, PolledKind) else kind.check
            if keys and check is not None:
                with self._at(at):
                    check(options, keys)
            if isinstance(options, StreamOptions) and options.certificate is not None:
                try:
                    tls_context(options.certificate, options.certificate_key)
                except (OSError, ValueError) as error:
                    self.faults.append(f"{at}.certificate cannot be used: {error}")

    def _refusals(self, raw: Any, expanded: Any, kind: type, at: str) -> dict[str, list[str]]:
        found = refusals(raw, expanded, kind, at)
        self.faults += [fault for faults in found.values() for fault in faults]
        return found

    def table(self, raw: Any, expanded: Any, kind: type[S], at: str) -> S | None:
        """Return a table at the place `at` as a `kind`, None if it has faults. Faults quote `raw`."""
        made: S | None = None
        if not self._refusals(raw, expanded, kind, at):
            with self._at(at):
                made = msgspec.convert(expanded, kind)
        return made

    @contextmanager
    def _at(self, at: str) -> Iterator[None]:
        """Report the error of a check at the place `at`; the check may run a plug-in's code."""
        try:
            with checking(at):
                yield
        except ConfigError as error:
            self.faults.append(str(error))


def _hidden(value: Any) -> Any:
    """Return a secret, or a table of secrets, with only references and names visible."""
    if isinstance(value, dict):
        return {key: _hidden(item) for key, item in value.items()}
    return "***" if value and not is_variable(str(value)) else value


def _value(expanded: dict[str, Any], table: str, key: str) -> Any:
    """Return a value of a table, even if the table is faulty otherwise."""
    found = expanded.get(table)
    return found.get(key) if isinstance(found, dict) else None


def _is_of_server(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_local = parts.scheme == "unix"
        if not is_local and parts.scheme not in {"redis", "rediss"}:
            return False
        has_place = bool(parts.path) if is_local else bool(parts.hostname) and parts.port != 0
        number = "" if is_local else parts.path.removeprefix("/")
        return has_place and not parts.query and (not number or number.isdecimal())
    except ValueError:
        return False


def _is_source_name(name: str) -> bool:
    return re.fullmatch("[a-z0-9_-]{1,32}", name) is not None


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
