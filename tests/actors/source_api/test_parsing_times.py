"""Times as the web writes them."""

from __future__ import annotations

import pytest

from actors.source_api.parsing import unix_time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-06-01T15:00:00.000Z", 1_780_326_000),
        ("2026-06-01T15:00:00Z", 1_780_326_000),
        ("2026-06-01T17:00:00+02:00", 1_780_326_000),
        ("2026-06-01T15:00:00.5Z", 1_780_326_000.5),
        *[(text, None) for text in ("2026-06-01T15:00:00", "2026-06-01", "", "x", "2026-06-01T25:00:00Z")],
        *[(text, None) for text in ("99999-06-01T15:00:00Z", "2026-06-01T15:00:60Z", "\u0000", None)],
    ],
)
def test_times_are_read_as_they_are_written(text: str | None, seconds: float | None) -> None:
    """With a time zone, or not at all."""
    assert seconds == unix_time(text)
