"""The metrics at /metrics, read by the parsers of Prometheus (docs/operations.md, Prometheus)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parsed_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parsed_text

from actors.core.limits import Limits
from actors.core.messages import BookmakerId, Removal, SourceMatchId
from actors.core.validation import Reason
from actors.markets.market import Kind, Market
from actors.matching.rules import Rule
from actors.monitoring.receivers import AlertsStatus, ReceiverStatus
from actors.monitoring.status import BookmakerState
from actors.runtime.actor import ActorState
from actors.runtime.membership import ClusterStatus
from tests.support.builders.messages import batch, match
from tests.support.documents import document, quoted, rows, section
from tests.support.peers.stream_client import streaming
from tests.support.systems.site import EPOCH, FIRST_VERSION, SOURCE, Site, open_site
from web.protocol.problems import Problem

pytestmark = pytest.mark.anyio

CEDAR = BookmakerId("cedar")
OF_PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
OF_PROCESS = "process_"
OF_A_SITE = {"oddsboard_http_requests_total", "oddsboard_entries"}

Sample = tuple[str, frozenset[tuple[str, str]]]


async def _families(site: Site) -> dict[str, Metric]:
    """Return the metrics by the name with which their samples begin."""
    answer = await site.get("/metrics")
    assert 200 == answer.status_code
    return {family.name: family for family in parsed_text(answer.text)}


async def _samples(site: Site) -> dict[Sample, float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in (await _families(site)).values()
        for sample in family.samples
    }


def _of(name: str, **labels: str) -> Sample:
    return f"oddsboard_{name}", frozenset(labels.items())


def _everything_happens(site: Site) -> None:
    """Let everything happen that gives a metric its first sample."""
    source, board = site.status.sources[SOURCE], site.status.board
    source.quota = {"requests_remaining": 400.0, "credits_left_today": 20.0, "credits_per_day": 80.0}
    source.failed_by.add("timeout")
    source.last_success_at = site.clock.wall
    board.actor.mailbox_depth = lambda: 2
    board.verdicts.add(CEDAR, "accepted")
    board.changes.add("upserted", number=3)
    record = site.status.bookmakers[CEDAR]
    record.rejected.add(Reason.PRICE)
    record.accepted_at = record.changed_at = site.clock.wall
    _client_error(site)
    site.publish(CEDAR, match())


def _alerted(site: Site) -> None:
    alerts = site.status.alerts = AlertsStatus(site.status.metrics, {"phone": ReceiverStatus(is_down=True)})
    alerts.fired.add("sure")
    alerts.sent.add("phone", "sure")
    alerts.failed.add("phone", "timeout")
    alerts.lost.add("phone", "full", number=2)
    alerts.dropped, alerts.waiting = 2, lambda _: 7


def _rejected(site: Site) -> None:
    site.publish(CEDAR, match())  # a rejected match belongs to a list on the board
    listed = batch(removals=[Removal(SourceMatchId("m1"), Reason.PRICE)])
    site.status.bookmakers[CEDAR].rejections.note(listed, {Reason.PRICE: 1})


def _down(site: Site) -> None:
    site.status.sources[SOURCE].is_down = True


def _refused(site: Site) -> None:
    site.audience.is_leaving = True
    with pytest.raises(Problem), site.audience.admitted(None):
        pass


def _client_error(site: Site) -> None:
    site.status.log.client_errors.add("protocol")


def _quota(site: Site) -> None:
    site.status.sources[SOURCE].quota = {"requests_remaining": 7.0}


def _served(site: Site) -> None:
    site.publish("cedar", match())


def _quarantined(site: Site) -> None:
    site.status.actors["bookmaker:cedar"].become(ActorState.QUARANTINED, 0.0)


def _source(site: Site, name: str) -> None:
    getattr(site.status.sources[SOURCE], name).inc()


def _restarted(site: Site) -> None:
    site.status.actors["linker"].starts, site.status.actors["linker"].crashes = 4, 5


@pytest.mark.parametrize(
    ("accept", "form", "last"),
    [
        ("*/*", "text/plain; version=0.0.4; charset=utf-8", "\n"),
        ("application/json", "text/plain; version=0.0.4; charset=utf-8", "\n"),
        ("application/openmetrics-text;q=0", "text/plain; version=0.0.4; charset=utf-8", "\n"),
        (OF_PROMETHEUS, "application/openmetrics-text; version=1.0.0; charset=utf-8", "# EOF\n"),
    ],
    ids=["any", "json", "refused", "prometheus"],
)
async def test_the_form_is_as_accepted(empty_site: Site, accept: str, form: str, last: str) -> None:
    """OpenMetrics is for clients that name it; all others get the text that each scraper reads."""
    answer = await empty_site.get("/metrics", accept=accept)

    assert (200, form, "no-store", "Accept") == (
        answer.status_code,
        *(answer.headers[name] for name in ("Content-Type", "Cache-Control", "Vary")),
    )
    assert (True, last == "# EOF\n") == (answer.text.endswith(last), answer.text.endswith("# EOF\n"))


async def test_both_forms_have_the_same_metrics(empty_site: Site) -> None:
    """The strict parser of OpenMetrics reads the same metrics as the parser of the older text."""
    _everything_happens(empty_site)

    await empty_site.get("/metrics")
    text = await empty_site.get("/metrics")
    strict = await empty_site.get("/metrics", accept=OF_PROMETHEUS)

    names = [
        {sample.name for family in families for sample in family.samples}
        for families in (parsed_text(text.text), parsed_openmetrics(strict.text))  # type: ignore[no-untyped-call]  # untyped
    ]
    assert names[0] == names[1]
    assert "oddsboard_entries" in names[0]


async def test_each_metric_is_documented_with_its_labels(tmp_path: Path) -> None:
    """Each metric of the service is documented, and no other; a library documents those of the process."""
    async with open_site(archived=tmp_path / "archive", kinds=[Kind.BTTS]) as site:
        _everything_happens(site)
        site.publish("alder", match(), match().of_market(Market(Kind.BTTS), (1.9, 2.0)))
        site.status.cluster = ClusterStatus(("replica",), None, leases={"source": "collector"})
        site.status.cluster.follow(1, 0.0)
        _alerted(site)
        await _families(site)
        families = await _families(site)
    table = rows(section(document("docs/operations.md"), "## Prometheus"))
    documented = {name: set(quoted(labels)) for names, labels in table for name in quoted(names)}

    found = {
        family.samples[0].name.removesuffix("_bucket"): set().union(
            *(found.labels for found in family.samples)
        )
        for family in families.values()
        if not family.name.startswith(OF_PROCESS)
    }
    assert documented == {name: labels - {"le"} for name, labels in found.items()}


async def test_names_follow_the_conventions(empty_site: Site) -> None:
    """A name begins with the service's name, only counters end with `_total`, and units are base units."""
    _everything_happens(empty_site)

    families = (await _families(empty_site)).values()

    own = {family.name: family.type for family in families if not family.name.startswith(OF_PROCESS)}
    assert {"oddsboard"} == {name.partition("_")[0] for name in own}
    assert [] == [name for name in own if re.search(r"_(ms|seconds?_total|kb|percent|count|sum)$", name)]
    histograms = {name for name, kind in own.items() if kind == "histogram"}
    assert histograms == {name for name in histograms if name.endswith("_seconds")}


