"""`view=value` of /api/v2/changes and /api/v2/stream: a copy made of them equals /api/v2/value."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from actors.core.messages import BookmakerId
from actors.markets.market import Kind, parsed
from tests.support.builders.messages import match
from tests.support.peers.stream_client import streaming
from tests.support.systems.site import Site, open_site
from tests.support.time.virtual import WALL_0
from web.endpoints import value_stream
from web.feeds.value import changes

pytestmark = pytest.mark.anyio

NAMES = {BookmakerId(name): name.title() for name in ("alder", "birch", "cedar", "dogwood", "elder")}
CHANGES = "/api/v2/changes?view=value"
FAIR, HIGH = (1.9, 3.8, 3.8), (2.1, 3.6, 3.5)
MATCHES = 4


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Serve five bookmakers and all kinds of markets."""
    async with open_site(names=NAMES, kinds=[*Kind]) as site:
        yield site


def listed(site: Site, name: str, *prices: tuple[float, ...] | None, stale_after_s: float = 60.0) -> None:
    """List a match and its total for each of `prices`; a None lists no match."""
    matches = []
    for number, some in enumerate(prices):
        if some is not None:
            start, league = int(WALL_0 + 7200 + number), f"League {number % 2}"
            game = match(f"m{number}", home=f"Home {number}", prices=some, start_time=start, league=league)
            total = (2.05 + some[0] / 50, 1.8) if some[0] > 2 else (1.9, 1.9)
            line = "over_under:3" if some[1] < 3.7 else "over_under:2.5"
            matches += [game, game.of_market(parsed(line), total)]
    site.publish(name, *matches, stale_after_s=stale_after_s)


class Copy:
    """The values that a client has after it followed the rule of the answers."""

    def __init__(self) -> None:
        self.cursor, self.held = "0", dict[tuple[str, ...], Any]()

    def take(self, body: Any) -> None:
        """Drop the values of the changed markets, and add the new values."""
        gone = {(pair["fixture"], pair["market"]) for pair in body["changed"]}
        kept = {} if body["complete"] else {key: of for key, of in self.held.items() if key[:2] not in gone}
        new = {
            tuple(of[name] for name in ("fixture", "market", "outcome", "bookmaker")): of
            for of in body["values"]
        }
        assert not {*kept} & {*new}
        self.held, self.cursor = kept | new, body["cursor"]

    @property
    def values(self) -> list[dict[str, Any]]:
        """Return the values without the times of their last confirmation, which are no changes."""
        return _plain(self.held.values())


def _plain(values: Any) -> list[dict[str, Any]]:
    plain = [{name: of for name, of in value.items() if name != "confirmed"} for value in values]
    return sorted(plain, key=str)


def changed_at_random(site: Site, random: Random) -> None:
    """Let a bookmaker list other prices, or fail, or let time pass."""
    name = random.choice([*NAMES])
    if random.random() < 0.2:
        site.clock.pass_(random.choice([1, 5, 12]))
        return
    if random.random() < 0.1:
        board = site.published.board()
        board.fail(name, next(iter(site.published.newest.books[name].lists)), site.clock.now().mono)
        site.published.commit(board)
        return
    prices = [random.choice([FAIR, FAIR, HIGH, (2.2, 3.5, 3.4), None]) for _ in range(MATCHES)]
    listed(site, name, *prices, stale_after_s=random.choice([20.0, 60.0]))


