"""What a source vouches for when it confirms a list: its prices, or only the file that has them."""

from __future__ import annotations

from pathlib import Path

from actors.core.messages import Prices
from actors.service.registry import BUILT_IN
from actors.service.settings import load
from actors.service.system import service_status
from actors.source_api.kinds import PolledKind
from tests.support.builders.recorded import header, write

CONFIG = """
[sources.one]
kind = "replay"
path = "{path}"
[bookmakers.alder]
name = "Alder"
source = "one"
key = "B365"
"""


def test_football_data_alone_has_collected_prices() -> None:
    """Its publisher collects them about twice a week; the other kinds deliver what is on offer."""
    polled = [kind for kind in BUILT_IN.values() if isinstance(kind, PolledKind)]

    assert {"football_data": Prices.COLLECTED, "the_odds_api": Prices.LIVE} == {
        kind.name: kind.prices for kind in polled
    }


def test_a_replay_has_the_prices_of_what_it_plays(tmp_path: Path) -> None:
    """A file that was collected is not live because it is played again."""
    config = tmp_path / "replay.toml"
    config.write_text(CONFIG.format(path=write(tmp_path / "one.rec.zst", header())), "utf-8")
    status = service_status(load(config, {}), 0.0)

    assert [Prices.COLLECTED] == [source.prices for source in status.sources.values()]
