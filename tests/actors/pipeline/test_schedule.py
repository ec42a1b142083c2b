"""The schedule alone: due times, added and removed scopes, and a peer in trouble."""

from __future__ import annotations

from actors.core.errors import PayloadError, TransportError
from actors.core.messages import Scope
from actors.pipeline.schedule import MAX_IN_FLIGHT, SOON_S, UNTOLD_S
from tests.support.systems.schedule_stage import INTERVAL_S, Stage


def test_targets_are_ordered_by_due_time() -> None:
    """Targets with equal due times are in the order of the plan."""
    stage = Stage("abc")
    stage.plan.first = {"a": 20.0, "b": 10.0, "c": 10.0}

    order: list[tuple[str, float]] = []
    while len(order) < 3:
        found = stage.next()
        assert found is not None
        stage.mono += found[1]
        order.append((stage.begin(), stage.mono))
        stage.end(order[-1][0])

    assert [("b", 10.0), ("c", 10.0), ("a", 20.0)] == order
    assert ["b", "c", "a"] == stage.plan.heard


def test_number_of_requests_under_way_is_limited() -> None:
    """The limit is two until the peer's first answer, then higher; the end of a request frees its place."""
    stage = Stage("abcdefg")
    begun = [stage.begin_all()]
    stage.end("b")
    begun.append(stage.begin_all())
    stage.end("a")
    begun.append(stage.begin_all())

    assert ["ab", "cde", "f"] == begun
    assert 4 == MAX_IN_FLIGHT


def test_longest_delay_counts() -> None:
    """The delay is the longest of the backoff, Retry-After, and the delay of the plan."""
    for error, plan_s, delay_s in [
        (TransportError("503", 120.0), 0.0, 120.0),
        (TransportError("503", 0.0), 0.0, 0.5),
        (TransportError("503", 120.0), 300.0, 300.0),
        (PayloadError("html"), 50.0, 50.0),
        (PayloadError("html"), 0.0, 0.5),
    ]:
        stage = Stage("ab")
        stage.plan.retry_s = plan_s
        stage.begin_all()
        stage.end("b")
        stage.end("a", error)

        assert delay_s == stage.due_s("a"), (error, plan_s)


def test_hastening_never_postpones() -> None:
    """`hasten` moves only those of the given scopes that have answered, and never to a later time."""
    stage = Stage("abcd")
    stage.plan.first = {"d": 5400.0}
    stage.begin_all()
    stage.end("abc")
    stage.mono += INTERVAL_S - 1.0
    stage.schedule.hasten({Scope("a"), Scope("d"), Scope("nobody")}, 0.5, stage.now)
    stage.schedule.hasten({Scope("b")}, 5.0, stage.now)

    due = [stage.due_s(scope) for scope in "abcd"]
    assert [0.5, 1.0, 1.0, 5400.0 - stage.mono] == due


def test_what_the_plan_has_learnt_is_asked_for_at_once() -> None:
    """An answer with an old preface does not count, not even one that is still to come."""
    stage = Stage("abc")
    stage.begin_all()
    stage.end("b")
    stage.end("c", PayloadError("html"))
    stage.plan.prefaces = dict.fromkeys("abc", b"more")
    begun = [stage.begin_all()]
    stage.end("ab")

    assert ("b", "a") == (begun[0], stage.begin_all())
    assert stage.due_s("c") > 0


def test_scope_that_the_plan_forbids_waits() -> None:
    """A due scope that the plan forbids waits, and one that the plan allows comes first."""
    stage = Stage("ab")
    stage.plan.barred = {"a": 30.0}

    assert ("b", ("a", 30.0)) == (stage.begin_all(), stage.next())


def test_scopes_are_added_and_removed() -> None:
    """A new scope has its first delay, a removed scope is not polled, and a restored scope starts anew."""
    stage = Stage("")
    assert stage.next() is None
    stage.plan.have("ab")
    stage.begin_all()
    stage.end("ab")
    stage.plan.have("bc")
    stage.plan.first = {"c": 3.0, "a": 4.0}
    came = stage.next()
    stage.plan.have("abc")

    due = [stage.due_s(scope) for scope in "bc"]
    assert (("c", 3.0), [INTERVAL_S, 3.0], ("c", 3.0)) == (came, due, stage.next())


REFUSED = TransportError("refused")


