"""Puts the front end together: routes, error pages, what happens to every request. Nothing global."""

from __future__ import annotations

from collections.abc import Mapping

from quart import Quart

from actors.clock import Clock
from actors.messages import BookmakerId
from actors.snapshot import Readable
from actors.status import ServiceStatus
from web import capabilities, odds, probes, problems, requests
from web.answers import Answers
from web.guard import Guard
from web.layer import Layer


def create_app(
    board: Readable,
    status: ServiceStatus,
    names: Mapping[BookmakerId, str],
    clock: Clock,
    *,
    is_layered: bool = True,
) -> Quart:
    """Make the application.

    `board` is what is shown, `names` are the bookmakers' display names in the order of the
    configuration. Without `is_layered` Quart answers everything by itself, and in the same way.
    """
    app = Quart("oddsboard", static_folder=None)
    app.config["RESPONSE_TIMEOUT"] = None  # every body is ready before its answer begins
    app.url_map.merge_slashes = False  # paths are exact: no redirect to a similar one
    counters, answers = requests.HttpCounters(), Answers(board, names)
    requests.install(app, counters)
    problems.install(app)
    probing = probes.probes(board, status, counters, clock)
    app.register_blueprint(odds.blueprint(answers, names))
    app.register_blueprint(probes.blueprint(probing))
    endpoints = {"/api/capabilities", *(rule.rule for rule in app.url_map.iter_rules())}
    app.register_blueprint(capabilities.blueprint(sorted(endpoints), names))
    app.asgi_app = Guard(app.asgi_app)  # type: ignore[method-assign]  # as Quart documents for middleware
    if is_layered:
        handlers = odds.handlers(answers, names) | probes.handlers(probing)
        app.asgi_app = Layer(app.asgi_app, handlers, counters)  # type: ignore[method-assign]
    return app
