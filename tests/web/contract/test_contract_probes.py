"""The probes on a real socket, in every state of the service (docs/operations.md)."""

from __future__ import annotations

from typing import Any

import pytest

from actors.core.messages import BookmakerId, Fees, Offer, Prices, Venue
from actors.monitoring.receivers import AlertsStatus, ReceiverStatus
from actors.runtime.actor import ActorState
from actors.runtime.membership import ClusterStatus, ServerLink
from tests.support.builders.messages import batch, match
from tests.support.systems.site import EPOCH, NAMES, SOURCE, Site, site_status
from tests.support.time.virtual import WALL_0
from web.endpoints.probes import handlers
from web.feeds.own_bodies import OwnBodies
from web.protocol.problems import Problem
from web.protocol.rate_limit import WorkLimit
from web.protocol.responses import Asked, HttpCounters

pytestmark = pytest.mark.anyio

CEDAR = BookmakerId("cedar")
BEFORE = tuple(match(f"{number:02}") for number in range(50))


async def _probe(site: Site, path: str) -> tuple[int, Any]:
    response = await site.get(path)
    assert "application/json" == response.headers["Content-Type"]
    return response.status_code, response.json()


async def _ready(site: Site) -> tuple[int, str]:
    code, body = await _probe(site, "/health/ready")
    return code, body["status"]


async def _health(site: Site) -> tuple[int, str, list[str]]:
    code, body = await _probe(site, "/health")
    return code, body["status"], [check["state"] for check in body["checks"].values()]


def _all_live(site: Site) -> None:
    for bookmaker in NAMES:
        site.publish(bookmaker, *BEFORE)


@pytest.mark.parametrize(
    ("age", "code", "status"),
    [
        (None, 200, "pass"),
        (0.0, 200, "pass"),
        (9.99, 200, "pass"),
        (10.0, 503, "fail"),
        (60.0, 503, "fail"),
    ],
)
async def test_live_depends_only_on_the_aggregators_last_turn(
    empty_site: Site, age: float | None, code: int, status: str
) -> None:
    """/health/live needs a turn of the aggregator within the last 10 s, and no serving bookmaker."""
    empty_site.clock.pass_(100)
    empty_site.status.board.last_turn_mono = None if age is None else 100 - age

    answered, body = await _probe(empty_site, "/health/live")

    assert (code, status, age) == (answered, body["status"], body["last_turn_age_s"])


async def test_ready_is_503_while_starting(empty_site: Site) -> None:
    """Before the first accepted list the service is not ready."""
    assert (503, "fail") == await _ready(empty_site)


async def test_ready_is_200_once_a_bookmaker_is_serving(empty_site: Site) -> None:
    """One serving bookmaker is enough for readiness, even with an empty list."""
    empty_site.publish("birch")

    assert (200, "pass") == await _ready(empty_site)


async def test_ready_is_503_while_draining_and_odds_are_still_served(site: Site) -> None:
    """A draining service is not ready, so that no new client comes, but it still serves odds."""
    site.status.is_draining = True

    assert (503, "fail") == await _ready(site)
    assert [200, 200, 200] == [
        (await site.get(path)).status_code for path in ("/api/odds", "/api/v2/odds", "/health/live")
    ]


async def test_ready_is_503_when_everything_has_gone_stale(site: Site) -> None:
    """Readiness ends exactly at the deadline of the last list."""
    site.clock.pass_(29.9)
    before = await _ready(site)

    site.clock.pass_(0.2)

    assert [(200, "pass"), (503, "fail")] == [before, await _ready(site)]


async def test_health_fails_while_none_is_serving(empty_site: Site) -> None:
    """Without a serving bookmaker /health is 503 and shows each bookmaker's state."""
    assert (503, "fail", ["starting"] * 3) == await _health(empty_site)


async def test_health_passes_when_all_are_live(empty_site: Site) -> None:
    """With all bookmakers live /health is 200 and `pass`, in the order of the configuration."""
    _all_live(empty_site)

    code, body = await _probe(empty_site, "/health")

    assert (200, "pass", list(NAMES)) == (code, body["status"], list(body["checks"]))
    assert EPOCH == body["epoch"]
    assert {("pass", "live", 50, None)} == {
        (check["status"], check["state"], check["matches"], check["last_error"])
        for check in body["checks"].values()
    }