@pytest.mark.parametrize("seed", range(2))
async def test_copies_equal_the_list_through_a_life(site: Site, seed: int) -> None:
    """This holds for all filters, and however many looks at the board a client misses."""
    random = Random(seed)
    for name in NAMES:
        listed(site, name, *[FAIR] * MATCHES)
    league = (await site.json("/api/v2/fixtures"))["fixtures"][0]["league_id"]
    queries = [
        *("", "min_ev=0.05", "doubted=1", "reference=birch", "bookmaker=alder", f"league={league}"),
        *("market=any", "market=over_under:main&doubted=1", "market=over_under:main,over_under:2.5"),
    ]
    copies = {query: Copy() for query in queries}
    seen = 0
    for _ in range(50):
        changed_at_random(site, random)
        site.clock.pass_(0.6)
        for query, copy in copies.items():
            if random.random() < 0.5:
                copy.take(await site.json(f"{CHANGES}&{query}&since={copy.cursor}"))
                answer = await site.get(
                    f"/api/v2/value?{query}"
                )  # may be 503: no chosen bookmaker has live prices
                assert _plain(answer.json().get("values", ())) == copy.values, query
                seen += len(copy.values)

    assert seen > 200


async def test_a_poll_waits_for_a_change_that_it_asked_for(site: Site) -> None:
    """Values of another league do not end the wait; without a change the answer is empty, with a cursor."""
    for name in NAMES:
        listed(site, name, *[FAIR] * MATCHES)
    leagues = [of["league_id"] for of in (await site.json("/api/v2/fixtures"))["fixtures"]]
    first = await site.json(f"{CHANGES}&league={leagues[1]}&since=0")
    listed(site, "alder", HIGH, FAIR, FAIR, FAIR)
    site.clock.pass_(1)
    other = await site.json(f"{CHANGES}&league={leagues[1]}&since={first['cursor']}&wait=0.1")
    listed(site, "alder", HIGH, HIGH, FAIR, FAIR)
    site.clock.pass_(1)
    found = await site.json(f"{CHANGES}&league={leagues[1]}&since={other['cursor']}&wait=30")
    site.clock.pass_(1)
    same = await site.json(f"{CHANGES}&since={found['cursor']}&wait=0.1")

    assert (True, [], []) == (first["complete"], first["changed"], first["values"])
    assert (False, [], []) == (other["complete"], other["changed"], other["values"])
    assert first["cursor"] != other["cursor"]
    assert found["cursor"] == same["cursor"]
    assert (["1x2"], ["alder_m1"]) == (
        [of["market"] for of in found["changed"]],
        [of["id"] for of in found["values"]],
    )


async def test_values_of_the_main_line_go_when_another_becomes_it(site: Site) -> None:
    """The values of the old main line go although they are still values."""
    derby, fair = match("m1"), (1.9, 1.9)
    first = {name: derby.of_market(parsed("over_under:2.5"), fair) for name in NAMES if name != "elder"}
    first[BookmakerId("alder")] = derby.of_market(parsed("over_under:2.5"), (2.1, 1.8))
    for name in NAMES:
        site.publish(name, derby, *([first[name]] if name in first else []))
    asked = f"{CHANGES}&market=over_under:main"
    before = await site.json(f"{asked}&since=0")
    for name in NAMES:
        other = derby.of_market(parsed("over_under:3"), fair)
        site.publish(name, derby, other, *([first[name]] if name in first else []))
    site.clock.pass_(1)
    after = await site.json(f"{asked}&since={before['cursor']}")

    assert ["over_under:2.5"] == [value["market"] for value in before["values"]]
    assert (["over_under:2.5"], []) == ([of["market"] for of in after["changed"]], after["values"])


async def test_no_answer_has_a_value_whose_list_is_stale(site: Site) -> None:
    """A stale value is left out, even if another client asked shortly before it became stale."""
    for name in NAMES:
        listed(site, name, HIGH if name == "alder" else FAIR, stale_after_s=20.0)
    site.clock.pass_(19.8)
    before = await site.json(f"{CHANGES}&since=0&doubted=1")
    site.clock.pass_(0.3)
    after = await site.json(f"{CHANGES}&since={before['cursor']}&doubted=1")

    assert [1, 0] == [len(answer["values"]) for answer in (before, after)]
    assert ["1x2"] == [of["market"] for of in after["changed"]]