MOVES: dict[str, tuple[Sample, Callable[[Site], object], float | None, float]] = {
    "up": (_of("bookmaker_up", bookmaker="cedar"), _served, 0, 1),
    "entries": (_of("entries", bookmaker="cedar"), _served, 0, 1),
    "state": (_of("bookmaker_state", bookmaker="cedar", state="live"), _served, 0, 1),
    "version": (_of("version"), _served, FIRST_VERSION, FIRST_VERSION + 1),
    "fixtures": (_of("fixtures"), _served, 0, 1),
    "source": (_of("source_up", source=SOURCE), _down, 1, 0),
    "sent": (_of("alerts_sent_total", receiver="phone", rule="sure"), _alerted, None, 1),
    "dropped": (_of("alerts_dropped_total", receiver="phone", reason="full"), _alerted, None, 2),
    "waiting": (_of("alerts_waiting", receiver="phone"), _alerted, None, 7),
    "receiver": (_of("alerts_receiver_up", receiver="phone"), _alerted, None, 0),
    "queue": (_of("alerts_queue_up"), _alerted, None, 1),
    "credits": (_of("source_credits_left", source=SOURCE), _quota, None, 7),
    "payloads": (_of("source_payloads_total", source=SOURCE), partial(_source, name="payloads"), 0, 1),
    "attempts": (_of("source_attempts_total", source=SOURCE), partial(_source, name="attempts"), 0, 1),
    "quarantine": (_of("actor_quarantined", actor="bookmaker:cedar"), _quarantined, 0, 1),
    "restarts": (_of("actor_restarts_total", actor="linker"), _restarted, 0, 3),
    "crashes": (_of("actor_crashes_total", actor="linker"), _restarted, 0, 5),
    "refused": (_of("stream_refused_total", reason="stopping"), _refused, 0, 1),
    "client errors": (_of("http_client_errors_total", kind="protocol"), _client_error, None, 1),
    "lost lines": (
        *(_of("log_lost_lines_total", cause="dropped"), lambda site: site.status.log.dropped.inc()),
        *(0, 1),
    ),
    "stalls": (_of("loop_stalls_total"), lambda site: site.status.loop.stalls.inc(), 0, 1),
    "lag": (_of("loop_lag_seconds_count"), lambda site: site.status.loop.lag.observe(0.1), 0, 1),
    "draining": (_of("draining"), lambda site: setattr(site.status, "is_draining", True), 0, 1),
    "ready": (_of("ready"), _served, 0, 1),
    "rejected": (_of("bookmaker_rejected_now", bookmaker="cedar"), _rejected, 0, 1),
}