@pytest.mark.parametrize("prices", Prices)
async def test_probes_show_whether_prices_are_live_or_collected(empty_site: Site, prices: Prices) -> None:
    """A confirmed list counts as live in both cases, although its prices may be collected."""
    empty_site.publish("alder", match())
    empty_site.status.bookmakers[BookmakerId("alder")].source.prices = prices
    health, monitor = await empty_site.json("/health"), await empty_site.json("/monitor")

    assert prices == health["checks"]["alder"]["prices"]
    assert {prices} == {source["prices"] for source in (*monitor["sources"], *monitor["bookmakers"])}


async def test_probes_show_what_kind_of_offer_prices_are(empty_site: Site) -> None:
    """A bookmaker has no fees; an exchange's prices do not include its fees; some offers have terms."""
    empty_site.publish("alder", match())
    offer = Offer(Venue.EXCHANGE, Fees.NOT_INCLUDED, "For you alone.")
    empty_site.status.bookmakers[BookmakerId("alder")].offer = offer
    health, monitor = await empty_site.json("/health"), await empty_site.json("/monitor")

    of_health = {name: (check["offered_by"], check["fees"]) for name, check in health["checks"].items()}
    plain = ("bookmaker", "none")
    assert {"alder": ("exchange", "not included"), "birch": plain, "cedar": plain} == of_health
    assert of_health == {
        entry["id"]: (entry["offered_by"], entry["fees"]) for entry in monitor["bookmakers"]
    }
    assert ["For you alone.", None, None] == [
        health["checks"][name]["terms"] for name in ("alder", "birch", "cedar")
    ]


async def test_health_warns_when_one_is_starting(empty_site: Site) -> None:
    """While one bookmaker is starting and another serves, /health is 200 and `warn`."""
    empty_site.publish("birch", match())

    assert (200, "warn", ["starting", "starting", "live"]) == await _health(empty_site)


async def test_a_failed_attempt_is_retrying(empty_site: Site) -> None:
    """After a failed attempt the entries stay, and /health shows the reason."""
    _all_live(empty_site)
    source = empty_site.status.sources[SOURCE]
    source.failures, source.last_error = 1, "status was 500, must be 200"

    code, body = await _probe(empty_site, "/health")

    assert (200, "warn") == (code, body["status"])
    assert ("warn", "retrying", 50, "status was 500, must be 200") == (
        body["checks"]["cedar"]["status"],
        body["checks"]["cedar"]["state"],
        body["checks"]["cedar"]["matches"],
        body["checks"]["cedar"]["last_error"],
    )


async def test_a_source_may_be_collected_elsewhere(empty_site: Site) -> None:
    """Another process of the cluster collects the source: this process has no fault and starts nothing."""
    empty_site.status.cluster = ClusterStatus(("replica",), None, leases={SOURCE: "another"})
    _, body = await _probe(empty_site, "/monitor")

    assert ["elsewhere"] == [source["state"] for source in body["sources"]]


@pytest.mark.parametrize(("error", "silent"), [(None, ["another"]), ("no route", [])])
async def test_silent_collectors_are_named_while_the_server_answers(
    empty_site: Site, error: str | None, silent: list[str]
) -> None:
    """If the cluster's server does not answer, the state of the collectors is not known."""
    follower = ServerLink("follower", error=error)
    empty_site.status.cluster = ClusterStatus(
        ("replica",), None, follower=follower, leases={SOURCE: "another"}, silent=("another",)
    )
    _, body = await _probe(empty_site, "/health")

    assert ("warn", silent) == (body["cluster"]["status"], body["cluster"]["silent"])


async def test_a_receiver_of_alerts_that_is_down_warns(empty_site: Site) -> None:
    """The receiver's id and counts are shown; operators also see its error, which has no secret."""
    _all_live(empty_site)
    receiver = ReceiverStatus(failures=2, is_down=True, last_error="status was 500, must be 2xx")
    alerts = empty_site.status.alerts = AlertsStatus(
        receivers={"phone": receiver, "desk": ReceiverStatus()}
    )
    alerts.waiting = {"phone": 3, "desk": 0}.__getitem__
    _, body = await _probe(empty_site, "/health")
    receiver.is_down = False

    error = "status was 500, must be 2xx"
    assert {"status": "warn", "waiting": 3, "dropped": 0, "down": ["phone"], "last_error": error} == body[
        "alerts"
    ]
    assert "warn" == body["status"]
    assert (200, "pass", ["live"] * 3) == await _health(empty_site)


