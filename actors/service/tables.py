"""The tables of a configuration, as frozen Structs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Meta, Struct

from actors.archive.folder import ArchiveSettings
from actors.board.history import HistoryLimits
from actors.board.validity import BoardRules
from actors.core.errors import ConfigError
from actors.core.limits import Limits
from actors.core.messages import BookmakerId, Fees, Offer, SourceName
from actors.markets.market import Kind as MarketKind
from actors.matches.fair import FairRules
from actors.matches.surebets import Commission, SurebetRules
from actors.matching.overrides import Overrides
from actors.monitoring.shorts import MAX_SHORT
from actors.service.alerting.tables import AlertsSettings, Receivers, Rules
from actors.source_api.kinds import Kind
from actors.source_api.options import SourceOptions, credentials_of, every_kind
from actors.value.values import ValueRules


class ServerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The HTTP server; `max_streams` limits the clients that follow or wait for changes."""

    bind: Annotated[str, Meta(title='text, HOST:PORT or unix:/PATH, like "127.0.0.1:8000"')] = (
        "127.0.0.1:8000"
    )
    drain_s: Annotated[float, Meta(ge=0, le=3600)] = 1.0
    max_streams: Annotated[int, Meta(ge=0, le=1_000_000)] = 500
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class BookmakerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """A bookmaker: its source, its key there, and its display name (None if the source gives it).

    `commission` is its share of the net winnings in a market. `company` is the company that pays, None if
    it has no other bookmaker. `short` is a name for narrow places, None to derive it.
    """

    source: Annotated[SourceName, Meta(title="the name of a table [sources.NAME], in quotes")]
    key: Annotated[str, Meta(title="text, how the source names the bookmaker")]
    name: str | None = None
    commission: Commission = 0.0
    company: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    short: Annotated[str, Meta(min_length=1, max_length=MAX_SHORT)] | None = None


class LinksSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The file of links by hand; a relative path starts at the service's working directory."""

    file: str | None = None


class OperatorsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The readers of the operators' pages: everybody, or clients that send the token."""

    token: (
        Annotated[
            str,
            Meta(pattern=r"\A[!-~]{16,256}\Z", title="text of 16 to 256 ASCII characters, no spaces"),
        ]
        | None
    ) = None


class Role(StrEnum):
    """The part of a process in a cluster."""

    COLLECTOR = "collector"  # runs the sources whose leases it holds, and commits their lists
    REPLICA = "replica"  # shows the board to clients


CLUSTER_URL = (
    "redis://HOST[:PORT][/NUMBER], rediss:// likewise, or unix:///PATH, without a query; "
    "in a password @ is %40, / is %2F and # is %23"
)
BOTH = (Role.COLLECTOR, Role.REPLICA)


class ClusterSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """A Redis or Valkey server; without a `url` the process is not in a cluster.

    All keys on the server begin with `prefix`: processes with one prefix share a board.
    """

    url: Annotated[str, Meta(title=CLUSTER_URL)] | None = None
    prefix: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9_.-]{1,64}$",
            title="text of 1 to 64 letters, digits, '_', '.' and '-', like \"oddsboard\"",
        ),
    ] = "oddsboard"
    roles: Annotated[tuple[Role, ...], Meta(min_length=1)] = BOTH


class SourceSettings(Struct, frozen=True):
    """A source: its kind, its options, and its table as written, without secrets."""

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
    value: ValueRules = ValueRules()
    overrides: Overrides = Overrides()  # from the file of links
    archive: ArchiveSettings = ArchiveSettings()
    cluster: ClusterSettings = ClusterSettings()
    operators: OperatorsSettings = OperatorsSettings()
    alert: Rules = ()
    alerts: AlertsSettings = AlertsSettings()
    receivers: Receivers = {}

    @property
    def market_kinds(self) -> tuple[MarketKind, ...]:
        """The kinds of market that some source reads, 1X2 first."""
        return every_kind(kind for source in self.sources.values() for kind in source.options.kinds)

    def bookmakers_of(self, source: SourceName) -> dict[BookmakerId, BookmakerSettings]:
        """Return the bookmakers of `source`."""
        return {name: entry for name, entry in self.bookmakers.items() if entry.source == source}

    def offer_of(self, bookmaker: BookmakerSettings) -> Offer:
        """Return the kind of a bookmaker's offer; its prices never include a commission."""
        source = self.sources[bookmaker.source]
        offer = source.kind.offer_of(bookmaker.key, source.options)
        return msgspec.structs.replace(offer, fees=Fees.NOT_INCLUDED) if bookmaker.commission else offer

    def secrets(self) -> tuple[str, ...]:
        """Return all values that must never be shown, longest first."""
        found = {secret for source in self.sources.values() for secret in credentials_of(source.options)}
        if self.cluster.url is not None and (password := urlsplit(self.cluster.url).password):
            found |= {password, unquote(password)}
        if self.operators.token is not None:
            found.add(self.operators.token)
        found.update(*(receiver.secrets for receiver in self.receivers.values()))
        return tuple(sorted(found, key=len, reverse=True))


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """A file whose sources, bookmakers, rules and receivers of alerts are not checked yet."""

    sources: Annotated[dict[str, Any], Meta(title="tables, each [sources.NAME]")]
    bookmakers: Annotated[dict[str, Any], Meta(title="tables, each [bookmakers.ID]")]
    server: ServerSettings = ServerSettings()
    board: BoardRules = BoardRules()
    history: HistoryLimits = HistoryLimits()
    limits: Limits = Limits()
    links: LinksSettings = LinksSettings()
    fair: FairRules = FairRules()
    surebets: SurebetRules = SurebetRules()
    value: ValueRules = ValueRules()
    archive: ArchiveSettings = ArchiveSettings()
    cluster: ClusterSettings = ClusterSettings()
    operators: OperatorsSettings = OperatorsSettings()
    alert: Annotated[tuple[Any, ...], Meta(title="tables, each [[alert]]")] = ()
    alerts: AlertsSettings = AlertsSettings()
    receivers: Annotated[dict[str, Any], Meta(title="tables, each [receivers.ID]")] = {}


def parse_bind(bind: str) -> tuple[str, int | None]:
    """Split HOST:PORT, the host of IPv6 in brackets; `unix:PATH` gives the path, without a port.

    Raises: ConfigError with the allowed forms.
    """
    if bind.startswith("unix:/") and "\0" not in bind:
        return bind.removeprefix("unix:"), None
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]\s]+)):([0-9]{1,5})", bind)
    if found is None or int(found[3]) > 65535:  # noqa: PLR2004 - the largest port
        raise ConfigError(
            f"bind was {bind!r}, must be HOST:PORT or unix:/PATH, like 127.0.0.1:8000 or [::1]:8000"
        )
    return found[1] or found[2], int(found[3])
