"""Flask under gunicorn: `jsonify` of dicts at each request, one worker with threads, kept connections.

Threads, because gunicorn's plain worker closes every connection after one answer. Unneeded work is left
out: for a 304 only the version is compared, and nothing is serialised.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
from flask import Flask, Response, jsonify, request
from gunicorn.app.base import BaseApplication

from scripts.benchmarks.peers import hosting

PATH = "/api/v2/odds"
LEVEL = 6
THREADS = 4


def application(data: Path) -> Flask:
    """Return the application."""
    board = msgspec.json.decode(data.read_bytes())
    etag = f'"{board["version"]}"'
    app = Flask("peer")

    @app.get(PATH)
    def odds() -> Response:
        if request.headers.get("If-None-Match") == etag:
            return Response(None, 304, {"ETag": etag})
        response = jsonify(board)
        response.headers["ETag"] = etag
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            response.set_data(gzip.compress(response.get_data(), LEVEL))
            response.headers["Content-Encoding"] = "gzip"
        return response

    return app


class Gunicorn(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn inside this program, with options from its code."""

    def __init__(self, data: Path, options: dict[str, Any]) -> None:
        self._data = data
        self._options = options
        super().__init__()

    def load_config(self) -> None:
        """Set the options."""
        for name, value in self._options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """Return the application, in the worker."""
        return application(self._data)


if __name__ == "__main__":
    given = hosting.arguments()
    options = {
        "bind": f"fd://{hosting.listen_and_log(given.bind).detach()}",
        "workers": 1,
        "worker_class": "gthread",
        "threads": THREADS,
        "loglevel": "warning",
        "graceful_timeout": 1,
    }
    Gunicorn(given.data, options).run()
