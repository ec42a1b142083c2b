"""nginx and Varnish in front of the service, with the settings that we ship, on the service's core."""

from __future__ import annotations

import contextlib
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from scripts.benchmarks.processes import ROOT, Served, nginx, varnish

DEPLOY = ROOT / "config" / "deploy"
UNLIMITED = {"limit_conn oddsboard_clients 100;": ""}
"""The replacement in nginx's settings that lets one address have many connections."""
MAIN = """
user root;
worker_processes 1;
worker_rlimit_nofile 16384;
pid nginx.pid;
events { worker_connections 8192; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    %s
}
"""
Front = Callable[[Path, Served], contextlib.AbstractContextManager[Served]]


def in_nginx(
    folder: Path, service: Served, more: Mapping[str, str] = UNLIMITED
) -> contextlib.AbstractContextManager[Served]:
    """Run nginx in a new `folder`, with `more` replaced in its settings."""
    first, second = _ports(2)
    text = _replaced(
        "nginx.conf",
        {
            "/var/cache": str(folder),
            "server 127.0.0.1:8000;": f"server {_address(service)};",
            "127.0.0.1:8001": f"127.0.0.1:{second}",
            "listen 80;": f"listen 127.0.0.1:{first};",
            **more,
        },
    )
    folder.mkdir()
    # The first address to listen on is measured.
    (folder / "nginx.conf").write_text(MAIN % text, encoding="utf-8")
    return nginx(folder)


@contextlib.contextmanager
def in_varnish(folder: Path, service: Served) -> Iterator[Served]:
    """Run Varnish in a new `folder`."""
    port = _address(service).rpartition(":")[2]
    folder.mkdir()
    settings = folder / "board.vcl"
    settings.write_text(_replaced("varnish.vcl", {'.port = "8000";': f'.port = "{port}";'}), "utf-8")
    with varnish(settings, _ports(1)[0]) as served:
        yield served


def installed() -> dict[str, Front]:
    """Return the proxies that are installed, by name."""
    known: dict[str, tuple[str, Front]] = {
        "nginx": ("nginx", in_nginx),
        "Varnish": ("varnishd", in_varnish),
    }
    return {name: front for name, (program, front) in known.items() if shutil.which(program)}


def _address(service: Served) -> str:
    return service.url.removeprefix("http://")


def _replaced(name: str, changes: Mapping[str, str]) -> str:
    text = (DEPLOY / name).read_text(encoding="utf-8")
    for old, new in changes.items():
        if old not in text:
            raise RuntimeError(f"config/deploy/{name} has no {old!r}")
        text = text.replace(old, new)
    return text


def _ports(count: int) -> list[int]:
    """Return `count` ports at which nothing listens now."""
    with contextlib.ExitStack() as opened:
        probes = [opened.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [probe.getsockname()[1] for probe in probes]