async def test_a_client_from_before_a_forgotten_end_needs_all_values(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client may still hold the values that ended."""
    monkeypatch.setattr(changes, "KEPT", 1)
    cursors = ["0"]
    for prices in ((HIGH, FAIR), (FAIR, FAIR), (FAIR, HIGH)):
        for name in NAMES:
            listed(site, name, *(prices if name == "alder" else (FAIR, FAIR)))
        site.clock.pass_(1)
        cursors.append((await site.json(f"{CHANGES}&since={cursors[-1]}"))["cursor"])

    assert [410, 200, 200] == [
        (await site.get(f"{CHANGES}&since={cursor}")).status_code for cursor in cursors[1:]
    ]


@pytest.mark.parametrize("since", ["-1", "5", "1-0badc0de"])
async def test_changes_since_an_unknown_look_are_gone(site: Site, since: str) -> None:
    """The error names the oldest and the newest known look at the board, and how to get all values."""
    listed(site, "alder", HIGH)
    answer = await site.get(f"{CHANGES}&since={since}")
    body = answer.json()

    assert (410, "version_not_available", 1, 1) == (
        answer.status_code,
        *(body[name] for name in ("code", "oldest_version", "current_version")),
    )
    assert "since=0" in body["detail"]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        *(("view=value&weak=1", "invalid_weak"), ("view=value&from=1", "invalid_from")),
        *(("view=surebets&min_ev=0.1", "invalid_min_ev"), ("reference=birch", "invalid_reference")),
        *(
            ("view=value&bookmaker=alder,birch", "invalid_bookmaker"),
            ("view=value&min_ev=x", "invalid_min_ev"),
        ),
    ],
)
async def test_only_their_own_parameters_choose_values(site: Site, query: str, code: str) -> None:
    """The changes and the stream refuse the same parameters."""
    for path in ("changes", "stream"):
        refused = await site.get(f"/api/v2/{path}?since=0&{query}")
        assert (400, code) == (refused.status_code, refused.json()["code"])


@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_a_stream_has_values_and_then_their_changes(
    site: Site, coding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a value by time alone is sent, too; the bodies equal those of the changes."""
    monkeypatch.setattr(value_stream, "PAUSE_S", 0.02)
    copy = Copy()
    for name in NAMES:
        listed(
            site, name, HIGH if name == "alder" else FAIR, stale_after_s=30.0 if name == "alder" else 20.0
        )
    async with streaming(site.base, "?view=value", f"Accept-Encoding: {coding}") as connection:
        copy.take((snapshot := await connection.event()).data)
        first = copy.values
        listed(site, "birch", HIGH)
        site.clock.pass_(1)
        copy.take((later := await connection.event()).data)
        both = copy.values
        site.clock.pass_(19)
        copy.take((ended := await connection.event()).data)
        await site.audience.leave()
        (bye,) = await connection.rest()

    assert ["snapshot", "changes", "changes", "bye"] == [
        event.name for event in (snapshot, later, ended, bye)
    ]
    assert [["alder"], ["alder", "birch"], []] == [
        [value["id"].partition("_")[0] for value in values] for values in (first, both, copy.values)
    ]
    assert ended.id == ended.data["cursor"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        *(("", ["snapshot"]), ("x", ["reset", "snapshot"]), ("7", ["reset", "snapshot"])),
        *(("1-0badc0de", ["reset", "snapshot"]), ("1", ["heartbeat"]), ("0", ["snapshot"])),
    ],
)
async def test_a_stream_resumes_from_a_known_look(site: Site, given: str, told: list[str]) -> None:
    """From an unknown look at the board the stream begins again with all values."""
    for name in NAMES:
        listed(site, name, HIGH if name == "alder" else FAIR)
    await site.json(f"{CHANGES}&since=0")
    header = [f"Last-Event-ID: {given}"] if given else []
    async with streaming(site.base, "?view=value", *header) as connection:
        events = [await connection.event() for _ in told]

    assert told == [event.name for event in events]
    assert [1] == [len(event.data["values"]) for event in events if event.name == "snapshot"] or told == [
        "heartbeat"
    ]
