"""The things that a source's confirmation confirms: its prices, or only the file that contains them."""

from __future__ import annotations

from pathlib import Path

from actors.core.messages import Prices
from actors.service.registry import BUILT_IN
from actors.service.settings import load
from actors.service.system import service_status
from actors.source_api.kinds import PolledKind, prices_of
from tests.support.builders import table
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


def test_only_football_data_has_collected_prices() -> None:
    """The publisher collects prices about twice a week; other kinds of source deliver present prices.

    Whether a table's prices are collected is an option of the table.
    """
    polled = [kind for kind in BUILT_IN.values() if isinstance(kind, PolledKind)]

    collected = {kind.name for kind in polled if kind.prices is Prices.COLLECTED}
    assert {"football_data"} == collected < {kind.name for kind in polled}
    assert [Prices.COLLECTED, Prices.LIVE] == [
        prices_of(BUILT_IN["table"], table.options_of(prices=prices)) for prices in ("collected", "live")
    ]


def test_a_program_has_the_prices_of_its_table(tmp_path: Path) -> None:
    """The program's prices are live unless its table in the configuration says otherwise."""
    config = tmp_path / "programs.toml"
    table = """
[sources.{name}]
kind = "program"
command = ["/bin/sh"]
{more}
[bookmakers.{name}]
name = "{name}"
source = "{name}"
key = "program"
"""
    tables = [table.format(name="a", more=""), table.format(name="b", more='prices = "collected"')]
    config.write_text("".join(tables), "utf-8")
    status = service_status(load(config, {}), 0.0)

    assert [Prices.LIVE, Prices.COLLECTED] == [source.prices for source in status.sources.values()]


def test_replay_has_the_prices_of_its_recording(tmp_path: Path) -> None:
    """A recorded file with collected prices still has collected prices in a replay."""
    config = tmp_path / "replay.toml"
    config.write_text(CONFIG.format(path=write(tmp_path / "one.rec.zst", header())), "utf-8")
    status = service_status(load(config, {}), 0.0)

    assert [Prices.COLLECTED] == [source.prices for source in status.sources.values()]
