"""A transition is published once: to the log, and to all that follow, at whatever level the log is."""

from __future__ import annotations

import pytest
import structlog
from structlog.testing import capture_logs

from actors.runtime.facts import FACTS, Transition, announce, conceal, followed

LOG = structlog.get_logger()


def test_followers_and_the_log_have_the_same_fields() -> None:
    """Fields that the logger has bound are included, in one order; a follower that left hears no more."""
    heard: list[Transition] = []
    bound = LOG.bind(actor="source:feed", source="feed")
    with capture_logs() as lines:
        with followed(heard.append):
            announce(bound, "source.down", error="refused", attempts=2)
        announce(LOG, "source.ended")

    (transition,) = heard
    fields = {"actor": "source:feed", "source": "feed", "error": "refused", "attempts": 2}
    assert ("source.down", "feed", fields) == (transition.kind, transition.subject, transition.why)
    assert {**fields, "event": "source.down", "log_level": "warning"} == lines[0]
    assert ["source.down", "source.ended"] == [line["event"] for line in lines]


def test_followers_hear_what_the_level_of_the_log_hides() -> None:
    """An alert does not depend on how much is logged."""
    heard: list[Transition] = []
    quiet = structlog.wrap_logger(None, wrapper_class=structlog.make_filtering_bound_logger("error"))

    with followed(heard.append):
        announce(quiet, "source.down", source="feed")

    assert ["source.down"] == [transition.kind for transition in heard]


def test_followers_get_no_secret_and_no_exception() -> None:
    """An alert may leave the machine, so secrets are masked in texts and in lists."""
    heard: list[Transition] = []
    crash = ValueError("https://host/?key=hunter2")
    conceal(("hunter2",))
    try:
        with capture_logs(), followed(heard.append):
            announce(LOG, "actor.crashed", error=str(crash), keys=["hunter2"], crashes=1, exc_info=crash)
    finally:
        conceal(())

    (transition,) = heard
    assert {"error": "https://host/?key=***", "keys": "['***']", "crashes": 1} == transition.why


@pytest.mark.parametrize(
    ("kind", "fields", "subject"),
    [
        ("bookmaker.lost", {"actor": "bookmaker:cedar", "bookmaker": "cedar"}, "cedar"),
        ("bookmaker.withdrawn", {"source": "feed", "bookmakers": ["cedar"]}, "feed"),
        ("actor.crashed", {"actor": "linker"}, "linker"),
        ("cluster.lost", {"link": "keeper"}, "keeper"),
        ("archive.gap", {"after": 3}, "archive"),
    ],
)
def test_a_transition_names_what_it_is_about(kind: str, fields: dict[str, object], subject: str) -> None:
    """The subject is the most precise name among the fields, otherwise the part of the service."""
    heard: list[Transition] = []
    with capture_logs(), followed(heard.append):
        announce(LOG, kind, **fields)

    assert [subject] == [transition.subject for transition in heard]


def test_every_kind_has_a_level_of_the_log() -> None:
    """A kind may have several levels, of which each line has one."""
    levels = {level for fact in FACTS.values() for level in fact.level.split(" or ")}
    assert {"debug", "info", "warning", "error", "critical"} == levels
