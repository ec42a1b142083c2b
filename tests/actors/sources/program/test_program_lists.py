"""The protocol of programs: the effect of each line on a list, a list's age, and lines that are errors."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from actors.core.clock import Instant
from actors.core.cooperative import run_now
from actors.core.errors import PayloadError
from actors.core.messages import ListId, Prices, Scope, SourceMatchId
from actors.core.validation import Reason
from actors.source_api.program import ListChange
from actors.sources.program.known_list import KnownList
from actors.sources.program.lists import MAX_LISTS, MAX_REJECTED, Lists
from actors.sources.program.wire import Said
from tests.support.builders.messages import match
from tests.support.builders.programs import OPTIONS, Speaker, item, line, listed, removed, upsert
from tests.support.time.virtual import WALL_0

EPL = Scope("epl")


def prices(change: ListChange) -> dict[str, float]:
    """Return the price of home by match."""
    return {match.source_match_id: match.home_price for match in change.extract.matches}


def test_a_list_is_complete() -> None:
    """A `list` line is the whole list, with prices as text or number."""
    (change,) = Speaker().say(listed(item("1", "2.10"), item("2", 2.2)))

    assert (EPL, True, {"1": 2.1, "2": 2.2}) == (change.scope, change.complete, prices(change))


def test_a_match_is_read_with_all_fields() -> None:
    """Names, league, kick-off and the source's own time go to the board; other fields are ignored."""
    said = item("1", updated="2026-05-28T20:00:00Z", note="any")
    (change,) = Speaker().say(listed(said))
    (match,) = change.extract.matches

    assert ("Home 1", "Away 1", "Premier League") == (match.home, match.away, match.league)
    assert (1_780_326_000, 1_779_998_400.0) == (match.start_time, match.source_time)
    assert (2.1, 3.4, 3.6) == (match.home_price, match.draw_price, match.away_price)


@pytest.mark.parametrize("count", [2, 2.0])
def test_a_list_in_several_lines_counts_at_its_end(count: float) -> None:
    """`begin` and `match` change nothing; `end` with the right count (2 or 2.0) completes the list."""
    program = Speaker()
    begun = program.say(line("begin", id="1"), line("match", id="1", **item("1")))
    (change,) = program.say(line("match", id="1", **item("2")), line("end", id="1", count=count))

    assert () == begun
    assert (True, ["1", "2"]) == (change.complete, list(prices(change)))


def test_a_begin_drops_the_one_before() -> None:
    """A list that begins again has only the matches after the last `begin`."""
    (change,) = Speaker().say(
        line("begin", id="1"),
        line("match", id="1", **item("1")),
        line("begin", id="2"),
        line("match", id="2", **item("2")),
        line("end", id="2", count=1),
    )

    assert {"2"} == prices(change).keys()


def test_changes_of_a_chunk_are_one_change() -> None:
    """The change has only the newest state of each match."""
    program = Speaker()
    program.say(listed(item("1"), item("2"), item("3")))
    (change,) = program.say(
        upsert("1", 2.2), upsert("1", 2.3), upsert("2", 2.4), line("remove", match="2"), upsert("4", 2.5)
    )

    assert (False, {"1": 2.3, "4": 2.5}) == (change.complete, prices(change))
    assert {"2": "withdrawn"} == removed(change)


def test_alive_confirms_everything() -> None:
    """`alive` sets the time of the list to its own, and changes no match."""
    program = Speaker()
    program.say(listed(item()))
    (change,) = program.say(line("alive"), at=10.0)

    assert (10.0, (), ()) == (change.confirmed_mono, change.extract.matches, change.extract.removals)


def test_an_upsert_confirms_its_match_alone() -> None:
    """The list is as old as its match whose last line is the oldest."""
    program = Speaker()
    program.say(listed(item("1"), item("2")))
    (first,) = program.say(upsert("1", 2.2), at=10.0)
    (second,) = program.say(upsert("2", 2.2), at=20.0)

    assert (0.0, 10.0) == (first.confirmed_mono, second.confirmed_mono)


