"""The service on uvicorn, as an operator starts it."""

from __future__ import annotations

from pathlib import Path

from tests.support.systems.process import LAGS, ROOT, program, ran
from tests.support.time.waiting import eventually

DEFAULT = ROOT / "config" / "default.toml"
WITHOUT_IT = """
import sys
sys.modules["uvicorn"] = None
from web.__main__ import main
main(["serve", "--server", "uvicorn", "--bind", "127.0.0.1:0"])
"""


def test_uvicorn_serves_and_stops_like_hypercorn() -> None:
    """It gives the same answers, stops in order with code 0, and has only the service's own log lines."""
    arguments = ("serve", "--server", "uvicorn", "--config", str(DEFAULT), "--bind", "127.0.0.1:0")
    with (
        program(*arguments) as running,
        running.client() as client,
    ):
        eventually(lambda: client.get("/health/ready").status_code == 200, "odds are served")
        zipped = client.get("/api/v2/odds", headers={"Accept-Encoding": "gzip"})
        again = client.get("/api/v2/odds", headers={"If-None-Match": "*"})
        client.get("/health", headers={"Connection": "Upgrade", "Upgrade": "websocket"})

        code = running.stop()

    events = {line["event"] for line in running.log} - LAGS
    assert (200, "gzip", 304) == (zipped.status_code, zipped.headers["content-encoding"], again.status_code)
    assert 0 == code
    assert {"service.started", "source.simulated", "service.stopping", "service.stopped"} == events


def test_uvicorn_listens_for_a_proxy_on_this_machine_only(tmp_path: Path) -> None:
    """On another address the command fails; on a Unix socket it serves, and says what it is for."""
    code, _, err = ran("-m", "web", "serve", "--server", "uvicorn", "--bind", "0.0.0.0:0")
    bind = f"unix:{tmp_path}/board.sock"
    with program("serve", "--server", "uvicorn", "--config", str(DEFAULT), "--bind", bind) as running:
        assert 0 == running.stop()

    assert (78, 1) == (code, len(err.splitlines()))
    assert "bind was 0.0.0.0, must be a loopback address or unix:/PATH" in err
    (started,) = running.events("service.started")
    assert (bind, "uvicorn") == (started["url"], started["server"])
    assert "proxy on this machine" in started["note"]
    assert [] == [*tmp_path.iterdir()]


def test_without_the_extra_the_error_names_it() -> None:
    """One line names the option and the extra, with the exit code of an invalid configuration."""
    code, _, err = ran("-c", WITHOUT_IT)

    assert (78, 1) == (code, len(err.splitlines()))
    assert "--server uvicorn: uvicorn is not installed; pip install 'oddsboard[uvicorn]'" in err
