"""The service behind nginx, with the settings that we ship."""

from __future__ import annotations

import gzip
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import httpx2
import pytest

from tests.support.systems.process import ROOT, service

NGINX = which("nginx") or "/usr/sbin/nginx"
SHIPPED = ROOT / "config" / "deploy" / "nginx.conf"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path(NGINX).exists(), reason="needs nginx"),
]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def proxied(upstream: str, folder: Path) -> Iterator[str]:
    """Run nginx with the shipped settings in front of `upstream`, and return its address."""
    port = _free_port()
    shipped = SHIPPED.read_text()
    for old, new in (
        ("/var/cache/nginx/oddsboard", str(folder / "cache")),
        ("127.0.0.1:8000", upstream.removeprefix("http://")),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
    ):
        assert old in shipped
        shipped = shipped.replace(old, new)
    paths = "".join(
        f"{name}_temp_path {folder / name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    log = f"log_format upstream '$uri $upstream_cache_status';\naccess_log {folder / 'access'} upstream;"
    main.write_text(
        f"daemon off; user root; pid {folder / 'pid'}; error_log {folder / 'error'};\n"
        f"events {{ worker_connections 2048; }}\nhttp {{ {log}\n{paths}\n{shipped}\n}}\n"
    )
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(main)])
    try:
        deadline = time.monotonic() + 10.0
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of nginx in front of a quiet service."""
    folder = tmp_path_factory.mktemp("nginx")
    config = folder / "quiet.toml"
    config.write_text(
        '[sources.s]\nkind = "simulated"\nmatches = 40\nupdates_per_s = 0.01\n'
        '[bookmakers.a]\nname = "A"\nsource = "s"\nkey = "sharp"\n'
    )
    with service(config) as one, proxied(one.base, folder) as address:
        with httpx2.Client(base_url=address) as client:
            deadline = time.monotonic() + 10.0
            while client.get("/health/ready").status_code != 200 and time.monotonic() < deadline:
                time.sleep(0.05)
        yield address


def test_a_poll_with_a_tag_is_304(front: str) -> None:
    """With the cache in between too, for each coding."""
    with httpx2.Client(base_url=front) as client:
        for coding in ("identity", "gzip", "gzip, deflate, br", "gzip;q=0"):
            headers = {"Accept-Encoding": coding}
            first = client.get("/api/v2/odds", headers=headers)
            assert 200 == first.status_code
            again = client.get("/api/v2/odds", headers={**headers, "If-None-Match": first.headers["etag"]})

            assert (304, first.headers["etag"]) == (again.status_code, again.headers["etag"])
            assert ("gzip" in coding and "q=0" not in coding) == first.headers["etag"].endswith('-gzip"')


def test_an_error_is_never_cached(front: str) -> None:
    """A problem document passes as it is."""
    with httpx2.Client(base_url=front) as client:
        ids = {client.get("/api/v2/odds?bookmaker=nobody").json()["request_id"] for _ in range(3)}

    assert 3 == len(ids)


def test_the_stream_is_not_held_back(front: str) -> None:
    """The first event comes at once."""
    with (
        httpx2.Client(base_url=front, timeout=5.0) as client,
        client.stream("GET", "/api/v2/stream") as one,
    ):
        first = next(one.iter_bytes())

    assert first.startswith(b"id: ")


def test_the_list_is_the_one_of_the_service(front: str) -> None:
    """Both codings have the same content."""
    with httpx2.Client(base_url=front) as client:
        plain = client.get("/api/v2/odds", headers={"Accept-Encoding": "identity"}).content
        with client.stream("GET", "/api/v2/odds", headers={"Accept-Encoding": "gzip"}) as packed:
            raw = b"".join(packed.iter_raw())

    assert plain == gzip.decompress(raw)