def test_a_match_that_alone_is_stale_is_removed() -> None:
    """Just before the whole list becomes stale, its stale matches leave, and the others stay."""
    program = Speaker()
    program.say(listed(item("1"), item("2")))
    program.say(upsert("1"), at=10.0)
    (change,) = program.say(at=29.5)

    assert ({"2": "stale"}, 10.0) == (removed(change), change.confirmed_mono)


def test_many_matches_that_are_stale_are_removed_together() -> None:
    """All matches leave except the ones confirmed since, however many matches there are."""
    known = KnownList(EPL)
    matches = [Said(SourceMatchId(str(number)), (match(str(number)),)) for number in range(50_000)]
    run_now(known.complete(ListId("1"), matches, 0.0))
    for kept in (7, 9):
        known.change(matches[kept], 10.0 + kept)

    known.expire(0.0, 1.0)

    assert ["7", "9"] == [*known.matches]
    assert not known.is_whole


def test_withdraw_takes_the_list_off() -> None:
    """`withdraw` needs no earlier list, and only a complete list brings the withdrawn matches back."""
    program = Speaker()
    program.say(listed(item()))
    program.lists.begin()
    (change,) = program.say(line("withdraw", reason="login lost"))

    assert change.withdrawn
    with pytest.raises(PayloadError, match="alive of list 'epl' came without a complete list"):
        program.say(line("alive"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"odds": {"one": "1.0", "draw": "3.4", "two": "3.6"}}, Reason.PRICE),
        ({"odds": {"one": "2,1", "draw": "3.4", "two": "3.6"}}, Reason.PRICE),
        ({"odds": {"one": "nan", "draw": "3.4", "two": "3.6"}}, Reason.PRICE),
        ({"odds": {"one": True, "draw": "3.4", "two": "3.6"}}, Reason.PRICE),
        ({"odds": {"one": 1e308, "draw": 1e308, "two": 1e308}}, Reason.PRICE),
        ({"odds": {"one": "2.1", "two": "3.6"}}, Reason.INCOMPLETE),
        ({"odds": None}, Reason.PRICE),
        ({"odds": {"one": "9.1", "draw": "9.4", "two": "9.6"}}, Reason.BOOK_SUM),
        ({"start": "tomorrow"}, Reason.START_TIME),
        ({"start": "1066-10-14T09:00:00Z"}, Reason.START_TIME),
        ({"updated": "2026-05-28 20:00"}, Reason.START_TIME),
        ({"home": None}, Reason.TYPE),
        ({"match": "1 2"}, Reason.MATCH_ID),
    ],
)
def test_a_match_that_breaks_a_rule_is_rejected_alone(changes: dict[str, Any], reason: Reason) -> None:
    """The other matches of its list are shown, and the older price of the bad match leaves."""
    bad = item("1") | changes
    (change,) = Speaker().say(listed(item("2"), bad))
    program = Speaker()
    program.say(listed(item("1"), item("2")))
    (upserted,) = program.say(line("upsert", **bad))

    assert (["2"], {bad["match"]: str(reason)}) == (list(prices(change)), removed(change))
    assert ({}, {bad["match"]: str(reason)}) == (prices(upserted), removed(upserted))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"{", "unreadable"),
        (b'{"type":"alive","list":"epl","any":' + b"[" * 100_000 + b"\n", "unreadable"),
        (b'{"type":"list","list":"\xff"}\n', "unreadable"),
        (b"no JSON\n", "unreadable"),
        (b"[]\n", "protocol"),
        (line("hello"), "protocol"),
        (line("list"), "protocol"),
        (line("alive", ""), "protocol"),
        (upsert(), "protocol"),
        (line("remove", match="1"), "protocol"),
        (line("alive"), "protocol"),
        (line("match", id="1", **item()), "protocol"),
        (line("end", id="1", count=0), "protocol"),
        (line("list", id="1", matches=[item(odds={})] * (MAX_REJECTED + 1)), "rejected"),
    ],
    ids=range(14),
)
def test_a_line_that_breaks_the_protocol_is_an_error(said: bytes, reason: str) -> None:
    """The error is counted under a reason, and the line changes nothing."""
    program = Speaker()
    with pytest.raises(PayloadError) as caught:
        program.say(said)

    assert (reason, ()) == (caught.value.reason, program.lists.changes())


