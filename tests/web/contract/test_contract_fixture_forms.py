"""Fixtures in other forms: with a bookmaker's fair odds, and with doubted surebets."""

from __future__ import annotations

import gzip

import pytest

from actors.matches.fair import Method
from tests.support.builders.messages import match
from tests.support.oracles.fair_odds import fair_of_all
from tests.support.systems.site import Site
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

FIXTURES, SUREBETS = "/api/v2/fixtures", "/api/v2/surebets"


def _publish(site: Site) -> None:
    """List a match with three bookmakers, and another with a single bookmaker."""
    site.publish("alder", match("m1", prices=(2.2, 3.3, 3.4)))
    site.publish("birch", match("m1", prices=(2.1, 3.4, 3.5)), match("m2", home="Other"))
    site.publish("cedar", match("m1", prices=(2.3, 3.2, 3.3)))


async def test_reference_has_the_odds_of_its_own_prices(empty_site: Site) -> None:
    """The consensus of all bookmakers stays in the answer, equal to the consensus without a reference."""
    _publish(empty_site)
    usual, *_ = (await empty_site.json(FIXTURES))["fixtures"]
    first, other = (await empty_site.json(f"{FIXTURES}?fair=alder"))["fixtures"]
    answered = (await empty_site.json(f"{FIXTURES}/{first['id']}?fair=alder"))["fixture"]

    found = first.pop("reference")
    (expected,) = fair_of_all(Method.POWER, [(2.2, 3.3, 3.4)])
    assert "power" == found["method"]
    assert pytest.approx(tuple(expected), abs=1e-6) == tuple(found[name] for name in ("1", "X", "2"))
    assert usual == first
    assert {**usual, "reference": found} == answered
    assert (None, "not_listed") == (other["reference"], other["reference_reason"])
    assert (None, "too_few") == (other["fair"], other["fair_reason"])


async def test_each_reference_has_tags_of_its_own(empty_site: Site) -> None:
    """A tag names one body, in each coding, of a list and of one fixture."""
    _publish(empty_site)
    usual = await empty_site.json(FIXTURES)
    for path in (FIXTURES, f"{FIXTURES}/{usual['fixtures'][0]['id']}"):
        queries = ("", "?fair=alder", "?fair=birch")
        answers = [await empty_site.get(path + query) for query in queries]
        tags = [answer.headers["ETag"] for answer in answers]
        packed = await empty_site.raw("GET", f"{path}?fair=alder", "Accept-Encoding: gzip")
        known = await empty_site.get(f"{path}?fair=alder", if_none_match=tags[1])
        others = [await empty_site.get(f"{path}?fair=alder", if_none_match=tags[at]) for at in (0, 2)]

        assert [usual["version"]] * 3 == [answer.json()["version"] for answer in answers]
        assert 3 == len({*tags})
        assert tags[1].removesuffix('"') + '-gzip"' == packed.headers["etag"]
        assert answers[1].content == gzip.decompress(packed.body)
        assert (304, [200, 200]) == (known.status_code, [other.status_code for other in others])


async def test_doubted_surebet_is_shown_with_its_doubts_to_those_who_ask(empty_site: Site) -> None:
    """Other lists of fixtures and surebets do not show the surebet; the version is that of all fixtures."""
    empty_site.publish("alder", match("m1", prices=(2.8, 4.1, 3.9)))
    empty_site.publish("birch", match("m1", prices=(2.6, 4.3, 4.3)))
    empty_site.clock.pass_(2)
    empty_site.apply()
    fixtures, plain = await empty_site.json(FIXTURES), await empty_site.get(SUREBETS)
    response = await empty_site.get(f"{SUREBETS}?doubted=1")
    (fixture,) = response.json()["fixtures"]

    found = fixture.pop("doubted")
    book_sum = 1 / 2.8 + 1 / 4.3 + 1 / 4.3
    assert ([fixture], []) == (fixtures["fixtures"], plain.json()["fixtures"])
    assert (None, ["profit"]) == (fixture["surebet"], found["doubts"])
    assert pytest.approx(book_sum, abs=1e-6) == found["book_sum"]
    assert pytest.approx(1 / book_sum - 1, abs=1e-6) == found["profit"]
    assert (WALL_0 + 30, [0.0] * 3) == (found["until"], [leg["age_s"] for leg in found["legs"]])
    assert fixtures["version"] == response.json()["version"]
    assert plain.headers["ETag"] != response.headers["ETag"]
    found_by_profit = {
        least: (await empty_site.json(f"{SUREBETS}?doubted=1&min_profit={least}"))["fixtures_count"]
        for least in (0.1, 0.2, 0.3)
    }
    assert {0.1: 1, 0.2: 1, 0.3: 0} == found_by_profit


async def test_surebets_with_doubted_ones_have_the_others_as_they_are(empty_site: Site) -> None:
    """A surebet without doubts is the same with and without `doubted=1`."""
    empty_site.publish("alder", match("m1", prices=(2.2, 3.9, 3.0)))
    empty_site.publish("birch", match("m1", prices=(2.0, 3.0, 4.2)))
    empty_site.clock.pass_(2)
    empty_site.apply()

    plain, more = [await empty_site.json(SUREBETS + query) for query in ("", "?doubted=1")]

    assert 1 == plain["fixtures_count"]
    assert plain == more
