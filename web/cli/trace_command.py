"""`oddsboard trace`: asks a running service where a price comes from, or why there is none."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from actors.markets.market import ONE_X_TWO, Market
from actors.review.trace import split
from web.cli.asking import NO_LINKER, add_url, answer, part_of_path
from web.encoding.entry_schemas import (
    EntryList,
    EntryMarket,
    EntryMarketStep,
    EntryRejected,
    EntrySource,
    EntryStep,
    EntryTrace,
)
from web.encoding.schemas import OddsV2

MAX_BEFORE = 5  # earlier prices
MAX_LINKS = 6
MAX_MARKETS = 12
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def add_options(trace: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    trace.add_argument(
        "id",
        metavar="ID",
        help="the id of an entry, optionally with a market ('ID over_under:2.5'), or part of a team's name",
    )
    add_url(trace)


def trace_lines(given: argparse.Namespace) -> Iterator[str]:
    """Yield some twenty lines about an entry. Raises: ServiceUnreachableError."""
    found = answer(given, f"/monitor/entries/{part_of_path(split(given.id)[0])}", EntryTrace)
    yield _title(found)
    if found.absent is None:
        yield f"ON THE BOARD at version {found.version}, {_clock(found.now, found.now)} UTC"
    else:
        since = "" if found.absent.since is None else f" since {_moment(found.absent.since, found.now)}"
        yield f"NOT ON THE BOARD{since}: {found.absent.reason}"
        yield _line("why", found.absent.why)
    if found.rejected is not None:
        yield _line("rejected", _rejected(found.rejected, found.now))
    yield from _step_lines(found)
    if found.list is not None:
        yield _line("list", _list(found.list, found))
    if found.bookmaker is not None:
        about = found.bookmaker
        since = "" if about.since is None else f" since {_moment(about.since, found.now)}"
        yield _line(
            "bookmaker", f"{about.id} ({about.name}) is {about.state}{since}, entries {about.matches}"
        )
        if about.last_error is not None:
            yield _line("", about.last_error)
    if found.source is not None:
        yield _line("source", _source(found.source, found.now))
        if found.source.state == "elsewhere":
            yield _line("", "another process collects it: /health has the leases of the cluster")
        if found.source.last_error not in {None, found.bookmaker and found.bookmaker.last_error}:
            yield _line("", str(found.source.last_error))
    yield from _fixture_lines(found)
    yield from _market_lines(found, split(given.id)[1])
    yield from _other_lines(found)


def _other_lines(found: EntryTrace) -> Iterator[str]:
    for label, near in zip(["nearest", *[""] * len(found.near)], found.near, strict=False):
        yield _line(label, f"{near.id}  {near.home} v {near.away}")
    for label, left in zip(["left", *[""] * len(found.left)], found.left, strict=False):
        since = "" if left.since is None else f", {left.reason} {_moment(left.since, found.now)}"
        yield _line(label, f"{left.id}  {left.home} v {left.away}{since}")


def _title(found: EntryTrace) -> str:
    if (match := found.match) is None:
        return found.id
    kick_off = "kick-off unknown"
    if (start := match.start_time) is not None:
        kick_off = f"kick-off {datetime.fromtimestamp(start, UTC):%Y-%m-%d %H:%M} UTC"
    return f"{found.id}  {match.home} v {match.away}, {match.league or 'league unknown'}, {kick_off}"


def _step_lines(found: EntryTrace) -> Iterator[str]:
    """Yield all times of the newest price, then one line for each step before it."""
    now = found.now
    newest = next((step for step in found.steps if step.odds is not None), None)
    if found.absent is None and newest is not None and newest.odds is not None:
        version = "version not known" if newest.version is None else f"version {newest.version}"
        yield _line("price", f"{_odds(newest.odds)}, {version}")
        times = {
            "payload's time": newest.source_time,
            "received": newest.received_at,
            "committed": newest.committed_at,
        }
        yield _line(
            "", ", ".join(f"{name} {_moment(at, now)}" for name, at in times.items() if at is not None)
        )
    for label, step in zip(["before", *[""] * MAX_BEFORE], _before(found), strict=False):
        yield _line(label, _step(step, now))
    if found.archived is False:
        yield _line("", "the archive did not answer in time")


def _before(found: EntryTrace) -> tuple[EntryStep, ...]:
    """Return the steps before the current price, as many as are shown."""
    return found.steps[1 if found.absent is None else 0 :][:MAX_BEFORE]


def _step(step: EntryStep, now: float) -> str:
    return f"{f'left: {step.reason}' if step.odds is None else _odds(step.odds)}{_when(step, now)}"


def _when(step: EntryStep | EntryMarketStep, now: float) -> str:
    """Return the time and the version of a step, as far as they are known."""
    at = step.committed_at or step.updated
    version = "" if step.version is None else f", version {step.version}"
    return f"{'' if at is None else f', {_moment(at, now)}'}{version}"


def _is_foreign(state: EntryList) -> bool:
    """Return whether another process of the cluster collects the list; only that process withdraws it."""
    return state.stale_at is None and not state.withdrawn


def _list(state: EntryList, found: EntryTrace) -> str:
    confirmed = "never confirmed"
    if state.confirmed_at is not None:
        is_file = found.source is not None and found.source.prices == "collected"
        confirmed = f"{'file ' if is_file else ''}confirmed {_moment(state.confirmed_at, found.now)}"
    until = "good as long as its collector in the cluster is" if _is_foreign(state) else "withdrawn"
    if state.stale_at is not None:
        until = f"stale at {_clock(state.stale_at, found.now)} without the next"
    doubted = f", doubted {state.doubted} times" if state.doubted else ""
    return f"{state.scope}: {confirmed}, {until}{doubted}"


def _rejected(found: EntryRejected, now: float) -> str:
    if found.prices is None or found.at is None:
        return f"{found.reason}; its prices are not kept"
    prices = " / ".join("?" if price is None else f"{price:g}" for price in found.prices)
    return f"{found.reason}: {prices}, {_moment(found.at, now)}"


def _source(source: EntrySource, now: float) -> str:
    parts = [f"{source.name} ({source.kind}) is {source.state}"]
    if source.simulated:
        parts.append("invented prices")
    if source.failing_since is not None:
        parts.append(f"failing since {_moment(source.failing_since, now)}")
    if source.last_success_at is not None:
        parts.append(f"last answer {_moment(source.last_success_at, now)}")
    if source.next_attempt_at is not None:
        parts.append(f"next attempt {_clock(source.next_attempt_at, now)}")
    if source.delayed_s:
        parts.append(f"prices up to {source.delayed_s:g} s late")
    return ", ".join(parts)


def _fixture_lines(found: EntryTrace) -> Iterator[str]:
    fixture = found.fixture
    if fixture is None:
        return
    near = fixture.nearest
    if len(fixture.links) > 1:
        yield _line("fixture", f"{fixture.id}, events of {len(fixture.links)} sources")
    elif not fixture.linking:
        yield _line("fixture", f"{fixture.id}, alone: {NO_LINKER}")
    elif near is None:
        yield _line("fixture", f"{fixture.id}, alone: nothing resembles it")
    else:
        event = f"{near.event.source}:{near.event.source_match_id}"
        names = f"{near.event.home} v {near.event.away}"
        yield _line("fixture", f"{fixture.id}, not linked with {event} ({names}): {near.reason}")
    for link in fixture.links[:MAX_LINKS] if len(fixture.links) > 1 else ():
        event = f"{link.event.source}:{link.event.source_match_id}"
        why = f"{link.rule}, with {link.to}" if link.to else link.rule
        yield _line("", f"{event}  {link.event.home} v {link.event.away}: {why}")
    if (more := len(fixture.links) - MAX_LINKS) > 0:
        yield _line("", f"and {more} more: oddsboard links explain {fixture.id}")


def _market_lines(found: EntryTrace, wanted: Market | None) -> Iterator[str]:
    """Yield one line for each other market of the match, or for the wanted market only."""
    of = [each for each in found.markets if wanted is None or each.market == str(wanted)]
    shown = of[:MAX_MARKETS]
    for label, each in zip(["markets", *[""] * len(shown)], shown, strict=False):
        yield _line(label, _market(each, found))
    if (more := len(of) - len(shown)) > 0:
        yield _line("", f"and {more} more: oddsboard trace '{found.id} MARKET' shows one")
    if wanted is not None and shown:
        before = shown[0].steps[1 if shown[0].rejected is None else 0 :][:MAX_BEFORE]
        for label, step in zip(["before", *[""] * len(before)], before, strict=False):
            yield _line(label, _market_step(step, found.now))
    if wanted not in {None, ONE_X_TWO} and not of:
        yield _line("markets", f"{wanted}: neither on the board nor rejected")


def _market_step(step: EntryMarketStep, now: float) -> str:
    prices = f"left: {step.reason}" if step.odds is None else _prices(step.odds)
    return f"{prices}{_when(step, now)}"


def _prices(odds: Mapping[str, float | None]) -> str:
    return " / ".join("?" if price is None else f"{price:g}" for price in odds.values())


def _market(of: EntryMarket, found: EntryTrace) -> str:
    prices = _prices(of.odds or {})
    at = "" if of.updated is None else f", {_moment(of.updated, found.now)}"
    if of.rejected is not None:
        return f"{of.market} rejected: {of.rejected}: {prices or 'its prices are not kept'}{at}"
    if of.odds is None and of.steps:
        return f"{of.market} {_market_step(of.steps[0], found.now)}"
    return f"{of.market} {prices}{at}{'' if of.list is None else f'; {_in_list(of.list, found)}'}"


def _in_list(state: EntryList, found: EntryTrace) -> str:
    stale = "" if state.stale_at is None else f", stale at {_clock(state.stale_at, found.now)}"
    at = state.confirmed_at
    return f"{state.scope}: " + (
        "never confirmed" if at is None else f"confirmed {_clock(at, found.now)}{stale}"
    )


def _line(label: str, text: str) -> str:
    return f"  {label:<10}{text}"


def _odds(odds: OddsV2) -> str:
    return f"{odds.home:g} / {odds.draw:g} / {odds.away:g}"


def _clock(at: float, now: float) -> str:
    """Return a time of day (UTC) to the second, with its date if that is not today."""
    then, today = datetime.fromtimestamp(at, UTC), datetime.fromtimestamp(now, UTC)
    return f"{then:%H:%M:%S}" if then.date() == today.date() else f"{then:%Y-%m-%d %H:%M:%S}"


def _moment(at: float, now: float) -> str:
    """Return a time of day (UTC) to the millisecond, and how long ago it was."""
    clock = f"{_clock(at, now)}.{datetime.fromtimestamp(at, UTC):%f}"[:-3]
    return f"{clock} ({_duration(now - at)} ago)" if now >= at else clock


def _duration(duration_s: float) -> str:
    for unit_s, name in _UNITS:
        if duration_s >= unit_s:
            return f"{duration_s / unit_s:.1f} {name}"
    return f"{duration_s:.1f} s"
