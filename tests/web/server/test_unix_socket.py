"""A Unix socket, for a proxy on the same machine: the socket is served, replaced and removed."""

from __future__ import annotations

import socket
import stat
from contextlib import closing
from pathlib import Path

import anyio
import httpx2
import pytest

from actors.core.errors import BindError
from tests.support.builders.messages import match
from tests.support.systems.site import EPOCH, FIRST_VERSION, NAMES, open_site
from web.server import reader, watch
from web.server.listener import address_of, listen

pytestmark = pytest.mark.anyio

GET = b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n"
WAIT = GET % f"/api/v2/changes?since={FIRST_VERSION}-{EPOCH}&wait=30".encode()

BODY_BYTES = 9_000_000
POST = b"POST /health/live HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n"


async def test_a_unix_socket_is_served_and_removed_at_the_end(tmp_path: Path) -> None:
    """A socket file that an earlier process left is replaced."""
    path = tmp_path / "board.sock"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))

    async with open_site(bind=(str(path), None)) as site:
        transport = httpx2.AsyncHTTPTransport(uds=str(path))
        async with httpx2.AsyncClient(transport=transport, base_url="http://board") as client:
            answers = [await client.get(name) for name in ("/health/live", "/api/nothing", "/api/stats")]
        body = await anyio.to_thread.run_sync(_posted, path)
        address = site.base

    assert [200, 404, 200] == [answer.status_code for answer in answers]
    assert body.startswith(b"HTTP/1.1 405")
    assert f"unix:{path}" == address
    assert not path.exists()


def _posted(path: Path) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(str(path))
        client.sendall(POST + bytes(BODY_BYTES))
        return b"".join(iter(lambda: client.recv(65_536), b""))


def test_a_unix_socket_in_use_is_left_alone(tmp_path: Path) -> None:
    """A file that is not a socket is left alone as well; the error names the path."""
    used, file = tmp_path / "used.sock", tmp_path / "file"
    file.write_text("mine")
    with closing(listen(str(used), None)) as listener:
        for path in (used, file, tmp_path / "none" / "x.sock"):
            with pytest.raises(BindError, match=f"unix:{path}"):
                listen(str(path), None)

        assert stat.S_ISSOCK(used.stat().st_mode)
        assert f"unix:{used}" == address_of(listener)
    assert not used.exists()
    assert "mine" == file.read_text()


def test_a_unix_socket_ends_although_its_file_is_gone(tmp_path: Path) -> None:
    """Somebody else may have removed the socket's file first."""
    path = tmp_path / "board.sock"
    with closing(listen(str(path), None)) as listener:
        path.unlink()

    assert -1 == listener.fileno()


def _connected(path: Path, request: bytes) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(5)
    client.connect(str(path))
    client.sendall(request)
    return client


@pytest.mark.parametrize("count", [100, 20_000])
async def test_a_client_that_reads_nothing_is_disconnected(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This happens even if little is left of the client's answer, and the client's request has ended."""
    monkeypatch.setattr(reader, "SLOW_READER_S", 0.3)
    monkeypatch.setattr(reader, "LOOK_S", 0.1)
    monkeypatch.setattr(watch, "SEND_LIMIT_S", 0.3)
    path = tmp_path / "board.sock"
    async with open_site(bind=(str(path), None)) as site:
        site.publish(next(iter(NAMES)), *(match(f"m{number}") for number in range(count)))
        with _connected(path, GET % b"/api/v2/odds" * (20 if count == 100 else 1)):
            await site.until(lambda: site.connections.open == 1)
            await site.until(lambda: site.connections.open == 0)


async def test_a_client_that_leaves_while_it_waits_is_given_up(tmp_path: Path) -> None:
    """The place of the client is free within two seconds, as over TCP."""
    path = tmp_path / "board.sock"
    async with open_site(bind=(str(path), None)) as site:
        client = _connected(path, WAIT * 2)  # behind a second request the server does not read on
        await site.until(lambda: len(site.audience) == 1)
        client.close()
        await site.until(lambda: site.connections.open == 0)


async def test_requests_over_a_unix_socket_are_noted_while_they_wait(tmp_path: Path) -> None:
    """Noted requests let the server turn away the excess; none is noted when all are answered."""
    path = tmp_path / "board.sock"
    async with open_site(bind=(str(path), None)) as site:
        with _connected(path, GET % b"/health/live") as client:
            await anyio.to_thread.run_sync(client.recv, 65_536)
            (connection,) = site.connections.by_request
            await site.until(connection.is_idle)

        assert 0 == site.connections.load.waiting


async def test_a_client_that_waits_after_a_long_answer_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client reads nothing because nothing is sent: only its next answer comes late."""
    monkeypatch.setattr(reader, "SLOW_READER_S", 0.1)
    monkeypatch.setattr(reader, "LOOK_S", 0.05)
    path = tmp_path / "board.sock"
    async with open_site(bind=(str(path), None)) as site:
        site.publish(next(iter(NAMES)), *(match(f"m{number}") for number in range(1_000)))
        with _connected(path, GET % b"/api/v2/odds") as client:
            await anyio.to_thread.run_sync(_read_list, client)
            client.sendall(WAIT.replace(b"?since", b"?bookmaker=alder&since"))
            await site.until(lambda: len(site.audience) == 1)
            (connection,) = site.connections.by_request
            await site.until(lambda: connection._look_again is None)  # the server looked for a slow reader
            is_kept = not connection.gate.is_closing

    assert is_kept


def _read_list(client: socket.socket) -> None:
    answer = b""
    while not answer.endswith(b"}") or answer.count(b'"matches_count"') == 0:
        answer += client.recv(65_536)
