"""Puts the front end together: routes, error pages, what happens to every request. Nothing global."""

from __future__ import annotations

from collections.abc import Mapping

from quart import Quart

from actors.board.snapshot import Readable
from actors.core.clock import Clock
from actors.core.messages import BookmakerId
from actors.monitoring.status import ServiceStatus
from web.endpoints import capabilities, changes, odds, pages, probes, stream
from web.endpoints.stream import Stream
from web.feeds.events import Frames
from web.feeds.lists import Answers
from web.feeds.subscribers import Audience, Live
from web.protocol import middleware, problems
from web.protocol.fast_path import Layer
from web.protocol.guard import Guard
from web.server.listener import KeepFresh


def create_app(
    board: Readable,
    status: ServiceStatus,
    names: Mapping[BookmakerId, str],
    clock: Clock,
    audience: Audience,
    *,
    keep_fresh: KeepFresh,
    is_layered: bool = True,
) -> Quart:
    """Make the application.

    `board` is what is shown, `names` are the bookmakers' display names in the order of the
    configuration, `audience` are the clients that wait for changes, `keep_fresh` is told of those that
    follow the stream. Without `is_layered` Quart answers all but the stream by itself, and in the same
    way.
    """
    app = Quart("oddsboard", static_folder=None)
    app.config["RESPONSE_TIMEOUT"] = None  # every body is ready before its answer begins
    app.url_map.merge_slashes = False  # paths are exact: no redirect to a similar one
    counters, answers = middleware.HttpCounters(lambda: len(audience)), Answers(board, names)
    middleware.install(app, counters)
    problems.install(app)
    live = Live(board, names, audience, Frames(audience.history, names, answers))
    probing = probes.probes(board, status, counters, clock)
    app.register_blueprint(odds.blueprint(answers, names))
    app.register_blueprint(changes.blueprint(live))
    app.register_blueprint(stream.blueprint())
    app.register_blueprint(probes.blueprint(probing))
    app.register_blueprint(pages.blueprint())
    paths = (rule.rule for rule in app.url_map.iter_rules())
    endpoints = {"/api/capabilities", *(path for path in paths if not path.startswith(pages.STATIC))}
    app.register_blueprint(capabilities.blueprint(sorted(endpoints), names))
    inner = Guard(Stream(app.asgi_app, live, counters, keep_fresh))
    handlers = odds.handlers(answers, names) | probes.handlers(probing) if is_layered else {}
    app.asgi_app = Layer(inner, handlers, counters)  # type: ignore[method-assign]  # as Quart documents
    return app
