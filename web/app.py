"""Composes the front end: endpoints, Quart and the layers in front of it. Has no global state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TypeVar

from hypercorn.typing import ASGIFramework
from quart import Quart

from actors.alerts.recent import Recent
from actors.archive.past import Past
from actors.board.snapshot import Readable
from actors.core.clock import Clock
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.monitoring.metrics import Metrics
from actors.monitoring.status import ServiceStatus
from actors.review.review import Review
from actors.runtime.membership import ClusterStatus
from web.endpoints import (
    ages,
    alerts,
    archive,
    capabilities,
    changes,
    docs,
    fixtures,
    odds,
    openapi,
    pages,
    probes,
    stream,
    values,
)
from web.endpoints import markets as markets_
from web.endpoints.operators import entries, events, links
from web.endpoints.past import closing, lines, movers, value_record
from web.feeds.catching_up import BEHIND_S, CatchUp
from web.feeds.lists import Answers
from web.feeds.messages import FixtureFrames, ListFrames
from web.feeds.older_changes import OlderChanges
from web.feeds.own_bodies import OwnBodies
from web.feeds.past_lists import PastLists
from web.feeds.several_markets import SeveralFrames
from web.feeds.subscribers import Audience, Live
from web.feeds.value.changes import FollowedValues
from web.feeds.waiting.first_links import FirstLinks
from web.protocol import quart_setup
from web.protocol.access import Access
from web.protocol.contract import Operation
from web.protocol.rate_limit import RateLimit, WorkLimit
from web.protocol.responses import Handler, HttpCounters
from web.protocol.sending import FastPath, Unrouted, WaitingPath
from web.protocol.throttle import ClientLimits, Throttle
from web.server.listener import KeepFresh

V = TypeVar("V")
OPERATIONS = {
    **odds.OPERATIONS,
    **archive.OPERATIONS,
    **lines.OPERATIONS,
    **closing.OPERATIONS,
    **movers.OPERATIONS,
    **fixtures.OPERATIONS,
    **markets_.OPERATIONS,
    **ages.OPERATIONS,
    **links.OPERATIONS,
    **entries.OPERATIONS,
    **events.OPERATIONS,
    **changes.OPERATIONS,
    **stream.OPERATIONS,
    **values.OPERATIONS,
    **alerts.OPERATIONS,
    **value_record.OPERATIONS,
    **capabilities.OPERATIONS,
    **probes.OPERATIONS,
    **openapi.OPERATIONS,
    **docs.OPERATIONS,
    **pages.OPERATIONS,
}
"""The declaration of each path; a route without a declaration is an error at the start."""
FOR_OPERATORS = {
    **probes.OPERATIONS,
    **ages.OPERATIONS,
    **links.OPERATIONS,
    **entries.OPERATIONS,
    **events.OPERATIONS,
}
OPEN = {*probes.OPEN, ages.AGES}
"""Paths for operators that need no token."""


def create_app(
    board: Readable,
    status: ServiceStatus,
    names: Mapping[BookmakerId, str],
    clock: Clock,
    audience: Audience,
    *,
    keep_fresh: KeepFresh,
    refusals: str,
    watched: Callable[[ASGIFramework], ASGIFramework] = lambda app: app,
    limits: ClientLimits | None = None,
    review: Review | None = None,
    past: Past | None = None,
    access: Access = Access(),  # noqa: B008 - a frozen value
    markets: Mapping[Kind, entries.Remembering] = {},
    recent: Recent | None = None,
) -> Quart:
    """Return the application that serves the 1X2 board and the boards of other `markets`.

    `keep_fresh` and `refusals` come from the listener; `recent` has the alerts that fired.
    """
    app, limits, recent = quart_setup.bare(), limits or ClientLimits(), recent or Recent()
    counters = _counters(status.metrics, audience, limits.requests)
    live = _live(_catch_up(board, status, clock), names, audience, limits.work, past=past, markets=markets)
    values = FollowedValues(live, clock)
    own, handlers, is_allowed = live.answers.own, _list_handlers(live, clock, past, recent), access.allows
    handlers |= probes.handlers(board, status, counters, clock, own, review=review, is_operator=is_allowed)
    waiting = ages.handlers(board, clock, markets) | _movement_handlers(live, clock, past, values)
    waiting |= _match_handlers(live, status, clock, review=review, past=past, boards=markets)
    fast, slow = (_served(_requiring_token(some, access), status.cluster) for some in (handlers, waiting))
    streams = _served({stream.PATH: True}, status.cluster)
    fast |= _contract_handlers(paths := (*fast, *slow, *streams), names, is_archived=past is not None)
    quart_setup.install(app, counters)
    inner = WaitingPath(Unrouted(app.asgi_app, (*paths, *fast), counters, pages.route_of), slow, counters)
    every = watched(stream.Stream(inner, live, recent, values, counters, keep_fresh) if streams else inner)
    guard = quart_setup.Guard(every, refusals, counters)
    fast_path = FastPath(guard, fast, counters, status, pages.route_of)
    throttle = Throttle(fast_path, limits.requests, limits.peers, refusals, counters)
    app.asgi_app = throttle  # type: ignore[assignment, method-assign]  # as Quart documents
    return app


def _requiring_token(handlers: Mapping[str, Handler], access: Access) -> dict[str, Handler]:
    """Return the handlers; the handlers for operators now require the token."""
    for_operators = {
        path: made for path, made in handlers.items() if path in FOR_OPERATORS and path not in OPEN
    }
    return {**handlers, **access.closed(for_operators)}


def _served(handlers: Mapping[str, V], cluster: ClusterStatus | None) -> dict[str, V]:
    """Return the handlers that are served; a collector without a board serves only operators."""
    if cluster is None or cluster.is_shown:
        return {**handlers}
    return {
        path: made
        for path, made in handlers.items()
        if path in FOR_OPERATORS or path.startswith(pages.STATIC)
    }


def _counters(metrics: Metrics, audience: Audience, limit: RateLimit) -> HttpCounters:
    metrics.levels["oddsboard_http_known_clients"].set_function(partial(len, limit))
    metrics.levels["oddsboard_stream_clients"].set_function(partial(len, audience))
    return HttpCounters(metrics)


def _list_handlers(live: Live, clock: Clock, past: Past | None, recent: Recent) -> dict[str, Handler]:
    """Return the handlers of the board's lists, of the archive, of alerts and of the pages."""
    lists = None if past is None else PastLists(past, live.board, clock, live.answers.own)
    of_odds = odds.handlers(live.answers, live.names, lists) | archive.handlers(past, clock)
    of_odds |= alerts.handlers(recent)
    return of_odds | fixtures.handlers(live) | markets_.handlers(live) | pages.handlers()


