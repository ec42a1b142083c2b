"""Puts the front end together: routes, error pages, what happens to every request. Nothing global."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quart import Quart

from actors.clock import Clock
from actors.messages import BookmakerId
from actors.snapshot import Snapshot
from actors.status import ServiceStatus
from web import capabilities, odds, pages, probes, problems, requests
from web.guard import Guard


def create_app(
    read: Callable[[], Snapshot], status: ServiceStatus, names: Mapping[BookmakerId, str], clock: Clock
) -> Quart:
    """Make the application.

    `read` gives the newest snapshot without waiting, `names` are the bookmakers' display names in
    the order of the configuration.
    """
    app = Quart("oddsboard", static_folder=None)
    app.config["RESPONSE_TIMEOUT"] = None  # every body is ready before its answer begins
    app.url_map.merge_slashes = False  # paths are exact: no redirect to a similar one
    counters = requests.HttpCounters()
    requests.install(app, counters)
    problems.install(app)
    app.register_blueprint(odds.blueprint(read, names))
    app.register_blueprint(probes.blueprint(read, status, counters, clock))
    app.register_blueprint(pages.blueprint())
    paths = (rule.rule for rule in app.url_map.iter_rules())
    endpoints = {"/api/capabilities", *(path for path in paths if not path.startswith(pages.STATIC))}
    app.register_blueprint(capabilities.blueprint(sorted(endpoints), names))
    app.asgi_app = Guard(app.asgi_app)  # type: ignore[method-assign]  # as Quart documents for middleware
    return app
