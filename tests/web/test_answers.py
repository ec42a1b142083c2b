"""What the odds endpoints answer, as a pure function of view, snapshot and headers."""

from __future__ import annotations

import gzip
import json

import pytest

from actors.board import Board, BoardRules
from actors.clock import Instant
from actors.messages import Batch, BookmakerId
from actors.slices import finish
from actors.snapshot import Snapshot
from tests.support.builders import batch, match
from tests.support.virtual import WALL_0
from web.answers import SUCCESSOR, Answers, View
from web.problems import Problem
from web.segments import Api

CEDAR, ALDER = BookmakerId("cedar"), BookmakerId("alder")
NAMES = {CEDAR: "Cédar", ALDER: "Alder"}
EMPTY = Snapshot.empty(100, (CEDAR, ALDER))
BOTH_APIS = pytest.mark.parametrize("api", Api)


def _after(base: Snapshot, *batches: Batch, mono: float = 0.0) -> Snapshot:
    board = Board(base, BoardRules())
    now = Instant(mono, WALL_0 + mono)
    for one in batches:
        finish(board.apply(one, now))
    board.expire(now)
    return board.commit()


FULL = _after(
    EMPTY,
    batch([match("2"), match("1", league=None, start_time=None)], bookmaker="cedar"),
    batch([match("a", home="")], bookmaker="alder"),
)


@BOTH_APIS
def test_the_first_answer_is_whole(api: Api) -> None:
    """Status 200 with an ETag that is the view's version, and the headers that caches need."""
    answer = Answers(NAMES).answer(View(api), FULL, None, None)

    assert 200 == answer.status
    assert {
        "ETag": '"101"',
        "Vary": "Accept-Encoding",
        "Cache-Control": "no-cache",
        "Content-Type": "application/json",
        **({"Link": SUCCESSOR} if api is Api.V1 else {}),
    } == answer.headers
    assert 101 == json.loads(answer.body or b"")["version"]


@BOTH_APIS
def test_gzip_has_an_etag_of_its_own_and_the_same_content(api: Api) -> None:
    """Each content coding has its own strong ETag."""
    answers = Answers(NAMES)

    plain, zipped = (answers.answer(View(api), FULL, None, coding) for coding in (None, "gzip"))

    assert ('"101-gzip"', "gzip") == (zipped.headers["ETag"], zipped.headers["Content-Encoding"])
    assert plain.body == gzip.decompress(zipped.body or b"")


@pytest.mark.parametrize(
    ("if_none_match", "coding", "status"),
    [
        ('"101"', None, 304),
        ('W/"101"', None, 304),
        ('"100", "101"', None, 304),
        ("*", None, 304),
        ('"101-gzip"', "gzip", 304),
        ('"101"', "gzip", 200),
        ('"101-gzip"', None, 200),
        ('"100"', None, 200),
        ("101", None, 200),
    ],
)
def test_304_goes_to_those_who_have_that_very_body(
    if_none_match: str, coding: str | None, status: int
) -> None:
    """The tag of another coding or of another version does not count."""
    assert status == Answers(NAMES).answer(View(Api.V2), FULL, if_none_match, coding).status


def test_304_repeats_the_headers_of_the_cache_and_has_no_body() -> None:
    """ETag, Vary and Cache-Control, and nothing about a content that is not there."""
    answer = Answers(NAMES).answer(View(Api.V1), FULL, "*", "gzip")

    assert answer.body is None
    assert {
        "ETag": '"101-gzip"',
        "Vary": "Accept-Encoding",
        "Cache-Control": "no-cache",
        "Link": SUCCESSOR,
    } == answer.headers


@BOTH_APIS
@pytest.mark.parametrize("if_none_match", [None, "*", '"100"', '"101"'])
def test_503_comes_before_304(api: Api, if_none_match: str | None) -> None:
    """While no bookmaker of the view is serving, no header gets any other answer."""
    with pytest.raises(Problem) as raised:
        Answers(NAMES).answer(View(api), EMPTY, if_none_match, "gzip")

    assert (503, "5") == (raised.value.status, raised.value.headers["Retry-After"])


def test_503_is_for_those_the_view_draws_on() -> None:
    """One bookmaker that serves does for all, but not for the other one's own list."""
    answers, snapshot = Answers(NAMES), _after(EMPTY, batch([], bookmaker="cedar"))

    everything = answers.answer(View(Api.V2), snapshot, None, None)
    with pytest.raises(Problem) as raised:
        answers.answer(View(Api.V2, ALDER), snapshot, None, None)

    assert 200 == everything.status
    assert 503 == raised.value.status


@BOTH_APIS
def test_serving_an_empty_list_is_an_answer(api: Api) -> None:
    """An accepted list without matches says "we looked: there is nothing"."""
    snapshot = _after(EMPTY, batch([], bookmaker="cedar"))

    answer = Answers(NAMES).answer(View(api, CEDAR), snapshot, None, None)

    assert {"version": 100, "matches": [], "matches_count": 0} == json.loads(answer.body or b"")


@BOTH_APIS
def test_a_change_elsewhere_leaves_a_filtered_view_alone(api: Api) -> None:
    """A view's version is the last commit that changed what it shows; the same version, the same bytes."""
    answers = Answers(NAMES)
    later = _after(FULL, batch([match("new")], bookmaker="alder", list_id="list-2"))

    before, after = (answers.answer(View(api, CEDAR), one, None, None) for one in (FULL, later))
    of_all = answers.answer(View(api), later, None, None)

    assert before.headers["ETag"] == after.headers["ETag"]
    assert before.body == after.body
    assert '"102"' == of_all.headers["ETag"]


def test_a_change_that_v2_does_not_show_leaves_v2_alone() -> None:
    """An entry with an empty team name is in v1 only, and so is its change."""
    answers = Answers(NAMES)
    later = _after(
        FULL, batch([match("a", home="", prices=(3, 3, 3))], bookmaker="alder", list_id="list-2")
    )

    etags = {api: answers.answer(View(api), later, None, None).headers["ETag"] for api in Api}

    assert {Api.V1: '"102"', Api.V2: '"101"'} == etags


def test_a_removal_is_a_change() -> None:
    """A view that lost an entry has a new version, and never the old body."""
    later = _after(FULL, batch([match("1")], bookmaker="cedar", list_id="list-2"))

    answer = Answers(NAMES).answer(View(Api.V2), later, '"101"', None)

    assert (200, '"102"') == (answer.status, answer.headers["ETag"])


@BOTH_APIS
def test_a_body_is_made_once_for_each_view_and_version(api: Api) -> None:
    """Asked again, plain or compressed, a view gives the same bytes object."""
    answers, confirmed = Answers(NAMES), _after(FULL, batch(bookmaker="cedar", complete=False), mono=5.0)

    for coding in (None, "gzip"):
        first = answers.answer(View(api), FULL, None, coding)
        again = answers.answer(View(api), confirmed, None, coding)

        assert first.body is again.body


def test_withdrawn_entries_are_gone_and_the_other_bookmaker_stays() -> None:
    """What is stale leaves the list of all, and its own list is 503."""
    answers = Answers(NAMES)
    later = _after(FULL, batch([match("b")], bookmaker="alder", received_mono=20, list_id="l2"), mono=31)

    shown = json.loads(answers.answer(View(Api.V2), later, None, None).body or b"")

    assert ["alder_b"] == [one["id"] for one in shown["matches"]]
    with pytest.raises(Problem):
        answers.answer(View(Api.V2, CEDAR), later, '"101"', None)
