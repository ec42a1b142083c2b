"""Lines about the matches that a trial of a source has found."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from actors.core.messages import Match


def counted(matches: Collection[Match]) -> str:
    """Return in words the number of matches, and of their markets other than 1X2."""
    others = sum(bool(match.odds) for match in matches)
    count = len({match.event_id for match in matches})
    return f"matches {count}, other markets {others}" if others else f"matches {count}"


def match_line(match: Match) -> str:
    """Return a description of a match: its id, teams, league, start and prices."""
    start = "no start"
    if match.start_time is not None:
        start = datetime.fromtimestamp(match.start_time, UTC).isoformat().replace("+00:00", "Z")
    teams, league = f"{match.home} - {match.away}", match.league or "no league"
    prices = " ".join(f"{price:g}" for price in match.prices)
    return f"{match.source_match_id}: {teams}, {league}, {start}: {prices}"
