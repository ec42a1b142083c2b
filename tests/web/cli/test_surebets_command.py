"""`oddsboard surebets`: each surebet with its stakes, or with the reason why it has none."""

from __future__ import annotations

import argparse

import pytest
from anyio import to_thread

from tests.support.builders.messages import match
from tests.support.systems.site import Site
from web.cli.surebets_command import add_options, surebet_lines

pytestmark = pytest.mark.anyio


async def _printed(site: Site, *options: str) -> str:
    parser = argparse.ArgumentParser()
    add_options(parser)
    given = parser.parse_args([*options, "--url", site.base])
    return "\n".join(await to_thread.run_sync(lambda: [*surebet_lines(given)]))


async def test_surebets_are_printed_with_stakes(empty_site: Site) -> None:
    """The stakes divide 100 by default; if the total is too small for its steps, the reason is printed."""
    empty_site.publish("alder", match("m1", prices=(2.2, 3.9, 3.0)))
    none = await _printed(empty_site)
    empty_site.publish("birch", match("m1", prices=(2.0, 3.0, 4.2)))
    empty_site.clock.pass_(2)
    empty_site.apply()
    of_hundred = await _printed(empty_site)
    of_ten = await _printed(empty_site, "--total", "10", "--step", "5")

    assert "no surebet now" == none
    assert "Home v Away, League" in of_hundred
    assert "47.89  at 2.2  Alder, 2 s old" in of_hundred
    assert "of 100.00 returns at least 105.35, a gain of 5.35" in of_hundred
    assert "no stakes: whatever the division" in of_ten
