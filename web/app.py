"""Puts the front end together: routes, error pages, what happens to every request. Nothing global."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quart import Quart

from actors.clock import Clock
from actors.messages import BookmakerId
from actors.snapshot import Snapshot
from actors.status import ServiceStatus
from web import capabilities, changes, odds, pages, probes, problems, requests, stream
from web.answers import Answers
from web.audience import Audience
from web.frames import Frames
from web.guard import Guard
from web.live import Live
from web.stream import Stream


def create_app(
    read: Callable[[], Snapshot],
    status: ServiceStatus,
    names: Mapping[BookmakerId, str],
    clock: Clock,
    audience: Audience,
) -> Quart:
    """Make the application.

    `read` gives the newest snapshot without waiting, `names` are the bookmakers' display names in
    the order of the configuration, `audience` are the clients that wait for changes.
    """
    app = Quart("oddsboard", static_folder=None)
    app.config["RESPONSE_TIMEOUT"] = None  # every body is ready before its answer begins
    app.url_map.merge_slashes = False  # paths are exact: no redirect to a similar one
    counters = requests.HttpCounters(lambda: len(audience))
    requests.install(app, counters)
    problems.install(app)
    answers = Answers(names)
    live = Live(read, names, audience, Frames(audience.history, names, answers))
    app.register_blueprint(odds.blueprint(read, answers, names))
    app.register_blueprint(changes.blueprint(live))
    app.register_blueprint(stream.blueprint())
    app.register_blueprint(probes.blueprint(read, status, counters, clock))
    app.register_blueprint(pages.blueprint())
    paths = (rule.rule for rule in app.url_map.iter_rules())
    endpoints = {"/api/capabilities", *(path for path in paths if not path.startswith(pages.STATIC))}
    app.register_blueprint(capabilities.blueprint(sorted(endpoints), names))
    layer = Stream(app.asgi_app, live, counters)
    app.asgi_app = Guard(layer)  # type: ignore[method-assign]  # as Quart documents for middleware
    return app
