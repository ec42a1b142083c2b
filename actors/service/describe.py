"""Lines that the command line prints about configurations, kinds of source, recordings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

from actors.alerts.rules.rule import MoveRule, ValueRule, sentence
from actors.configuration.allowed import Option, options_of
from actors.core.messages import BookmakerId, Prices
from actors.core.nearest import did_you_mean
from actors.matches.fair import MIN_BOOKMAKERS
from actors.recordings.format import NO_LIMIT_S
from actors.recordings.reader import open_source
from actors.recordings.replay_kind import ReplayOptions
from actors.review.doubts import incomplete, mixed
from actors.review.reload import EMPTY, is_silent
from actors.service.alerting.receivers import receiver_lines
from actors.service.registry import installed, kind_named
from actors.service.settings import Settings, parse_bind
from actors.source_api.kinds import PolledKind, prices_of


def configuration_lines(path: Path, settings: Settings) -> Iterator[str]:
    """Return a description of a checked configuration."""
    yield f"{path}: valid"
    for name, source in settings.sources.items():
        bookmakers = settings.bookmakers_of(name)
        place = source.written.get("url") or source.written.get("path", "")
        yield f"source {name}: {source.kind.name} {place}".rstrip()
        if isinstance(source.kind, PolledKind):
            keys = tuple(bookmaker.key for bookmaker in bookmakers.values())
            plan = source.kind.plan(source.options, keys)
            lines = plan.describe()
        else:
            lines = [f"stale after {source.options.staleness_s:g} s"]
            if isinstance(source.options, ReplayOptions):
                lines.append(_recorded(source.options))
        yield from (f"  {line}" for line in lines)
        for bookmaker_id, bookmaker in bookmakers.items():
            taken = f", commission {100 * bookmaker.commission:g} %" if bookmaker.commission else ""
            named = bookmaker.name or "named by the source"
            paid = f", company {bookmaker.company}" if bookmaker.company else ""
            yield f"  bookmaker {bookmaker_id}: {named} (key {bookmaker.key}{taken}{paid})"
    if (archive := settings.archive).path is not None:
        yield f"archive {archive.path}: {archive.keep_days} days, {archive.max_bytes:,} bytes at most"
    if settings.cluster.url is not None:
        roles = " and ".join(settings.cluster.roles)
        yield f"cluster {settings.cluster.prefix}: {roles}"
    if settings.operators.token is not None:
        yield "operators: a token opens /monitor, /metrics and /api/stats"
    yield from map(sentence, settings.alert)
    yield from _idle_rules(settings)
    yield from receiver_lines(settings)
    yield from _warnings(settings)
    yield from _for_own_use(settings)
    if settings.links.file is not None:
        by_hand = settings.overrides
        counts = {name: len(getattr(by_hand, name)) for name in ("teams", "leagues", "must", "must_not")}
        yield f"{settings.links.file}: {', '.join(f'{name} {count}' for name, count in counts.items())}"
        for line in (*([EMPTY] if is_silent(by_hand) else []), *mixed(by_hand), *incomplete(by_hand)):
            yield f"warning: {settings.links.file}: {line}"


def _recorded(options: ReplayOptions) -> str:
    """Return the markets in the recording of a source, and the markets of these that are shown."""
    source = open_source(Path(options.path), kind_named, options.price)
    keys, kinds = ", ".join(source.keys.values()), ", ".join(source.options.kinds)
    shown = ", ".join(options.kinds)
    return f"recording of {source.kind.name}: bookmakers {keys}; markets {kinds}, of which {shown} shown"


def _warnings(settings: Settings) -> Iterator[str]:
    """Yield a line for each unknown key, and for two bookmakers that may belong to one company."""
    for bookmaker_id, bookmaker in settings.bookmakers.items():
        kind, key = settings.sources[bookmaker.source].kind, bookmaker.key
        if isinstance(kind, PolledKind) and kind.known_keys and key not in kind.known_keys:
            taken = {each.key for each in settings.bookmakers_of(bookmaker.source).values()}
            near = did_you_mean(key, kind.known_keys - taken)
            found = f"bookmakers.{bookmaker_id}.key was {key!r}"
            yield f"warning: {found}, which {kind.name} is not known to have{near}"
    alike: dict[str, list[BookmakerId]] = {}
    for bookmaker_id, bookmaker in settings.bookmakers.items():
        if bookmaker.company is None:
            called = bookmaker.name or bookmaker.key
            alike.setdefault("".join(filter(str.isalnum, called.casefold())), []).append(bookmaker_id)
    for first, *others in alike.values():
        for other in others:
            yield (
                f"warning: {first} and {other} have the same name; if one company pays for both, give both"
                " the same company, so that no surebet consists of both"
            )


def _idle_rules(settings: Settings) -> Iterator[str]:
    """Yield a line for each rule that never fires, because too few companies make a consensus."""
    live = {
        name
        for name, source in settings.sources.items()
        if prices_of(source.kind, source.options) is Prices.LIVE
    }
    companies = {of.company or name for name, of in settings.bookmakers.items() if of.source in live}
    for rule in settings.alert:
        if isinstance(rule, ValueRule) and rule.reference is None:
            others, hint = 1, "; name a reference"
        elif isinstance(rule, MoveRule):
            others, hint = 0, ""
        else:
            continue
        if (needed := MIN_BOOKMAKERS + others) > len(companies):
            found = f"it needs {needed} companies with live prices, there are {len(companies)}"
            yield f"warning: alert {rule.name} never fires: {found}{hint}"


def _for_own_use(settings: Settings) -> Iterator[str]:
    """Yield a line if other machines can reach the board, and its prices are not simulated."""
    host, port = parse_bind(settings.server.bind)
    names = [name for name, source in settings.sources.items() if source.kind.name != "simulated"]
    if port is not None and host != "localhost" and not _is_loopback(host) and names:
        whose = f"unless their terms say more, the prices of {', '.join(names)} are for your own use"
        yield f"warning: others can reach {settings.server.bind}; {whose} (docs/sources.md)"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def kind_lines(name: str | None = None) -> Iterator[str]:
    """Yield the kinds of source, or the kind called `name`, and their options, each explained.

    Raises: ConfigError if a kind cannot be loaded, or none has this name.
    """
    if name is not None:
        kind_named(name)
    for kind, origin in installed():
        if name in {None, kind.name}:
            yield f"{kind.name} ({origin})"
            for option in options_of(kind.options).values():
                if option.name != "kind":
                    yield from _option_lines(option)


def _option_lines(option: Option) -> Iterator[str]:
    default = "required" if option.default is None else f"default {option.default}"
    yield f"  {option.name}  ({default})"
    meaning = f"{option.meaning} " if option.meaning else ""
    yield f"      {meaning}{option.allowed[0].upper()}{option.allowed[1:]}."


def recording_lines(path: Path) -> Iterator[str]:
    """Yield a description of a recording. Raises: ConfigError, with the path, for another file."""
    source = open_source(path, kind_named)
    header, count, size = source.header, 0, 0
    yield f"{path}: source {header.source} of kind {header.kind}, from {_time(header.started_at)}"
    yield from (f"  {name} = {value!r}" for name, value in header.options.items() if name != "kind")
    yield f"  matches expire {header.expire_after_kickoff_s:g} s after kick-off"
    if header.in_play_max_age_s < NO_LIMIT_S:
        yield f"  prices in play expire {header.in_play_max_age_s:g} s after their last confirmation"
    for bookmaker in header.bookmakers:
        yield f"  bookmaker {bookmaker.id}: {bookmaker.name or 'named by the source'} (key {bookmaker.key})"
    records = source.records()
    while True:
        try:
            record = next(records)
        except StopIteration as done:
            yield f"{count} payloads, {size} bytes; {done.value}"
            return
        payload = record.payload
        count, size = count + 1, size + len(payload.body)
        line = f"{_time(payload.received_at)} {payload.scope} {payload.status} {len(payload.body)} bytes"
        yield f"{line}, list {payload.list_id}" if payload.list_id else line


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
