"""Checks of a plug-in's plan and machine: their times become plain numbers of seconds or are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import count
from math import inf, nan
from typing import Any

import pytest

from actors.core.clock import Instant
from actors.core.cooperative import Sliced, run_now
from actors.core.errors import EndlessError, TransportError
from actors.core.messages import Extract, ListId, Payload, Scope, SourceName
from actors.service.registry import MAX_SCOPES, with_exact_values
from actors.source_api.kinds import Machine, PolledKind, TickingKind
from actors.source_api.options import SourceOptions
from actors.source_api.plan import Plan, Target
from tests.support.systems.schedule_stage import OPTIONS, ScriptedPlan, Stage

NOW = Instant(0.0, 0.0)
TARGET = Target(Scope("a"), "http://x/a")
REFUSED = TransportError("refused")


def _wrapped(plan: Plan) -> Plan:
    """Return a plug-in's plan in the wrapper that the service puts around it."""

    def unused(*_: object) -> Any:
        raise AssertionError

    kind = PolledKind("scripted", type(OPTIONS), unused, lambda *_: plan, unused, unused)
    exact = with_exact_values(kind)
    assert isinstance(exact, PolledKind)
    return exact.plan(OPTIONS, ())


def _answering(question: str, value: object) -> Plan:
    plan = ScriptedPlan("a")
    setattr(plan, question, lambda *_: value)
    return _wrapped(plan)


QUESTIONS: dict[str, Callable[[Plan], float]] = {
    "first_delay_s": lambda plan: plan.first_delay_s(TARGET, NOW),
    "interval_s": lambda plan: plan.interval_s(TARGET, NOW),
    "wait_s": lambda plan: plan.wait_s(TARGET, NOW),
    "on_failed": lambda plan: plan.on_failed(TARGET, REFUSED, NOW),
}


def test_plan_with_a_time_that_is_not_a_number_is_refused() -> None:
    """A timer at NaN would delay the timers of all actors, so the actor crashes."""
    for value, found in [
        (nan, "was nan, must be a number of seconds"),
        ("1", "was a str, must be a number"),
        (None, "was a NoneType, must be a number"),
        (True, "was a bool, must be a number"),
        (Decimal("2.5"), "was a Decimal, must be a number"),
    ]:
        for question, asked in QUESTIONS.items():
            plan = _answering(question, value)

            with pytest.raises(ValueError, match=f"^{question} {found}$"):
                asked(plan)


def test_number_of_seconds_is_a_float() -> None:
    """An int becomes a float, and a number below zero becomes zero."""
    for value, expected in [(2.5, 2.5), (2, 2.0), (-1, 0.0)]:
        for question, asked in QUESTIONS.items():
            answer = asked(_answering(question, value))

            assert (float, expected) == (type(answer), answer), (value, expected)


def test_plan_that_never_polls_again_is_refused() -> None:
    """A plan that never polls again is refused, since its list would be shown as live forever."""
    stage = Stage("a")
    stage.schedule.plan = _wrapped(stage.plan)
    stage.begin_all()
    stage.plan.interval = inf

    with pytest.raises(ValueError, match="interval_s was inf, must be at most"):
        stage.end("a")


class Still:
    """A machine that never changes."""

    def __init__(self, interval_s: Any) -> None:
        self.scope = Scope("computed")
        self.interval_s = interval_s

    def image(self) -> Mapping[str, Extract]:
        """Return no matches."""
        return {}

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        """Return no changes."""
        del now
        yield
        return {}


def _started(interval_s: Any) -> Machine:
    kind = with_exact_values(
        TickingKind("still", SourceOptions, lambda _: None, lambda *_: Still(interval_s))
    )
    assert isinstance(kind, TickingKind)
    return kind.start(SourceOptions(kind="still"), (), NOW)


def test_machine_with_a_time_that_is_not_a_number_is_refused() -> None:
    """The interval of a plug-in's machine must be a number of seconds."""
    assert 2.5 == _started(2.5).interval_s
    with pytest.raises(ValueError, match=r"^interval_s was nan, must be a number of seconds$"):
        _ = _started(nan).interval_s


def test_a_generator_that_does_not_end_is_a_crash() -> None:
    """After 0.01 s of work the step raises EndlessError."""

    def endless(*_: object) -> Sliced[Any]:
        while True:
            yield

    plan = Plan(OPTIONS, ())
    given = PolledKind("endless", type(OPTIONS), lambda _: None, lambda *_: plan, endless, endless)
    kind = with_exact_values(given, max_work_s=0.01)
    assert isinstance(kind, PolledKind)
    decoding = kind.decode(Payload(SourceName("x"), Scope("a"), ListId("1"), b"", 0.0, 0.0), OPTIONS)
    for steps, what in [(decoding, "decode"), (kind.extract(None, "x", OPTIONS), "extract")]:
        with pytest.raises(EndlessError, match=f"^its {what} has not ended after 0.01 s of work$"):
            run_now(steps)


def test_a_plan_that_names_ever_new_scopes_is_a_crash() -> None:
    """The board remembers each scope, so a plan has to use its scopes again."""
    inner = ScriptedPlan(())
    plan = _wrapped(inner)
    for first in range(0, MAX_SCOPES, 1000):
        inner.have(str(first + number) for number in range(1000))
        assert 1000 == len(plan.targets())
    inner.have(["one more"])

    with pytest.raises(ValueError, match="its plan has named more than 20000 scopes"):
        plan.targets()


def test_a_plan_of_endless_targets_is_a_crash() -> None:
    """If a plan gives a generator in place of a tuple, the generator is not read to its end."""
    plan = _answering("targets", (Target(Scope(str(number)), "http://x") for number in count()))

    with pytest.raises(ValueError, match="its plan has named more than 20000 scopes"):
        plan.targets()
