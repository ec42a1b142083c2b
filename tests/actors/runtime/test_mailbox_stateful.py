"""The mailbox against a plain model: any order of putting, taking, laying down, settling, crashing."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from actors.runtime.mailbox import Mailbox

KEYS = st.sampled_from("abc")
Item = tuple[str, tuple[int, ...]]


class MailboxMachine(RuleBasedStateMachine):
    """Items are a key and the numbers merged into it; what is lost, doubled or reordered shows."""

    def __init__(self) -> None:
        super().__init__()
        self.box: Mailbox[str, Item] = Mailbox(lambda item: item[0], lambda a, b: (a[0], a[1] + b[1]))
        self.pending: dict[str, tuple[int, ...]] = {}
        self.hand: Item | None = None
        self.laid_down: list[Item] = []
        self.number = 0

    @rule(key=KEYS)
    def put(self, key: str) -> None:
        """Something newer arrives."""
        self.number += 1
        self.box.put_nowait((key, (self.number,)))
        self.pending[key] = (*self.pending.get(key, ()), self.number)

    @rule()
    def take(self) -> None:
        """The reader lays down what it has and takes the next."""
        self.lay_down()
        taken = self.box.get_nowait()
        expected = next(iter(self.pending.items()), None)
        assert expected == taken
        if expected is not None:
            del self.pending[expected[0]]
            self.hand = expected

    @rule()
    def lay_down(self) -> None:
        """The reader has worked it in."""
        self.box.mark_processed()
        if self.hand is not None:
            self.laid_down.append(self.hand)
            self.hand = None

    @rule()
    def settle(self) -> None:
        """The commit is published."""
        self.box.ack_all()
        self.hand = None
        self.laid_down.clear()

    @rule()
    def crash(self) -> None:
        """The next reader learns what was in hand, and finds the rest put back under what is newer."""
        blamed, self.hand = self.hand, None
        assert blamed == self.box.requeue_unacked()
        back: dict[str, tuple[int, ...]] = {}
        for key, numbers in self.laid_down:
            back[key] = back.get(key, ()) + numbers
        self.laid_down.clear()
        for key, numbers in back.items():
            self.pending[key] = numbers + self.pending.get(key, ())

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        """At most one item a key; the same things in hand and laid down."""
        expected = (len(self.pending), self.hand, tuple(self.laid_down))
        assert expected == (self.box.depth, self.box.in_flight, self.box.unacked)


def test_mailbox_is_what_the_model_is() -> None:
    """Nothing that was put is lost, doubled or reordered within its key."""
    run_state_machine_as_test(
        MailboxMachine,
        settings=settings(max_examples=150, stateful_step_count=40, deadline=None, derandomize=True),
    )
