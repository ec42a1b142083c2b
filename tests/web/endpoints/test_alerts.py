"""/api/v2/alerts: the alerts that fired lately, without their receivers."""

from __future__ import annotations

import pytest

from actors.alerts.recent import MAX_RECENT, Recent
from tests.support.builders.alerts import alert
from tests.support.systems.site import open_site

pytestmark = pytest.mark.anyio

PATH = "/api/v2/alerts"


async def test_alerts_are_asked_for_since_an_answer() -> None:
    """Newest last; with the cursor of an answer only later ones, with its ETag a 304 until there is one."""
    recent = Recent()
    async with open_site(recent=recent) as site:
        none = await site.json(PATH)
        recent.add(alert(1, "secret-receiver"))
        first = await site.get(PATH)
        again = await site.get(PATH, if_none_match=first.headers["ETag"])
        recent.add(alert(2))
        later = await site.json(f"{PATH}?since={first.json()['cursor']}")
        refused = await site.get(f"{PATH}?since=x")

    assert ({"cursor": f"0-{recent.epoch}", "complete": True, "alerts": []}, 304) == (
        none,
        again.status_code,
    )
    assert [alert(1).id] == [found["id"] for found in first.json()["alerts"]]
    assert (True, [alert(2).id]) == (later["complete"], [found["id"] for found in later["alerts"]])
    assert "secret-receiver" not in first.text
    assert (400, "invalid_since") == (refused.status_code, refused.json()["code"])


@pytest.mark.parametrize("since", ["0-0badc0de", "999", "-5", "0"])
async def test_what_is_not_known_any_more_is_said(since: str) -> None:
    """After a start, or too late, a client gets all that is known, and that it is not complete."""
    recent = Recent()
    for number in range(MAX_RECENT + 1):
        recent.add(alert(number))
    async with open_site(recent=recent) as site:
        found = await site.json(f"{PATH}?since={since}")

    assert (False, MAX_RECENT) == (found["complete"], len(found["alerts"]))