def _movement_handlers(
    live: Live, clock: Clock, past: Past | None, followed: FollowedValues
) -> dict[str, Handler]:
    """Return the handlers of changes, of single fixtures, of price movements and of values."""
    moved = changes.handlers(live, followed) | values.handlers(live, followed.values)
    moved |= lines.handlers(live, clock, past) | closing.handlers(live, clock, past)
    moved |= movers.handlers(live, clock, past) | value_record.handlers(live, clock, past)
    return fixtures.handlers_of_fixture(live) | moved


def _match_handlers(
    live: Live,
    status: ServiceStatus,
    clock: Clock,
    *,
    review: Review | None,
    past: Past | None,
    boards: Mapping[Kind, entries.Remembering],
) -> dict[str, Handler]:
    """Return the handlers for operators: links and traces of single matches."""
    board, own = live.board, live.answers.own
    parts = (board, status, clock, live.audience, own)
    traces = entries.handlers(*parts, review=review, past=past, beside=tuple(boards.values()))
    return links.handlers(board, clock, review, own) | traces | events.handlers(status, past, own)


def _catch_up(board: Readable, status: ServiceStatus, clock: Clock) -> CatchUp:
    first_links = None if status.is_idle is None else FirstLinks(board, clock, status, status.is_idle)
    return CatchUp(board, 0.0 if status.cluster is None else BEHIND_S, first_links)


def _live(
    catch_up: CatchUp,
    names: Mapping[BookmakerId, str],
    audience: Audience,
    work: WorkLimit,
    *,
    past: Past | None,
    markets: Mapping[Kind, Readable],
) -> Live:
    board, own = catch_up.board, OwnBodies(work)
    answers = Answers(board, names, own, catch_up)
    older = None if past is None else OlderChanges(past, names, own)
    lists, history = ListFrames(audience.history, names, answers, older), audience.fixtures
    of_fixtures, of_kinds = None if history is None else FixtureFrames(history, answers), {}
    for kind, other in markets.items():
        of_kind = Answers(
            other, names, own, CatchUp(other, catch_up.longest_s, catch_up.first_links), main=board
        )
        frames = FixtureFrames(audience.markets[kind], of_kind)
        of_kinds[kind] = Live(other, names, audience, of_kind, lists, frames)
    live = Live(board, names, audience, answers, lists, of_fixtures, of_kinds)
    return live if history is None else live.with_several(SeveralFrames(live))


def _contract_handlers(
    paths: Sequence[str], names: Mapping[BookmakerId, str], *, is_archived: bool
) -> dict[str, Handler]:
    paths = [path for path in paths if not path.startswith(pages.STATIC)]
    of_contract = _made_contract_handlers(tuple(paths), tuple(names), is_archived=is_archived)
    of_past = (archive.PATH, closing.PATH, movers.PATH, value_record.PATH)
    missing = {} if is_archived else archive.missing(of_past)
    of_capabilities = capabilities.handlers(_operations(paths, is_archived=is_archived), names)
    return of_contract | missing | of_capabilities


@lru_cache(maxsize=8)  # tests make many equal applications
def _made_contract_handlers(
    paths: tuple[str, ...], bookmakers: tuple[BookmakerId, ...], *, is_archived: bool
) -> dict[str, Handler]:
    """Return the handlers of the OpenAPI document and of the documentation page."""
    contract = openapi.document(_operations(paths, is_archived=is_archived), bookmakers)
    return openapi.handlers(contract) | docs.handlers(contract)


def _operations(paths: Iterable[str], *, is_archived: bool) -> dict[str, Operation]:
    own = (capabilities.PATH, openapi.PATH, docs.PATH)
    declared = OPERATIONS | odds.WITH_PAST if is_archived else OPERATIONS
    return {path: declared[path] for path in (*paths, *own)}
