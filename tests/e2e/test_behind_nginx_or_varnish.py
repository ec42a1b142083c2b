"""The service behind nginx or Varnish, with the settings that we ship: the answers that clients get."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.support.systems.feed import unmoving
from tests.support.systems.process import free_port, service, simulated
from tests.support.systems.proxies import client_of, needs_nginx, needs_varnish, nginx, varnish
from tests.support.time.waiting import eventually

LIST, CHANGES = "/api/v2/odds", "/api/v2/changes"
CODINGS = {"identity": "", "gzip": "-gzip", "gzip, deflate, br": "-gzip", "gzip;q=0": "", "br": ""}
"""The codings that clients request, and the end of the service's tag; Varnish packs by itself."""
Proxy = Callable[[str, Path], AbstractContextManager[str]]
BOTH = pytest.mark.parametrize(
    "proxy",
    [
        pytest.param(nginx, id="nginx", marks=needs_nginx),
        pytest.param(varnish, id="varnish", marks=needs_varnish),
    ],
)


@BOTH
def test_a_client_polls_and_follows(proxy: Proxy, tmp_path: Path) -> None:
    """Each coding knows its tag again; waits and streams pass immediately; errors are the service's own."""
    with unmoving(tmp_path) as running, proxy(running.base.removeprefix("http://"), tmp_path) as address:
        for coding, end in CODINGS.items():
            with client_of(address, **{"Accept-Encoding": coding}) as client:
                first = client.get(LIST)
                tag, since = first.headers["etag"], first.headers["odds-cursor"]
                names = (tag, f"W/{tag}", f'"x", {tag}', "*") if proxy is nginx else (tag,)
                again = [client.get(LIST, headers={"If-None-Match": name}) for name in names]
                other = client.get(LIST, headers={"If-None-Match": '"1-e"'})
                wait = client.get(CHANGES, params={"since": since, "wait": "0.1"})
                with client.stream("GET", "/api/v2/stream") as stream:
                    event = next(filter(None, stream.iter_bytes()))
                unmet = client.get(LIST, headers={"If-Match": '"x"'})  # this answer may end the connection

            assert [(304, tag, b"")] * len(names) == [
                (answer.status_code, answer.headers["etag"], answer.content) for answer in again
            ]
            assert (200, 200) == (first.status_code, other.status_code)
            assert proxy is varnish or tag == f'"{since}{end}"'
            assert {"no-cache"} == {answer.headers["cache-control"] for answer in (first, other, *again)}
            assert (200, "no-store") == (wait.status_code, wait.headers["cache-control"])
            assert proxy is varnish or 412 == unmet.status_code == unmet.json()["status"]
            assert event.startswith((b"id: ", b"retry"))
            assert ("gzip" if end else "identity") == stream.headers.get("content-encoding", "identity")
        with client_of(address) as client:
            plain = client.get(LIST, headers={"Accept-Encoding": "identity"})
            with client.stream("GET", LIST, headers={"Accept-Encoding": "gzip"}) as packed:
                raw = b"".join(packed.iter_raw())
            refused = client.get(f"{LIST}?bookmaker=nobody")

    assert plain.content == gzip.decompress(raw)
    assert (None, "gzip") == (plain.headers.get("content-encoding"), packed.headers["content-encoding"])
    assert (400, "invalid_bookmaker") == (refused.status_code, refused.json()["code"])


@BOTH
def test_clients_that_wait_side_by_side_have_the_list(proxy: Proxy, tmp_path: Path) -> None:
    """A client that follows changes ends with a list of the service; the service gets fewer requests."""
    with (
        service(simulated(tmp_path, updates_per_s=5.0)) as running,
        proxy(running.base.removeprefix("http://"), tmp_path) as address,
    ):
        running.wait_ready()
        lists: dict[int, Any] = {}
        is_over = threading.Event()

        def watch() -> None:
            with running.client() as client:
                while not is_over.is_set():
                    found = client.get(LIST).json()
                    lists[found["version"]] = found["matches"]

        with ThreadPoolExecutor(11) as threads:
            watching = threads.submit(watch)
            followed = list(threads.map(lambda _: _followed(address), range(10)))
            eventually(lambda: lists.keys() >= {version for version, _ in followed}, "all are seen")
            is_over.set()
            watching.result()
        asked = running.get("/api/stats").json()["http"]["answers"][CHANGES]

    assert [lists[version] for version, _ in followed] == [matches for _, matches in followed]
    assert asked["200"] < 10 * 20


def _followed(address: str) -> tuple[int, list[Any]]:
    """Return version and matches of a client after twenty answers."""
    with client_of(address) as client:
        first = client.get(LIST)
        document, cursor = first.json(), first.headers["odds-cursor"]
        matches = {match["id"]: match for match in document["matches"]}
        version = document["version"]
        for _ in range(20):
            changes = client.get(f"{CHANGES}?since={cursor}&wait=20").json()
            matches |= {match["id"]: match for match in changes["matches"]}
            for removed in changes["removed"]:
                matches.pop(removed["id"], None)
            version, cursor = changes["version"], changes["cursor"]
    return version, [matches[name] for name in sorted(matches)]  # as configured: first alder, then birch


@needs_nginx
def test_the_site_may_have_it_below_a_path(tmp_path: Path) -> None:
    """Page, lists, stream and 304 work below a path without any setting of the service."""
    port = free_port()
    site = (
        f"server {{ listen 127.0.0.1:{port}; location /odds/ {{ proxy_pass http://127.0.0.1:PORT/;"
        " proxy_http_version 1.1; proxy_buffering off; proxy_read_timeout 40s;"
        " proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; } }"
    )
    with (
        unmoving(tmp_path) as running,
        nginx(running.base.removeprefix("http://"), tmp_path, more=site),
        client_of(f"http://127.0.0.1:{port}") as client,
    ):
        tag = client.get(f"/odds{LIST}").headers["etag"]
        again = client.get(f"/odds{LIST}", headers={"If-None-Match": tag})
        page, script = client.get("/odds/"), client.get("/odds/static/main.js")
        with client.stream("GET", "/odds/api/v2/stream") as stream:
            first = next(stream.iter_bytes())

    assert (304, 200, 200) == (again.status_code, page.status_code, script.status_code)
    assert '"static/main.js"' in page.text
    assert first.startswith(b"id: ")
