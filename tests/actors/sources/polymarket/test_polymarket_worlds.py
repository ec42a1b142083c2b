"""Random worlds of Polymarket: what is read is what an independent reading of the world says.

A world is built of the venue's own tables, and read through pages and books in random order.
"""

from __future__ import annotations

import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from actors.core.cooperative import run_now
from actors.core.messages import ListId, Payload, Scope, SourceName
from actors.core.validation import admit
from actors.source_api.groups import Group, preface_of
from actors.source_api.kinds import bounds_of
from actors.sources.polymarket.catalogue import read_markets
from actors.sources.polymarket.kind import KEY, KIND
from actors.sources.polymarket.listing import League, ListedMatch, read_listing
from actors.sources.polymarket.options import PolymarketOptions
from tests.support.builders.messages import batch
from tests.support.builders.polymarket import ROLES
from tests.support.oracles.polymarket_reading import change, expected
from tests.support.peers.polymarket import Polymarket

EPL = League("epl", "Premier League", "82", is_home_first=True)
LEVEL = st.tuples(
    st.integers(1, 999).map(lambda price: f"{Decimal(price) / 1000}"), st.sampled_from(["1", "50", "4000"])
)
NEAR_EVEN = st.tuples(st.integers(30, 40).map(lambda price: f"0.{price}"), st.just("4000"))


@st.composite
def _worlds(draw: st.DrawFn) -> Polymarket:
    """Return a venue with one to five matches; about half of them are as they should be."""
    venue = Polymarket(seed=draw(st.integers(0, 1000)))
    for number in range(draw(st.integers(1, 5))):
        listed = venue.add(str(10 + number), f"Home {number}", f"Away {number}", start=1_780_003_600)
        for role in ROLES:
            listed.asks[role] = [draw(NEAR_EVEN), *draw(st.lists(LEVEL, max_size=2))]
        for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
            change(venue, str(10 + number), lambda choices: draw(st.sampled_from(choices)))
    return venue


def _read(venue: Polymarket) -> dict[str, tuple[float, ...]]:
    """Read the world as the service does, without its clock."""
    page = venue.page({"tag_id": "82", "sports_market_types": "moneyline", "closed": "false"})
    listed = read_listing(read_markets(json.dumps(page).encode()).markets, EPL)
    matches = tuple(match for match in listed.values() if isinstance(match, ListedMatch))
    books = venue.books([token for match in matches for token in match.tokens])
    body = preface_of(Group(matches)) + json.dumps(books).encode()
    options = PolymarketOptions(kind="polymarket")
    payload = Payload(SourceName("s"), Scope("epl-2026-05-28.1"), ListId("l"), body, 0.0, 0.0)
    extract = run_now(KIND.extract(run_now(KIND.decode(payload, options)), KEY, options))
    bounds = bounds_of(KIND, KEY, options)
    admitted = run_now(admit(batch(extract.matches, removals=extract.removals, kinds=()), bounds)).batch
    return {
        str(match.source_match_id): (match.home_price, match.draw_price, match.away_price)
        for match in admitted.matches
    }


@given(_worlds())
def test_world_is_read_as_its_tables_say(venue: Polymarket) -> None:
    """States, roles, depth and book sums decide, whatever the order of what comes."""
    assert expected(venue) == _read(venue)