async def test_a_doubted_list_is_suspect(empty_site: Site) -> None:
    """A list that lost 40 of 50 matches is not accepted at first; the old list stays."""
    _all_live(empty_site)
    empty_site.publish("cedar", *BEFORE[:10])

    shown = await empty_site.json("/api/v2/odds?bookmaker=cedar")

    assert (200, "warn", ["suspect", "live", "live"]) == await _health(empty_site)
    assert 50 == shown["matches_count"]


async def test_a_withdrawn_list_is_stale(empty_site: Site) -> None:
    """Only the check of that bookmaker fails, not the service."""
    _all_live(empty_site)
    empty_site.clock.pass_(20)
    empty_site.apply(batch(bookmaker="alder", list_id="list-2", complete=False, received_mono=20))

    empty_site.clock.pass_(20)
    empty_site.published.current()

    code, body = await _probe(empty_site, "/health")
    assert (200, "warn") == (code, body["status"])
    assert [("fail", "stale", 0), ("pass", "live", 50), ("fail", "stale", 0)] == [
        (check["status"], check["state"], check["matches"]) for check in body["checks"].values()
    ]


async def test_a_quarantined_bookmaker_keeps_its_entries_until_they_are_stale(empty_site: Site) -> None:
    """A quarantined actor does not run, but its last list stays valid until its deadline."""
    _all_live(empty_site)
    actor = empty_site.status.bookmakers[CEDAR].actor
    actor.become(ActorState.QUARANTINED, empty_site.clock.wall)
    actor.last_error = "KeyError: 'x'"

    code, body = await _probe(empty_site, "/health")

    assert (200, "warn", "quarantined", 50, "KeyError: 'x'") == (
        code,
        body["status"],
        body["checks"]["cedar"]["state"],
        body["checks"]["cedar"]["matches"],
        body["checks"]["cedar"]["last_error"],
    )


async def test_health_fails_when_all_are_stale(site: Site) -> None:
    """With all lists stale /health is 503, as at the start, but the bookmakers' state is `stale`."""
    site.clock.pass_(31)

    assert (503, "fail", ["stale"] * 3) == await _health(site)


async def test_since_is_when_the_state_began(empty_site: Site) -> None:
    """`since` is the Unix time of the change of state, not of the request."""
    await _health(empty_site)
    began = empty_site.clock.wall + 5
    empty_site.clock.pass_(5)
    _all_live(empty_site)
    await _health(empty_site)

    empty_site.clock.pass_(5)

    _, body = await _probe(empty_site, "/health")
    assert {began} == {check["since"] for check in body["checks"].values()}


@pytest.mark.parametrize(("more", "expected"), [(49, "pass"), (50, "warn")])
async def test_health_warns_while_a_hundred_events_are_still_to_be_linked(
    empty_site: Site, more: int, expected: str
) -> None:
    """After a start or a large new list one match may stand in several rows until it is linked."""
    _all_live(empty_site)
    empty_site.publish("alder", *BEFORE, *(match(f"new{number}") for number in range(more)))

    _, body = await _probe(empty_site, "/health")

    check = body["links"]
    assert (expected, 50 + more) == (check["status"], check["pending"])


@pytest.mark.parametrize("path", ["/monitor", "/metrics"])
async def test_long_answers_to_operators_are_work_for_the_client_alone(site: Site, path: str) -> None:
    """With 50 bookmakers such answers could otherwise take a whole core within the request limit."""
    own, status = OwnBodies(WorkLimit(share=1e-9, burst_s=1e-9)), site_status(NAMES, WALL_0)
    counters = HttpCounters(status.metrics)
    answer = handlers(
        site.published, status, counters, site.clock, own, review=None, is_operator=lambda _: True
    )[path]
    asked = [Asked("GET", path, b"", {}, "id", 0.0, client) for client in ("a", "a", "b")]
    answered = (await answer(asked[0])).status
    with pytest.raises(Problem) as refused:
        await answer(asked[1])
    others = (await answer(asked[2])).status

    assert (200, 429, 200) == (answered, refused.value.status, others)
