"""The shared server over TLS (`rediss://`): it is used only with a certificate that the machine trusts."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from anyio import to_thread

from actors.cluster.progress import Seen
from actors.cluster.redis_store import RedisStore
from actors.core.errors import StoreLostError
from tests.support.builders.certificates import Authority, Pair
from tests.support.systems.machines import Proxy
from tests.support.systems.shared_server import SharedServer
from tests.support.time.waiting import eventually

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

MS = 1_780_000_000_000


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """Return an authority, the only one that this machine trusts."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.itself.certificate))
    return made


async def _joined(server: SharedServer, pair: Pair) -> str:
    with closing(Proxy(server.port, pair.server_context())) as proxy:
        url = f"rediss://127.0.0.1:{proxy.port}/0"
        store = RedisStore(url, "test", "shape", lambda: "e1", Seen())
        try:
            epoch = await store.join(MS)
            await store.look()
        finally:
            await store.close()
            await to_thread.run_sync(eventually, lambda: not proxy.connections, "it has closed")
    return epoch


async def test_a_server_with_a_trusted_certificate_is_used(
    server: SharedServer, authority: Authority
) -> None:
    """The certificate's authority is one that the machine trusts."""
    assert "e1" == await _joined(server, authority.signed("right"))


@pytest.mark.parametrize("wrong", ["its own", "another host's", "expired"])
async def test_a_server_with_a_wrong_certificate_is_refused(
    server: SharedServer, authority: Authority, wrong: str
) -> None:
    """No command is sent to such a server: a reader of the connection would get the password."""
    pair = {
        "its own": lambda: authority.self_signed("own"),
        "another host's": lambda: authority.signed("other", "DNS:other.example"),
        "expired": lambda: authority.signed("expired", days=-1),
    }[wrong]()

    with pytest.raises(StoreLostError, match="CERTIFICATE_VERIFY_FAILED"):
        await _joined(server, pair)
    assert b":0" == server.ask("DBSIZE")
