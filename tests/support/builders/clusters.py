"""Configurations of a cluster."""

from __future__ import annotations

import json
from collections.abc import Sequence

CONFIG = """
[server]
drain_s = 0.0
[cluster]
url = "{url}"
roles = {roles}
[sources.alder]
kind = "simulated"
matches = {matches}
updates_per_s = {updates_per_s}
[sources.birch]
kind = "simulated"
spelling = "formal"
matches = {matches}
updates_per_s = {updates_per_s}
[bookmakers.alder]
name = "Alder"
source = "alder"
key = "sharp"
[bookmakers.birch]
name = "Birch"
source = "birch"
key = "standard"
"""
MARKETS = ("over_under", "asian_handicap", "btts", "double_chance")
"""The kinds of market that both sources may read besides 1X2."""


CEDAR = """
[sources.cedar]
kind = "simulated"
spelling = "short"
[bookmakers.cedar]
name = "Cedar"
source = "cedar"
key = "wide"
"""
"""The configuration of one more source."""


def two_sources(
    url: str, roles: str, matches: int, updates_per_s: float, markets: Sequence[str] = ()
) -> str:
    """Return the configuration of a process: two bookmakers, each with a simulated source of its own.

    Both sources read the other `markets` besides 1X2.
    """
    config = CONFIG.format(url=url, roles=roles, matches=matches, updates_per_s=updates_per_s)
    kind = 'kind = "simulated"\n'
    return config.replace(kind, f"{kind}markets = {json.dumps([*markets])}\n") if markets else config
