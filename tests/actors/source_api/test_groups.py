"""Groups of matches whose prices are asked for together: their size, and which matches stay in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.core.messages import SourceMatchId
from actors.source_api.groups import Groups

SIZE = 10
WEIGHTS = st.dictionaries(st.integers(0, 30).map(str).map(SourceMatchId), st.integers(1, 14), max_size=25)


def _days(weights: dict[SourceMatchId, int]) -> dict[SourceMatchId, str]:
    return {name: f"day-{int(name) % 3}" for name in weights}


@given(st.lists(WEIGHTS, min_size=1, max_size=4))
def test_a_group_is_never_heavier_than_its_size(rounds: list[dict[SourceMatchId, int]]) -> None:
    """Only a match that is alone in its group may be heavier; every match is in one group of its day."""
    groups = Groups(SIZE)
    for weights in rounds:
        arranged = groups.arrange(_days(weights), weights)

        assert sorted(weights) == sorted(name for names in arranged.values() for name in names)
        for group, names in arranged.items():
            assert {group.rpartition(".")[0]} == {_days(weights)[name] for name in names}
            assert len(names) == 1 or sum(weights[name] for name in names) <= SIZE


@given(WEIGHTS, WEIGHTS)
def test_a_match_keeps_its_group_while_it_has_room(
    first: dict[SourceMatchId, int], then: dict[SourceMatchId, int]
) -> None:
    """New matches take the room that is left in the groups."""
    groups = Groups(SIZE)
    before = groups.arrange(_days(first), first)
    weights = {**then, **{name: first[name] for name in first.keys() & then.keys()}}

    after = groups.arrange(_days(weights), weights)

    old = {name: group for group, names in before.items() for name in names if name in weights}
    assert old == {name: group for group, names in after.items() for name in names if name in old}


@given(st.integers(1, 60))
def test_without_weights_every_match_weighs_one(count: int) -> None:
    """Groups are filled one after the other."""
    days = {SourceMatchId(str(number)): "day" for number in range(count)}

    sizes = [len(names) for names in Groups(SIZE).arrange(days).values()]

    assert [SIZE] * (count // SIZE) + [count % SIZE] * (count % SIZE > 0) == sizes


def test_match_that_has_become_too_heavy_gets_another_group() -> None:
    """The other matches keep their groups."""
    groups, light, heavy = Groups(SIZE), SourceMatchId("1"), SourceMatchId("2")
    days = {light: "day", heavy: "day"}
    groups.arrange(days, {light: 4, heavy: 6})

    assert {"day.1": [light], "day.2": [heavy]} == groups.arrange(days, {light: 4, heavy: 7})
