"""A Unix socket, for a proxy on the same machine: served by both servers, replaced, removed."""

from __future__ import annotations

import socket
import stat
from contextlib import closing
from pathlib import Path

import anyio
import httpx2
import pytest

from actors.core.errors import BindError
from tests.support.systems.site import open_site
from web.server.listener import address_of, listen
from web.server.servers import Serve, serve, serve_with_uvicorn

pytestmark = pytest.mark.anyio

BODY_BYTES = 9_000_000
POST = b"POST /health/live HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n"


@pytest.mark.parametrize("server", [serve, serve_with_uvicorn])
async def test_a_unix_socket_is_served_and_removed_at_the_end(server: Serve, tmp_path: Path) -> None:
    """A file that a process left behind is replaced."""
    path = tmp_path / "board.sock"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))

    async with open_site(serve=server, bind=(str(path), None)) as site:
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
    """So is a file that is no socket; the error names the path."""
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
