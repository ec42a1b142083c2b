"""Times in the formats of web APIs."""

from __future__ import annotations

from actors.source_api.parsing import unix_time


def test_times_are_parsed() -> None:
    """A time with a zone is parsed, and one without a zone is refused."""
    for text, seconds in [
        ("2026-06-01T15:00:00.000Z", 1_780_326_000),
        ("2026-06-01T15:00:00Z", 1_780_326_000),
        ("2026-06-01T17:00:00+02:00", 1_780_326_000),
        ("2026-06-01T15:00:00.5Z", 1_780_326_000.5),
        *[(text, None) for text in ("2026-06-01T15:00:00", "2026-06-01", "", "x", "2026-06-01T25:00:00Z")],
        *[(text, None) for text in ("99999-06-01T15:00:00Z", "2026-06-01T15:00:60Z", "\u0000", None)],
        *[(text, None) for text in ("0000-06-01T15:00:00Z", "2026-06-01T15:00:00+25:00", "9" * 27)],
    ]:
        assert seconds == unix_time(text), (text, seconds)
