"""The paths for operators with a token, on a real socket (docs/operations.md)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

import pytest

from actors.core.limits import Limits
from actors.runtime.actor import ActorState
from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site
from web.protocol.access import Access

pytestmark = pytest.mark.anyio

TOKEN = "correct-horse-battery"  # noqa: S105 - a token of these tests
BEARER = {"Authorization": f"Bearer {TOKEN}"}
CLOSED = (
    "/monitor",
    "/monitor/events",
    "/metrics",
    "/api/stats",
    "/monitor/links/fxaaaaaaaaaaaaa",
    "/monitor/links/fxaaaaaaaaaaaaa/fxbbbbbbbbbbbbb",
    "/monitor/abstentions/1",
    "/monitor/fixtures/fxaaaaaaaaaaaaa",
    "/monitor/entries/cedar_m1",
)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Serve a match to everybody, and records to operators with the token."""
    async with open_site(access=Access(TOKEN)) as site:
        site.publish("cedar", match())
        yield site


def _basic(password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"any:{password}".encode()).decode()}


@pytest.mark.parametrize("path", CLOSED)
async def test_a_closed_path_wants_the_token(site: Site, path: str) -> None:
    """Without the token no record is shown, and the answer makes a browser ask for the token."""
    refused = await site.get(path)
    allowed = await site.client.get(path, headers=BEARER)

    assert (401, "unauthorized") == (refused.status_code, refused.json()["code"])
    assert refused.headers["WWW-Authenticate"].startswith("Bearer ")
    assert 'Basic realm="oddsboard operators"' in refused.headers["WWW-Authenticate"]
    assert allowed.status_code in {200, 404}


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": "Bearer"},
        {"Authorization": TOKEN},
        {"Authorization": f"Digest {TOKEN}"},
        {"Authorization": "Basic !!!"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": f"Bearer \xfc{TOKEN}".encode("latin-1")},
        _basic(f"{TOKEN}:"),
        _basic(""),
    ],
)
async def test_nothing_but_the_token_opens_a_path(site: Site, headers: dict[str, Any]) -> None:
    """Any other credentials are answered with 401, never with a server error."""
    assert 401 == (await site.client.get("/monitor", headers=headers)).status_code


@pytest.mark.parametrize("headers", [BEARER, {"Authorization": f"bearer  {TOKEN}"}, _basic(TOKEN)])
async def test_a_program_and_a_browser_may_send_the_token(site: Site, headers: dict[str, str]) -> None:
    """The token may be sent as a bearer token, in any case of the scheme, or as any user's password."""
    assert 200 == (await site.client.get("/monitor", headers=headers)).status_code


async def test_refusals_count_for_the_limit() -> None:
    """An attempt with a wrong token counts as a request, so guessing is as slow as the client's limit."""
    limits = Limits(requests_per_s=0.01, burst=1, trusted_proxies=("127.0.0.1",))
    async with open_site(access=Access(TOKEN), of_clients=limits) as site:
        tried = [await site.raw("GET", "/monitor", "X-Forwarded-For: 198.51.100.1") for _ in range(2)]

    assert [401, 429] == [answer.status for answer in tried]


async def test_what_readers_need_is_open(site: Site) -> None:
    """The board, its page, and the ages of prices need no token."""
    fixtures = (await site.get("/api/v2/fixtures")).json()["fixtures"]
    paths = [
        "/",
        "/api/v2/odds",
        "/health/live",
        "/health/ready",
        f"/api/v2/fixtures/{fixtures[0]['id']}/ages",
    ]

    assert [200] * len(paths) == [(await site.get(path)).status_code for path in paths]


async def test_health_has_texts_of_errors_for_operators_alone(site: Site) -> None:
    """States and counts are for everybody; the text of an error may name hosts and folders."""
    site.status.links.actor.become(ActorState.QUARANTINED, site.clock.wall)
    site.status.links.actor.last_error = "inside"
    site.status.sources[next(iter(site.status.sources))].last_error = "at 10.0.0.7"

    to_all = (await site.get("/health")).json()
    to_operators = (await site.client.get("/health", headers=BEARER)).json()

    assert (None, None) == (to_all["links"]["last_error"], to_all["checks"]["cedar"]["last_error"])
    assert "inside" == to_operators["links"]["last_error"]
    assert to_all["links"]["state"] == to_operators["links"]["state"] == "quarantined"
    assert to_all["checks"]["cedar"]["matches"] == 1
