"""The keys that a cluster's configuration must have, and the settings that a cluster cannot have."""

from __future__ import annotations

import zlib
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest

from actors.cluster.wire.records import FORMAT
from actors.core.errors import ConfigError
from actors.service.clustering import shape_of
from actors.service.describe import configuration_lines
from actors.service.settings import load
from actors.service.tables import CLUSTER_URL
from actors.source_api.plan import Plan
from actors.sources.the_odds_api.plan import TheOddsApiPlan
from tests.support.source_code import ROOT

CONFIG = (ROOT / "config" / "cluster.toml").read_text("utf-8")
MARKETS = 'kind = "simulated"\nmarkets = ["over_under", "asian_handicap"]'
BUDGETED = """
[sources.api]
kind = "the_odds_api"
api_key = "k"
sports = ["soccer_epl"]
regions = ["uk"]
[bookmakers.x]
name = "X"
source = "api"
key = "williamhill"
"""


def _lines(folder: Path, text: str) -> list[str]:
    file = folder / "cluster.toml"
    file.write_text(text, "utf-8")
    return [*configuration_lines(file, load(file, {}))]


def test_a_cluster_may_have_budgets_and_other_markets(tmp_path: Path) -> None:
    """The count of spent credits goes with a lease to its next holder; `check-config` prints the roles."""
    for text in (CONFIG, CONFIG + BUDGETED, CONFIG.replace('kind = "simulated"', MARKETS)):
        assert "cluster oddsboard: collector and replica" in _lines(tmp_path, text)


def test_a_budget_that_does_not_travel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each collector would spend the budget if a plug-in's plan cannot hand over what is spent."""
    monkeypatch.setattr(TheOddsApiPlan, "carried", Plan.carried)

    with pytest.raises(ConfigError, match=r"sources\.api has a budget of requests"):
        _lines(tmp_path, CONFIG + BUDGETED)


def test_all_processes_must_have_the_same_markets(tmp_path: Path) -> None:
    """A process with other markets has another shape, and gets no board; by default the shape is 1X2's."""
    file = tmp_path / "cluster.toml"
    shapes = []
    for written in ('kind = "simulated"', MARKETS, MARKETS.replace("over_under", "btts")):
        file.write_text(CONFIG.replace('kind = "simulated"', written), "utf-8")
        shapes.append(shape_of(load(file, {})))
    settings = load(file, {})
    bookmakers = [[name, *msgspec.structs.astuple(entry)] for name, entry in settings.bookmakers.items()]
    made_by = [FORMAT, version("oddsboard"), zlib.ZLIB_RUNTIME_VERSION]
    alone = msgspec.json.encode([made_by, bookmakers, settings.fair, settings.surebets])

    assert 3 == len({*shapes})
    assert blake2b(alone, digest_size=8).hexdigest() == shapes[0]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('"redis://127.0.0.1:6379/0"', "3"), f"cluster.url was 3, must be {CLUSTER_URL}"),
        (
            ("redis://127", "http://127"),
            f"cluster.url was 'http://127.0.0.1:6379/0', must be {CLUSTER_URL}",
        ),
        (("127.0.0.1:6379/0", "127.0.0.1:x/0"), "cluster.url was 'redis://127.0.0.1:x/0', must be redis:"),
        (("127.0.0.1:6379/0", "127.0.0.1:6379/a"), "cluster.url was 'redis://127.0.0.1:6379/a', must be"),
        (("127.0.0.1:6379/0", "[::1/0"), "cluster.url was 'redis://[::1/0', must be redis:"),
        (("127.0.0.1:6379/0", "127.0.0.1/0?a=b"), "cluster.url was 'redis://127.0.0.1/0?a=b', must be"),
        (("redis://127", "redis//:pa@ss@127"), "cluster.url was '***@127.0.0.1:6379/0', must be redis:"),
        (('prefix = "oddsboard"', 'prefix = "a b"'), "cluster.prefix was 'a b', must be text of 1 to 64"),
        (('prefix = "oddsboard"', "prefix = 1"), "cluster.prefix was 1, must be text of 1 to 64 letters"),
        (('"replica"]  # ', '"leader"]  # '), "cluster.roles"),
    ],
    ids=["type", "scheme", "port", "number", "host", "query", "password", "prefix", "prefix type", "role"],
)
def test_what_a_cluster_cannot_have_is_refused(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    """The error has the key, the found value without a possible password, and what is allowed."""
    with pytest.raises(ConfigError) as refused:
        _lines(tmp_path, CONFIG.replace(*change))

    assert told in str(refused.value)