@pytest.mark.parametrize(
    "said",
    [
        (line("begin", id="1"), line("match", id="1", **item()), line("end", id="1", count=2)),
        (line("begin", id="1"), line("match", id="2", **item())),
        (line("begin", id="1"), line("end", id="2", count=0)),
        (listed(item()), line("upsert", match=7)),
    ],
    ids=["count", "other id", "other end", "no id"],
)
def test_what_does_not_fit_what_was_said_is_an_error(said: tuple[bytes, ...]) -> None:
    """A list with a wrong end is not complete, and a change without a match changes nothing."""
    program = Speaker()
    program.say(*said[:-1])

    with pytest.raises(PayloadError):
        program.say(said[-1])
    assert () == program.lists.changes()


def test_a_new_process_must_speak_completely_first() -> None:
    """A new process can neither change nor confirm the lists of an earlier process."""
    program = Speaker()
    program.say(listed(item()), line("begin", id="2"))
    program.lists.begin()

    for said in (upsert(), line("alive"), line("end", id="2", count=0)):
        with pytest.raises(PayloadError):
            program.say(said)


def test_what_is_stale_cannot_be_confirmed() -> None:
    """When a list or some of its matches are stale, the program must send the complete list."""
    program = Speaker()
    program.say(listed(item("1")), listed(item("2"), item("3"), name="other"))
    program.say(upsert("2", name="other"), at=10.0)

    for name in ("epl", "other"):
        with pytest.raises(PayloadError):
            program.say(line("alive", name), at=30.0)


def test_a_list_without_its_stale_matches_still_changes() -> None:
    """A complete list is needed only for a confirmation."""
    program = Speaker()
    program.say(listed(item("1"), item("2")))
    program.say(upsert("1"), at=10.0)
    program.say(at=29.5)
    (change,) = program.say(upsert("1", 2.3), at=30.0)

    assert {"1": 2.3} == prices(change)


def test_images_are_all_that_is_known() -> None:
    """Each image has the latest content of its list, and is as old as the list."""
    program = Speaker()
    program.say(listed(item("1"), item("2")), listed(name="empty"))
    program.say(upsert("1", 2.3), line("remove", match="2"), at=5.0)
    epl, empty = program.lists.images()

    assert ({"1": 2.3}, 5.0, True) == (prices(epl), epl.confirmed_mono, epl.complete)
    assert (Scope("empty"), {}) == (empty.scope, prices(empty))


def test_names_of_lists_are_bounded() -> None:
    """A program that invents names is ended: the board remembers every list."""
    program = Speaker()
    program.say(*(line("withdraw", f"list-{number}") for number in range(MAX_LISTS)))

    with pytest.raises(PayloadError, match="more than 1000 names"):
        program.say(line("withdraw", "another"))


def test_half_a_character_costs_its_match_alone() -> None:
    """A match with an invalid text is rejected, in a list or by itself; the other matches are shown."""
    odd = item("2") | {"home": "Home \ud83d"}
    speaker = Speaker()
    (whole,) = speaker.say(listed(item("1"), odd, item("3")))
    in_lines = [line("match", id="2", **each) for each in (item("1"), odd, item("3"))]
    (again,) = speaker.say(line("begin", id="2"), *in_lines, line("end", id="2", count=3))
    (change,) = speaker.say(upsert("3", 2.3), line("upsert", **{**odd, "match": "1"}))

    assert ["1", "3"] == list(prices(whole)) == list(prices(again))
    assert {"2": Reason.TYPE} == removed(whole) == removed(again)
    assert ({"3": 2.3}, {"1": Reason.TYPE}) == (prices(change), removed(change))


STALE_AFTER_S = 900.0
START = 10_000.0  # by the monotonic clock


def as_of(at: float, zone: str = "Z") -> str:
    """Return the wall clock's time so many seconds after the start."""
    return datetime.fromtimestamp(WALL_0 + at, UTC).strftime(f"%Y-%m-%dT%H:%M:%S{zone}")


def speaker(**options: Any) -> Speaker:
    """Return lists that hold for a quarter of an hour."""
    return Speaker(replace(OPTIONS, stale_after_s=STALE_AFTER_S, **options), START)


