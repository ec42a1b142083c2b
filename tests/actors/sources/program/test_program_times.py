"""A list of a program with a time of its own: how long it counts, and what it may not say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import Prices
from actors.sources.program.lists import Lists
from tests.support.builders.programs import OPTIONS, Speaker, item, line, listed, upsert
from tests.support.time.virtual import WALL_0

STALE_AFTER_S = 900.0
START = 10_000.0  # by the monotonic clock


def as_of(at: float, zone: str = "Z") -> str:
    """Return the time that is so many seconds after the start, by the wall clock."""
    return datetime.fromtimestamp(WALL_0 + at, UTC).strftime(f"%Y-%m-%dT%H:%M:%S{zone}")


def speaker(**options: Any) -> Speaker:
    """Return lists that hold for a quarter of an hour."""
    return Speaker(replace(OPTIONS, stale_after_s=STALE_AFTER_S, **options), START)


def in_lines(*items: dict[str, Any], **fields: Any) -> tuple[bytes, ...]:
    """Return the same as `listed` in several lines."""
    matches = [line("match", id="1", **each) for each in items]
    return line("begin", id="1", **fields), *matches, line("end", id="1", count=len(items))


def test_a_list_counts_from_its_own_time() -> None:
    """Its prices, where they have no time, are of that time, too; in one line or in several."""
    said = [(listed(item(), as_of=as_of(-600)),), in_lines(item(), as_of=as_of(-600))]
    changes = [speaker().say(*lines)[0] for lines in said]

    assert [START - 600] * 2 == [change.confirmed_mono for change in changes]
    assert [WALL_0 - 600] * 2 == [change.extract.matches[0].source_time for change in changes]


def test_alive_as_of_a_time_confirms_no_more_than_that() -> None:
    """The same file confirms nothing new, another one does; the wall clock may be set."""
    program = speaker()
    program.say(listed(item(), as_of=as_of(-600)))
    (again,) = program.say(line("alive", as_of=as_of(-600)), at=10, drift_s=-0.5)
    (later,) = program.say(line("alive", as_of=as_of(0)), at=20)

    assert [START - 600, START] == [again.confirmed_mono, later.confirmed_mono]


def test_a_list_is_withdrawn_once_it_is_too_old() -> None:
    """Its reason says of when it is. The program may go on to say so, and a newer list is shown."""
    program = speaker()
    (first,) = program.say(listed(item(), as_of=as_of(-901)))
    program.say(listed(item(), as_of=as_of(-890)))
    (old,) = program.say(line("alive", as_of=as_of(-890)), at=20)
    (new,) = program.say(listed(item(), as_of=as_of(15)), at=21)

    assert [True, True, False] == [change.withdrawn for change in (first, old, new)]
    assert f"it is as of {as_of(-890)}, longer ago than stale_after_s (900 s)" == old.why
    assert START + 15 == new.confirmed_mono


def test_a_withdrawal_does_not_make_the_next_list_younger() -> None:
    """A file that was written before its program withdrew the one before counts from its own time."""
    program = speaker()
    program.say(listed(item(), as_of=as_of(-600)))
    program.say(line("withdraw", reason="no file"))
    (change,) = program.say(listed(item(), as_of=as_of(-5)), at=2)

    assert START - 5 == change.confirmed_mono


def test_an_upsert_is_of_the_time_of_its_receipt() -> None:
    """The list stays as old as its other matches."""
    program = speaker()
    program.say(listed(item("1"), item("2"), as_of=as_of(-600)))
    program.say(upsert("1", 2.2))
    (change,) = program.say(line("alive", as_of=as_of(-600)))

    assert START - 600 == change.confirmed_mono


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (
            {"as_of": "2026-05-28 20:00"},
            "has the as_of '2026-05-28 20:00', must have an offset, like 2026-",
        ),
        ({"as_of": as_of(3600)}, "has an as_of that is 3600 s ahead of our clock"),
        ({"as_of": as_of(-700)}, "has an as_of 100 s before the time that the list had before"),
        ({"as_of": 1_780_000_000}, r"Expected `str \| null`, got `int` - at `\$.as_of`"),
        ({"collected": True}, 'is collected: its table of the configuration needs prices = "collected"'),
    ],
)
def test_what_cannot_be_the_age_of_a_list_is_an_error(fields: dict[str, Any], why: str) -> None:
    """A time without an offset, in the future or before the last, or prices that are collected."""
    for lines in ((listed(item(), **fields),), in_lines(item(), **fields)):
        program = speaker()
        program.say(listed(item(), as_of=as_of(-600)))
        with pytest.raises(PayloadError, match=why):
            program.say(*lines)

        assert () == program.lists.changes()


def test_collected_prices_are_taken_where_they_are_configured() -> None:
    """Whether the program says so or not."""
    program = speaker(prices=Prices.COLLECTED)
    (said,) = program.say(listed(item(), collected=True, as_of=as_of(-600)))
    (unsaid,) = program.say(listed(item()))

    assert [START - 600, START] == [said.confirmed_mono, unsaid.confirmed_mono]


@pytest.mark.parametrize("field", ["start", "updated"])
def test_a_time_that_cannot_be_read_is_named(field: str) -> None:
    """With its field, its value, and that an offset other than Z is as good."""
    rejected: list[str] = []
    lists = Lists(OPTIONS, lambda _, found: rejected.append(found.why))
    said = [item("1", **{field: "2026-06-01 15:00"}), item("2", **{field: "2026-06-01T17:00:00+02:00"})]
    run_now(lists.receive(listed(*said), Instant(0.0, WALL_0)))

    advice = "must have an offset, like 2026-11-22T15:00:00Z or 2026-11-22T16:00:00+01:00"
    assert [f"{field} was '2026-06-01 15:00', {advice}"] == rejected
