"""Keys of bookmakers in the answers of a source, and the message about keys that no answer had."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import structlog
from structlog.testing import capture_logs

from actors.core.messages import BookmakerId, Scope
from actors.monitoring.status import ScopeStatus, SourceStatus
from actors.monitoring.transitions import MAX_KEYS, note_found, note_keys, polling_stopped
from tests.support.systems.site import NAMES, site_status
from tests.support.systems.supervision import source_record

LOG = structlog.get_logger()
SOUTH, NORTH = Scope("south"), Scope("north")
KNOWN = frozenset({"alder_uk", "birch", "cedar"})


def _answered(status: SourceStatus, scope: Scope, found: Iterable[str], *own: str) -> None:
    """Record an answer with the keys `found` to a source whose bookmakers have the keys `own`."""
    keys = {BookmakerId(key): key for key in own}
    for each in (SOUTH, NORTH):
        status.scopes.setdefault(each, ScopeStatus())
    note_found(status, found, keys, KNOWN)
    status.scopes[scope].last_success_at = 1.0
    note_keys(status, keys, KNOWN, LOG)


def _told(found: Iterable[str], *own: str) -> list[str]:
    """Return the messages after one league answered with these keys, and the other without a match."""
    status = source_record()
    _answered(status, SOUTH, found, *own)
    _answered(status, NORTH, (), *own)
    return [*status.unlisted.values()]


def test_nothing_is_said_before_an_answer_had_a_key() -> None:
    """Out of season, or without bookmakers, answers cannot show whether a key is right or wrong."""
    assert [] == _told((), "birch", "birtch")


@pytest.mark.parametrize(
    ("found", "own", "near"),
    [
        pytest.param(["alder_fr", "oak"], ["alder"], "; did you mean 'alder_fr'?", id="of the answers"),
        pytest.param(["oak"], ["alder"], "; did you mean 'alder_uk'?", id="else a known one"),
        pytest.param(["oak"], ["cedar"], "", id="a known key is not misspelt"),
        pytest.param(["cedar_fr"], ["cedar"], "; did you mean 'cedar_fr'?", id="but may be another's"),
        pytest.param(["elm"], ["elm", "birtch", "birch"], "", id="not what another bookmaker has"),
    ],
)
def test_suggestion_is_first_of_the_answers_then_of_the_known_keys(
    found: list[str], own: list[str], near: str
) -> None:
    """The written key is never suggested, and a key that is already configured is not, either."""
    missed = next(key for key in own if key not in found)

    assert f"no answer has had the key {missed!r} so far{near}" == _told(found, *own)[0]


def test_suggestion_follows_later_answers() -> None:
    """The suggestion uses all answers so far, and only the first message is logged."""
    status = source_record()
    with capture_logs() as logs:
        _answered(status, SOUTH, ["oak"], "alder")
        _answered(status, NORTH, ["oak"], "alder")
        _answered(status, NORTH, ["alder_fr"], "alder")

    assert ["no answer has had the key 'alder' so far; did you mean 'alder_fr'?"] == [
        *status.unlisted.values()
    ]
    assert ["bookmaker.unlisted"] == [line["event"] for line in logs]


def test_number_of_keys_that_are_remembered_has_a_limit() -> None:
    """Endless other keys take no more memory, and a bookmaker's own key is still found after them."""
    status = source_record()
    for number in range(3):
        _answered(status, SOUTH, [f"{number}-{other}" for other in range(MAX_KEYS)], "own")
    _answered(status, NORTH, ["own"], "own")

    assert (MAX_KEYS + 1, True) == (len(status.keys_found), "own" in status.keys_found)
    assert {} == status.unlisted


def test_process_that_does_not_ask_says_nothing_of_keys() -> None:
    """Another process of the cluster polls the source, and its answers may have the key."""
    status = site_status(NAMES, 0.0)
    record = next(iter(status.sources.values()))
    record.unlisted[BookmakerId("alder")] = "no answer has had the key 'alder' so far"
    polling_stopped(status, record.name)

    assert {} == record.unlisted
