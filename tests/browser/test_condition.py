"""The sentence that says whether all is right, from answers of /health."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support.systems.feed import Fixture, Offered

pytestmark = pytest.mark.browser

CONDITIONS = """
async (answers) => {
    const { condition } = await import("/static/condition.js");
    return answers.map(([health, more]) => condition(health, more));
}
"""
AT_15_03, AT_16_20 = 1_780_059_780, 1_780_064_400  # 15:03 and 16:20 of one day in Europe/Berlin
GRADES = {"live": "pass", "stale": "fail", "starting": "fail"}


def _check(name: str, state: str = "live", since: int = AT_15_03, **others: Any) -> dict[str, Any]:
    check = {"name": name, "state": state, "since": since, "last_error": None}
    return {**check, "status": GRADES.get(state, "warn"), **others}


def _health(*checks: dict[str, Any], **links: Any) -> dict[str, Any]:
    grades = {check["status"] for check in checks}
    of_links = {"status": "pass", "pending": 0, "state": "running", "since": AT_15_03, "last_error": None}
    return {
        "status": grades.pop() if len(grades) == 1 else "warn",
        "checks": {str(place): check for place, check in enumerate(checks)},
        "links": of_links | links,
    }


def _archived(*checks: dict[str, Any], **others: Any) -> dict[str, Any]:
    archive = {"status": "warn", "last_error": None, "gaps": 0, "lag_s": 0.1}
    return {**_health(*checks), "status": "warn", "archive": archive | others}


def _cluster(last_error: str, *silent: str) -> dict[str, Any]:
    return {"status": "warn", "last_error": last_error, "silent": silent}


A, B = _check("A"), _check("B")


def _alerting(*checks: dict[str, Any], **others: Any) -> dict[str, Any]:
    alerts: dict[str, Any] = {"status": "warn", "last_error": None, "down": [], "dropped": 0, "waiting": 0}
    return {**_health(*checks), "status": "warn", "alerts": alerts | others}


OFF_DISK = ("warn", "The archive cannot be written.")
OFF = {"status": "warn", "state": "quarantined", "since": AT_16_20, "last_error": "KeyError: 'x'"}
A_STALE, B_STALE = _check("A", "stale", last_error="refused"), _check("B", "stale", AT_16_20)
FOUR_FAULTS = (
    "C has been down since 16:20; A has failed to answer since 15:03; B has sent doubtful lists since"
    " 15:03; no new links have been made since 16:20."
)
MANY_STALE = [_check(name, "stale") for name in "CDEFG"]
CASES = {
    "no answer": (None, "fail", "The service does not answer.", ""),
    "all well": (_health(A, B), "pass", "All is well: all 2 bookmakers are up.", ""),
    "alone and well": (_health(A), "pass", "All is well: A is up.", ""),
    "start": (_health(_check("A", "starting")), "starting", "No bookmaker has answered yet.", ""),
    "starting": (_health(A, _check("B", "starting")), "starting", "B has not answered yet.", ""),
    "never up": (
        _health(_check("A", "starting", last_error="refused")),
        "fail",
        "No bookmaker has been up since 15:03.",
        "refused",
    ),
    "all down": (_health(A_STALE, B_STALE), "fail", "No bookmaker has been up since 16:20.", "refused"),
    "one down": (_health(B, A_STALE), "warn", "A has been down since 15:03.", "refused"),
    "two down": (
        _health(A_STALE, B_STALE, _check("C")),
        "warn",
        "A and B have been down, the first since 15:03.",
        "refused",
    ),
    "many down": (_health(A, *MANY_STALE), "warn", "C, D and 3 others have been down since 15:03.", ""),
    "several faults": (
        _health(_check("A", "retrying"), _check("B", "suspect"), B_STALE | {"name": "C"}, **OFF),
        "warn",
        FOUR_FAULTS,
        "",
    ),
    "crashes": (
        _health(A, _check("B", "quarantined")),
        "warn",
        "B has been in quarantine after crashes since 15:03.",
        "",
    ),
    "over": (
        _health(_check("A", "ended", last_error="the recording is over")),
        "warn",
        "A has shown a recording that is over since 15:03.",
        "the recording is over",
    ),
    "a state of a newer service": (_health(A, _check("B", "resting")), "warn", "B is not live.", ""),
    "unlisted": (
        _health(A, _check("B", status="warn", last_error="no answer has had the key 'b' so far")),
        "warn",
        "B is in no answer of the source.",
        "no answer has had the key 'b' so far",
    ),
    "no links": (_health(A, **OFF), "warn", "No new links have been made since 16:20.", "KeyError: 'x'"),
    "many links": (
        _health(A, status="warn", pending=1200),
        "warn",
        "1,200 matches are not linked yet.",
        "",
    ),
    "a full disk": (_archived(A, last_error="disk is full"), *OFF_DISK, "disk is full"),
    "a gap": (_archived(A, gaps=1), "warn", "The archive has 1 gap since the start.", ""),
    "a receiver": (_alerting(A, down=["phone"]), "warn", "1 receiver of alerts is down.", ""),
    "alerts lost": (
        _alerting(A, dropped=3),
        "warn",
        "3 alerts could not be delivered since the start.",
        "",
    ),
    "no queue": (_alerting(A, last_error="full"), "warn", "The queue of alerts cannot be written.", "full"),
    "a slow disk": (_archived(A, lag_s=12.2), "warn", "The archive is 12 s late.", ""),
    "a replica that has lost the server": (
        _health(A_STALE) | {"cluster": _cluster("no route")},
        "fail",
        "The shared server does not answer, or refuses: no bookmaker has been up since 15:03.",
        "no route",
    ),
    "a replica that never had the server": (
        _health(_check("A", "starting")) | {"cluster": _cluster("wrong password")},
        "fail",
        "The shared server does not answer, or refuses: no bookmaker is shown.",
        "wrong password",
    ),
    "a replica whose only collector died": (
        _health(A_STALE) | {"cluster": _cluster("collector b2 is silent", "b2")},
        "fail",
        "A collector is silent: no bookmaker has been up since 15:03.",
        "collector b2 is silent",
    ),
    "a cluster without its server": (
        _health(B, A_STALE) | {"cluster": _cluster("refused")},
        "warn",
        "A has been down since 15:03; the shared server does not answer, or refuses.",
        "refused",
    ),
}


def test_one_sentence_says_what_is_wrong_and_since_when(site: Offered, page: Page) -> None:
    """The worst state comes first; a bookmaker that has not answered yet is no fault."""
    site.offer(Fixture("Home Town", "Away United", bet365=(2.0, 3.4, 3.9), bwin=(2.1, 3.3, 3.9)))
    page.clock.set_fixed_time(AT_16_20)
    page.goto(f"{site.start().base}/monitor")
    stopping = [[_health(A), {"draining": True}]]

    found = page.evaluate(CONDITIONS, [*([answer, {}] for answer, *_ in CASES.values()), *stopping])

    expected = {name: list(parts) for name, (_, *parts) in CASES.items()}
    told = [[told["level"], told["text"], told["reason"]] for told in found]
    assert expected == dict(zip(CASES, told, strict=False))
    assert ["warn", "The service is being stopped.", ""] == told[-1]