def in_lines(*items: dict[str, Any], **fields: Any) -> tuple[bytes, ...]:
    """Return a list as several lines; `listed` returns it as one line."""
    matches = [line("match", id="1", **each) for each in items]
    return line("begin", id="1", **fields), *matches, line("end", id="1", count=len(items))


def test_a_list_counts_from_its_own_time() -> None:
    """Prices without a time have the list's time, too, whether the list is one line or several."""
    said = [(listed(item(), as_of=as_of(-600)),), in_lines(item(), as_of=as_of(-600))]
    changes = [speaker().say(*lines)[0] for lines in said]

    assert [START - 600] * 2 == [change.confirmed_mono for change in changes]
    assert [WALL_0 - 600] * 2 == [change.extract.matches[0].source_time for change in changes]


def test_alive_as_of_a_time_confirms_no_more_than_that() -> None:
    """The same file confirms nothing new, but a newer file does; the wall clock may be set meanwhile."""
    program = speaker()
    program.say(listed(item(), as_of=as_of(-600)))
    (again,) = program.say(line("alive", as_of=as_of(-600)), at=10, drift_s=-0.5)
    (later,) = program.say(line("alive", as_of=as_of(0)), at=20)

    assert [START - 600, START] == [again.confirmed_mono, later.confirmed_mono]


def test_a_list_is_withdrawn_once_it_is_too_old() -> None:
    """The reason has the list's time. More old lines are no error, and a newer list is shown."""
    program = speaker()
    (first,) = program.say(listed(item(), as_of=as_of(-901)))
    program.say(listed(item(), as_of=as_of(-890)))
    (old,) = program.say(line("alive", as_of=as_of(-890)), at=20)
    (new,) = program.say(listed(item(), as_of=as_of(15)), at=21)

    assert [True, True, False] == [change.withdrawn for change in (first, old, new)]
    assert f"it is as of {as_of(-890)}, longer ago than stale_after_s (900 s)" == old.why
    assert START + 15 == new.confirmed_mono


def test_a_withdrawal_does_not_make_the_next_list_younger() -> None:
    """A file that is older than the withdrawal of the list before counts from the file's own time."""
    program = speaker()
    program.say(listed(item(), as_of=as_of(-600)))
    program.say(line("withdraw", reason="no file"))
    (change,) = program.say(listed(item(), as_of=as_of(-5)), at=2)

    assert START - 5 == change.confirmed_mono


def test_an_upsert_is_of_the_time_of_its_receipt() -> None:
    """The list as a whole stays as old as its other matches."""
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
    """Errors are a time without an offset, in the future or before the last one, and collected prices."""
    for lines in ((listed(item(), **fields),), in_lines(item(), **fields)):
        program = speaker()
        program.say(listed(item(), as_of=as_of(-600)))
        with pytest.raises(PayloadError, match=why):
            program.say(*lines)

        assert () == program.lists.changes()


def test_collected_prices_are_taken_where_they_are_configured() -> None:
    """The program may say that its prices are collected, or not."""
    program = speaker(prices=Prices.COLLECTED)
    (said,) = program.say(listed(item(), collected=True, as_of=as_of(-600)))
    (unsaid,) = program.say(listed(item()))

    assert [START - 600, START] == [said.confirmed_mono, unsaid.confirmed_mono]


@pytest.mark.parametrize("field", ["start", "updated"])
def test_a_time_that_cannot_be_read_is_named(field: str) -> None:
    """The reason has the field and its value, and says that an offset other than Z is allowed."""
    rejected: list[str] = []
    lists = Lists(OPTIONS, lambda _, found: rejected.append(found.why))
    said = [item("1", **{field: "2026-06-01 15:00"}), item("2", **{field: "2026-06-01T17:00:00+02:00"})]
    run_now(lists.receive(listed(*said), Instant(0.0, WALL_0)))

    advice = "must have an offset, like 2026-11-22T15:00:00Z or 2026-11-22T16:00:00+01:00"
    assert [f"{field} was '2026-06-01 15:00', {advice}"] == rejected