@pytest.mark.parametrize("case", MOVES)
async def test_a_metric_moves_when_its_thing_happens(empty_site: Site, case: str) -> None:
    """The next scrape shows the present state and counts of the service."""
    sample, happen, before, after = MOVES[case]
    first = (await _samples(empty_site)).get(sample)

    happen(empty_site)

    assert (before, after) == (first, (await _samples(empty_site)).get(sample))


async def test_answers_are_counted_by_route_method_and_status(empty_site: Site) -> None:
    """A client's spelling of a path or a method never becomes a label."""
    for path in ("/api/capabilities", "/api/capabilities?x=1", "/a", "/b", "/api/%63apabilities"):
        await empty_site.get(path)
    await empty_site.client.head("/api/capabilities")
    await empty_site.get("/static/main.js")
    await empty_site.get("/static/format.js")
    await empty_site.get("/monitor/fixtures/nothing")
    await empty_site.client.delete("/api/odds")

    samples = await _samples(empty_site)

    counted = {
        tuple(dict(labels)[name] for name in ("route", "method", "status")): number
        for (name, labels), number in samples.items()
        if name == "oddsboard_http_requests_total"
    }
    assert {
        ("/api/capabilities", "GET", "200"): 3,
        ("/api/capabilities", "HEAD", "200"): 1,
        ("/static/{file}", "GET", "200"): 2,
        ("/monitor/fixtures/{id}", "GET", "404"): 1,
        ("other", "GET", "404"): 2,
        ("other", "other", "405"): 1,
    } == counted
    durations = {
        dict(labels)["route"]: number
        for (name, labels), number in samples.items()
        if name == "oddsboard_http_request_duration_seconds_count"
    }
    assert {
        "/api/capabilities": 4,
        "/static/{file}": 2,
        "/monitor/fixtures/{id}": 1,
        "other": 3,
    } == durations


async def test_links_are_shown_by_each_rule(empty_site: Site) -> None:
    """A rule that made no link is shown as well, so that each rule has a line in a panel."""
    samples = await _samples(empty_site)

    assert {*Rule} == {dict(labels)["rule"] for name, labels in samples if name == "oddsboard_links"}


async def test_a_bookmaker_has_a_sample_of_each_state(empty_site: Site) -> None:
    """The present state has the value 1, all other states have 0."""
    samples = await _samples(empty_site)

    states = {
        dict(labels)["state"]: value
        for (name, labels), value in samples.items()
        if name == "oddsboard_bookmaker_state" and ("bookmaker", "cedar") in labels
    }
    assert {state: float(state is BookmakerState.STARTING) for state in BookmakerState} == states