def test_two_failures_allow_one_request_at_a_time() -> None:
    """Two failures of different scopes without a success in between count as trouble of the peer.

    After a success all scopes are due at their own times again, several at the same time.
    """
    stage = Stage("abcdef")
    stage.begin_all()
    stage.end("abcd", REFUSED)
    waits = stage.next()
    stage.mono += 60.0
    is_troubled, begun = stage.schedule.is_troubled, stage.begin_all()
    stage.end(begun)

    assert ("e", True) == (waits[0] if waits else "", bool(waits and waits[1] > 0))
    assert (True, 1) == (is_troubled, len(begun))
    assert (False, MAX_IN_FLIGHT) == (stage.schedule.is_troubled, len(stage.begin_all()))


def test_gate_honours_retry_after() -> None:
    """While all scopes fail, a Retry-After for one of them applies to all."""
    stage = Stage("abc")
    stage.begin_all()
    stage.end("ab", TransportError("429", 200.0))
    stage.end("c", REFUSED)

    found = stage.next()
    assert found is not None
    assert found[1] >= 200.0


def test_only_scope_represents_the_peer() -> None:
    """If there is only one scope, its failure counts as the peer's."""
    stage = Stage("a")
    stage.begin_all()
    stage.end("a", REFUSED)

    assert True is stage.schedule.is_troubled


def test_answer_for_a_removed_scope_changes_nothing() -> None:
    """A failure of a removed scope changes nothing either, and does not count as trouble of the peer."""
    stage = Stage("abc")
    stage.begin_all()
    stage.plan.have("bc")
    stage.end("b")
    stage.end("c")
    assert ("b", INTERVAL_S) == stage.next()
    stage.end("a", REFUSED)
    stage.end("b", REFUSED)

    assert False is stage.schedule.is_troubled


def test_requests_of_scopes_that_are_gone_count() -> None:
    """A plan that changes its scopes has no more requests under way than a plan that keeps them."""
    stage, begun = Stage("a"), ""
    stage.begin()
    for scope in "bcdef":
        stage.mono += 1.0
        stage.plan.have(scope)
        begun += stage.begin_all()

    assert "b" == begun


def test_targets_go_on_where_another_schedule_was() -> None:
    """A schedule takes over the due times of another schedule, for known and for new targets."""
    first = Stage("ab")
    first.begin_all()
    first.end("ab")
    first.mono += 4.0
    told = first.schedule.tell(first.now)

    new, known = Stage("ab"), Stage("ab")
    new.plan.first = {"a": 2 * INTERVAL_S}
    known.next()
    for stage in (new, known):
        stage.schedule.resume(told, stage.now)
        again = stage.schedule.tell(stage.now)
        found = stage.next()
        assert found is not None
        assert (INTERVAL_S - 4.0, told.dues) == (found[1], again.dues)


def test_what_may_be_asked_soon_is_told_as_asked() -> None:
    """A node that takes over asks for such scopes, and for those under way, after an interval."""
    stage = Stage("abc")
    stage.plan.first = {"b": SOON_S, "c": SOON_S + 1.0}
    stage.begin_all()

    assert {"a": INTERVAL_S, "b": INTERVAL_S, "c": SOON_S + 1.0} == stage.schedule.tell(stage.now).dues


def test_nothing_is_asked_in_a_cluster_that_was_not_told_before() -> None:
    """After the report is known to be kept, the scope may be asked once, until the permit ends."""
    stage = Stage("ab")
    stage.plan.first = {"b": 10.0}
    stage.schedule.share()
    untold = stage.next()
    stage.schedule.tell(stage.now)
    unknown = stage.next()
    stage.schedule.permit(stage.mono + 3.0)
    permitted = stage.next()
    stage.mono += 3.0
    late = stage.next()

    assert [UNTOLD_S, UNTOLD_S, 0.0, UNTOLD_S] == [
        found[1] for found in (untold, unknown, permitted, late) if found is not None
    ]


def test_a_permit_is_for_a_single_request() -> None:
    """A repeated report changes nothing: it counted the request that has been made."""
    stage = Stage("a")
    stage.schedule.share()
    stage.next()
    for _ in range(2):
        stage.schedule.tell(stage.now)
        stage.schedule.permit(stage.mono + 3.0)
    stage.schedule.tell(stage.now)
    stage.begin()
    stage.schedule.permit(stage.mono + 3.0)
    stage.end("a", REFUSED)
    stage.mono += 1.0

    assert ("a", UNTOLD_S) == stage.next()


def test_a_catalogue_is_asked_at_once() -> None:
    """The content of a catalogue is not shared, and nothing else can be asked without it."""
    stage = Stage("ab")
    stage.plan.catalogues = "b"
    stage.schedule.share()
    stage.next()

    assert ("b", 0.0) == stage.next()
    assert {"a"} == stage.schedule.tell(stage.now).dues.keys()
