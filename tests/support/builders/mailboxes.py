"""A mailbox whose items record what was merged into them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from actors.runtime.mailbox import Mailbox


class Item(NamedTuple):
    """An item: a key, and the serial numbers of all items merged into it."""

    key: str
    serials: tuple[int, ...]


Box: TypeAlias = Mailbox[str, Item]


def empty_box() -> Box:
    """Return a mailbox that keeps the serial numbers in the order of merging."""
    return Mailbox(lambda item: item.key, lambda old, new: Item(new.key, old.serials + new.serials))


def filled(*keys: str) -> Box:
    """Return a mailbox with an item for each of `keys`, numbered from 0."""
    box = empty_box()
    for serial, key in enumerate(keys):
        box.put_nowait(Item(key, (serial,)))
    return box


def drained(box: Box) -> list[Item]:
    """Return all pending items, in order."""
    items = []
    while (item := box.get_nowait()) is not None:
        items.append(item)
    return items
