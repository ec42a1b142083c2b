"""The location of the real recordings, which are never part of this repository."""

from __future__ import annotations

import os
from pathlib import Path

_DEFAULT = Path(__file__).parents[3] / "shared" / "data"
FOLDER = Path(os.environ.get("ODDSBOARD_RECORDINGS", _DEFAULT))


def are_there() -> bool:
    """Return whether there are any recordings."""
    return (FOLDER / "football_data").is_dir()


def the_odds_api(pattern: str = "2024-08-03T222130/data_soccer_*.json") -> list[Path]:
    """Return the recorded answers of The Odds API, ordered by name."""
    return sorted((FOLDER / "the_odds_api").glob(pattern))


def football_data(folder: str, pattern: str = "*") -> list[Path]:
    """Return the recorded files of one folder of football_data, ordered by name."""
    return sorted((FOLDER / "football_data" / folder).glob(pattern))