async def test_no_text_of_a_plug_in_breaks_them(empty_site: Site) -> None:
    """A reason may be any text: a hundred reasons are shown, as text that can be encoded."""
    record, text = empty_site.status.bookmakers[CEDAR], 'half a "\ud83d"\n\\ character'
    record.name = text
    record.note_rejected({text: 2, **{str(number): 1 for number in range(200)}})

    samples = await _samples(empty_site)

    reasons = {
        dict(labels)["reason"]: number
        for (name, labels), number in samples.items()
        if name == "oddsboard_rejected_matches_total"
    }
    assert (101, 2, 101) == (len(reasons), reasons['half a "\\ud83d"\n\\ character'], reasons["other"])


async def test_two_services_share_no_metric() -> None:
    """Each service has a registry of its own."""
    async with open_site() as first, open_site() as second:
        first.publish("cedar", match())
        await first.get("/api/odds")

        counted = [
            sum(value for (name, _), value in (await _samples(site)).items() if name in OF_A_SITE)
            for site in (first, second)
        ]

    assert [2, 0] == counted


async def test_clients_that_wait_are_counted(empty_site: Site) -> None:
    """A client counts while it waits; a stream that begins anew is counted by its reason."""
    async with streaming(empty_site.base, "?since=1-ffffffff") as connection:
        await connection.named("snapshot")
        during = await _samples(empty_site)
    await empty_site.until(lambda: not len(empty_site.audience))
    after = await _samples(empty_site)

    reset = _of("stream_resets_total", reason="other_epoch")
    assert [(1, 1), (0, 1)] == [(found[_of("stream_clients")], found[reset]) for found in (during, after)]


async def test_the_way_of_a_commit_to_the_client_is_timed(empty_site: Site) -> None:
    """A time is measured for a client that waits for the commit; such a message has one version."""
    async with streaming(empty_site.base) as connection:
        before = await _samples(empty_site)
        await connection.named("snapshot")
        empty_site.publish("cedar", match("m1"))
        await connection.named("changes")
        timed = _of("commit_to_wire_seconds_count")
        await empty_site.until(lambda: empty_site.audience.commit_to_wire.counted()[-1] == 1)
        after = await _samples(empty_site)

    assert (0, 1) == (before[timed], after[timed])
    assert 0 == after[_of("stream_conflated_total")]


async def test_messages_of_several_versions_are_counted(empty_site: Site) -> None:
    """A client that comes back gets all missed versions in one message."""
    for name in ("m1", "m2"):
        empty_site.publish("cedar", match(name))

    async with streaming(empty_site.base, f"?since={FIRST_VERSION}-{EPOCH}") as connection:
        await connection.named("changes")

    assert 1 == (await _samples(empty_site))[_of("stream_conflated_total")]


async def test_a_client_that_asks_too_often_is_counted() -> None:
    """The number of known clients is a metric as well."""
    limits = Limits(requests_per_s=0.01, burst=3, trusted_proxies=("127.0.0.1",))
    async with open_site(of_clients=limits) as site:
        for _ in range(5):
            await site.get("/api/odds", x_forwarded_for="198.51.100.1")
        samples = await _samples(site)

    names = ("http_throttled_total", "http_known_clients")
    assert [2, 2] == [samples[_of(name)] for name in names]


async def test_an_archive_is_seen(tmp_path: Path) -> None:
    """The metrics show the written version, delay, gaps and size; without an archive there are none."""
    async with open_site(archived=tmp_path / "archive") as site:
        version = site.publish("cedar", match())
        archive = site.status.archive
        assert archive is not None
        archive.gaps, archive.error = 3, "the disk is full"
        samples = await _samples(site)
    async with open_site() as site:
        without = await _families(site)

    names = ("written_version", "lag_seconds", "gaps_total", "up")
    assert [version, 0, 3, 0] == [samples[_of(f"archive_{name}")] for name in names]
    assert samples[_of("archive_bytes")] > 10_000
    assert [] == [name for name in without if "archive" in name]


async def test_the_contract_declares_both_forms(empty_site: Site) -> None:
    """The contract has the media types and headers of both answers."""
    contract = await empty_site.json("/openapi.json")
    declared = contract["paths"]["/metrics"]["get"]["responses"]["200"]
    answers = [await empty_site.get("/metrics", accept=accept) for accept in ("*/*", OF_PROMETHEUS)]

    forms = [answer.headers["Content-Type"].partition(";")[0] for answer in answers]
    assert forms == list(declared["content"])
    of_transport = {"content-length", "content-type", "date"}
    for answer in answers:
        assert {*answer.headers} - of_transport <= {name.lower() for name in declared["headers"]}
