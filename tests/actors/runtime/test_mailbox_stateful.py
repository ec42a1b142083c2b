"""The mailbox against a simple model: any order of puts, takes, marks, acknowledgements and crashes."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from actors.runtime.mailbox import Mailbox

KEYS = st.sampled_from("abc")
Item = tuple[str, tuple[int, ...]]


class MailboxMachine(RuleBasedStateMachine):
    """An item is a key and the numbers merged into it, to show losses, duplicates and reordering."""

    def __init__(self) -> None:
        super().__init__()
        self.box: Mailbox[str, Item] = Mailbox(lambda item: item[0], lambda a, b: (a[0], a[1] + b[1]))
        self.pending: dict[str, tuple[int, ...]] = {}
        self.in_flight: Item | None = None
        self.unacked: list[Item] = []
        self.number = 0

    @rule(key=KEYS)
    def put(self, key: str) -> None:
        """A newer item arrives."""
        self.number += 1
        self.box.put_nowait((key, (self.number,)))
        self.pending[key] = (*self.pending.get(key, ()), self.number)

    @rule()
    def take(self) -> None:
        """The reader marks its item as processed and takes the next one."""
        self.mark_processed()
        taken = self.box.get_nowait()
        expected = next(iter(self.pending.items()), None)
        assert expected == taken
        if expected is not None:
            del self.pending[expected[0]]
            self.in_flight = expected

    @rule()
    def mark_processed(self) -> None:
        """The reader has processed its item."""
        self.box.mark_processed()
        if self.in_flight is not None:
            self.unacked.append(self.in_flight)
            self.in_flight = None

    @rule()
    def ack_all(self) -> None:
        """The commit is published."""
        self.box.ack_all()
        self.in_flight = None
        self.unacked.clear()

    @rule()
    def crash(self) -> None:
        """The item in flight is returned; the others are pending again, merged under newer ones."""
        blamed, self.in_flight = self.in_flight, None
        assert blamed == self.box.requeue_unacked()
        back: dict[str, tuple[int, ...]] = {}
        for key, numbers in self.unacked:
            back[key] = back.get(key, ()) + numbers
        self.unacked.clear()
        for key, numbers in back.items():
            self.pending[key] = numbers + self.pending.get(key, ())

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        """At most one item per key waits, and the same items are in flight and unacknowledged."""
        expected = (len(self.pending), self.in_flight, tuple(self.unacked))
        assert expected == (self.box.depth, self.box.in_flight, self.box.unacked)


def test_mailbox_equals_the_model() -> None:
    """No item is lost, doubled or reordered within its key."""
    run_state_machine_as_test(
        MailboxMachine,
        settings=settings(max_examples=150, stateful_step_count=40, deadline=None, derandomize=True),
    )
