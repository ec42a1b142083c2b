"""nginx and Varnish of the system, with the settings that we ship (config/deploy), in front of a port."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import httpx2
import pytest

from tests.support.peers.plain_http import NO_TLS
from tests.support.systems.process import ROOT, free_port
from tests.support.time.waiting import eventually

SHIPPED = ROOT / "config" / "deploy"
NGINX = which("nginx") or "/usr/sbin/nginx"
VARNISH = which("varnishd") or "/usr/sbin/varnishd"
UNTIL_S = 30.0

needs_nginx = pytest.mark.skipif(
    not Path(NGINX).exists(), reason="needs nginx (Debian: apt-get install nginx)"
)
needs_varnish = pytest.mark.skipif(
    not Path(VARNISH).exists(), reason="needs varnish (Debian: apt-get install varnish)"
)


def client_of(base: str, **headers: str) -> httpx2.Client:
    """Return a client of a proxy that waits for answers as long as the service lets it wait."""
    return httpx2.Client(base_url=base, trust_env=False, verify=NO_TLS, headers=headers, timeout=UNTIL_S)


@contextmanager
def nginx(
    upstream: str, folder: Path, more: str = "", tls: str = "", connections: int = 1024
) -> Iterator[str]:
    """Run nginx with the shipped settings in front of `upstream`, and return its address.

    `upstream` is HOST:PORT or unix:PATH; `more` is added to the http block, `tls` to the server. At most
    `connections` connections are allowed, including the sockets that listen.
    """
    port, shipped = free_port(), (SHIPPED / "nginx.conf").read_text("utf-8")
    for old, new in (
        ("/var/cache", str(folder)),
        ("server 127.0.0.1:8000;", f"server {upstream};"),
        ("127.0.0.1:8001", f"127.0.0.1:{free_port()}"),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        ("    # listen 443 ssl http2;\n", tls),
    ):
        assert old in shipped
        shipped = shipped.replace(old, new)
    paths = "".join(
        f"{name}_temp_path {folder / name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(
        f"daemon off; user root; pid {folder / 'pid'}; error_log {folder / 'error'};\n"
        f"events {{ worker_connections {connections}; }}\n"
        f"http {{\naccess_log off;\n{paths}\n{shipped}\n{more.replace('PORT', str(port))}\n}}\n"
    )
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(main), "-e", str(folder / "error")])
    try:
        eventually(lambda: _accepts(port), "nginx listens")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def varnish(upstream: str, folder: Path) -> Iterator[str]:
    """Run Varnish with the shipped settings in front of `upstream`, HOST:PORT, and return its address."""
    text, listen = (SHIPPED / "varnish.vcl").read_text("utf-8"), f"127.0.0.1:{free_port()}"
    assert '.port = "8000";' in text
    settings, state = folder / "board.vcl", folder / "state"
    settings.write_text(
        text.replace('.port = "8000";', f'.port = "{upstream.rpartition(":")[2]}";'), "utf-8"
    )
    state.mkdir()
    command = [VARNISH, "-F", "-a", listen, "-f", str(settings), "-n", str(state), "-s", "malloc,32m"]
    # Started outside a service of its own, Varnish cannot change its user.
    process = subprocess.Popen(
        [*command, "-j", "none"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with client_of(f"http://{listen}") as client:
            eventually(lambda: _answers(client), "Varnish listens", 60)
        yield f"http://{listen}"
    finally:
        process.terminate()
        process.wait(20)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return not probe.connect_ex(("127.0.0.1", port))


def _answers(client: httpx2.Client) -> bool:
    try:
        client.get("/nothing")
    except httpx2.TransportError:
        return False
    return True
