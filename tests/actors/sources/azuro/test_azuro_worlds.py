"""Random worlds of Azuro: what is read is what an independent reading of the world says."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.core.cooperative import run_now
from actors.core.messages import ListId, Payload, Scope, SourceName
from actors.core.validation import Bounds, admit
from actors.source_api.groups import preface_of
from actors.sources.azuro.kind import KEY, KIND
from actors.sources.azuro.options import AzuroOptions
from actors.sources.azuro.prices import Group, ListedMatch, listed_match, result_of
from actors.sources.azuro.wire import Condition, read_conditions, read_games
from tests.support.builders.messages import batch
from tests.support.oracles.azuro_reading import PARTS, change, expected
from tests.support.peers.azuro import Azuro, polled


@st.composite
def _worlds(draw: st.DrawFn) -> Azuro:
    """Return a venue with one to five games; about half of them are as they should be."""
    venue = Azuro(seed=draw(st.integers(0, 1000)), repeats=draw(st.booleans()))
    for number in range(1, draw(st.integers(2, 6))):
        name = f"100{number}"
        venue.add(name, f"Home {number}", f"Away {number}", start=1_780_003_600)
        for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
            change(
                venue, name, draw(st.sampled_from(PARTS)), lambda choices: draw(st.sampled_from(choices))
            )
    return venue


def _read(venue: Azuro) -> dict[str, tuple[float, ...]]:
    """Read the world as the service does, without its clock."""
    matches = []
    for state in ("Prematch", "Live"):
        page = venue.page({"gameState": state, "sportSlug": "football", "page": "1", "perPage": "100"})
        for game in read_games(json.dumps(page).encode()).games:
            listed = listed_match(game)
            if isinstance(listed, ListedMatch):
                conditions = read_conditions(json.dumps(venue.listed(venue.conditions[listed.id])).encode())
                if isinstance(result := result_of(conditions.conditions), Condition):
                    matches.append(replace(listed, result=result))
    asked = [match.result.condition_id for match in matches if match.result is not None]
    answer = venue.listed(
        condition
        for listed in venue.conditions.values()
        for condition in listed
        if condition["conditionId"] in asked
    )
    if not venue.repeats:
        answer = {"conditions": [*map(polled, answer["conditions"])]}
    body, options = (
        preface_of(Group(tuple(matches))) + json.dumps(answer).encode(),
        AzuroOptions(kind="azuro"),
    )
    payload = Payload(SourceName("s"), Scope("2026-05-28.1"), ListId("l"), body, 0.0, 0.0)
    extract = run_now(KIND.extract(run_now(KIND.decode(payload, options)), KEY, options))
    admitted = run_now(admit(batch(extract.matches, removals=extract.removals, kinds=()), Bounds())).batch
    return {
        str(match.source_match_id): (match.home_price, match.draw_price, match.away_price)
        for match in admitted.matches
    }


@given(_worlds())
def test_world_is_read_as_its_tables_say(venue: Azuro) -> None:
    """States, outcomes and odds decide, whatever the order of what comes."""
    assert expected(venue) == _read(venue)


def test_recording_of_before_has_its_unreadable_games() -> None:
    """It has their number where a group now counts all that is left out, by reason."""
    body = b'{"matches": [], "removals": [], "unreadable": 3}\n{"conditions": []}'
    payload = Payload(SourceName("s"), Scope("2026-05-28.1"), ListId("l"), body, 0.0, 0.0)
    options = AzuroOptions(kind="azuro")

    assert {"unreadable": 3} == run_now(
        KIND.extract(run_now(KIND.decode(payload, options)), KEY, options)
    ).passed_over
