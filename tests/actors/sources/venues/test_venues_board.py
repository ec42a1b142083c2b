"""The board of a service on any venue that lists its matches: which matches are shown, and when."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
import pytest

from tests.support.builders.polymarket import SOME, league_row
from tests.support.peers.azuro import Azuro, condition_of
from tests.support.peers.five_dollar_football import PRICES, FiveDollarFootball
from tests.support.peers.polymarket import Polymarket
from tests.support.peers.web import Answer, dripping, dropping, hanging, refusing, serving
from tests.support.systems.venue import HOUR, counted, gaps, odds, opened, pass_by, times
from tests.support.time.virtual import WALL_0

pytestmark = pytest.mark.anyio

DAY = 24 * HOUR
HTML = serving(b"<html>blocked</html>", headers={"Content-Type": "text/html"})
BROKEN = {
    "HTML": HTML,
    "cut": serving(b'{"markets": ['),
    "status": serving(b"", 500),
    "slow": hanging,
    "dripping": dripping,
    "dropped": dropping,
    "refused": refusing,
}
SHOWN: dict[type, tuple[float, ...]] = {
    Azuro: (1.81, 3.78, 4.43),
    Polymarket: (2.0, 3.5714, 4.0),
    FiveDollarFootball: PRICES,
}
LISTED_AGAIN_S = {Azuro: 150.0, Polymarket: 330.0, FiveDollarFootball: 900.0}
"""The second by which the list has been read once more."""
LISTS: dict[type, tuple[str, float]] = {Azuro: ("games-by-filters", 600.0), Polymarket: ("/keyset", 900.0)}
"""The path of a list, and the time for which the list holds (seconds)."""
BOTH = pytest.mark.parametrize("make", [Azuro, Polymarket])
Made = Azuro | Polymarket
Any3 = Azuro | Polymarket | FiveDollarFootball


def _five() -> FiveDollarFootball:
    return FiveDollarFootball(lambda: WALL_0 + anyio.current_time())


EVERY = pytest.mark.parametrize("make", [Azuro, Polymarket, _five])


@EVERY
async def test_matches_are_shown_as_they_are_listed(tmp_path: Path, make: Callable[[], Any3]) -> None:
    """Names, league, kick-off and prices are shown; a match is not in play before its kick-off."""
    venue = make()
    for name, start in (("101", HOUR), ("102", 30 * HOUR)):
        venue.add(name, f"Home {name}", f"Away {name}", start=WALL_0 + start)
    async with opened(tmp_path, venue) as (service, _):
        found = [entry.match for entry in service.entries(venue.name)]

        assert dict.fromkeys(("101", "102"), SHOWN[type(venue)]) == odds(service, venue.name)
        assert "live" == await service.state(venue.name)
    assert {
        ("Home 101", "Away 101", int(WALL_0 + HOUR)),
        ("Home 102", "Away 102", int(WALL_0 + 30 * HOUR)),
    } == {(match.home, match.away, match.start_time) for match in found}
    league = "England: Premier League" if make is Azuro else "Premier League"
    assert {(league, False)} == {(match.league, match.in_play) for match in found}


def _is_first(request: httpx2.Request) -> bool:
    """Return whether a request is for the first page of the upcoming matches."""
    query = request.url.params
    return query.get("gameState") == "Prematch" or ("closed" in query and "after_cursor" not in query)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize(
    ("make", "part"),
    [
        (Azuro, {"gameState": "Prematch"}),
        (Azuro, {"gameState": "Live"}),
        (partial(Polymarket, page_size=3), {"after_cursor": "3"}),
    ],
    ids=["to come", "in play", "second page"],
)
async def test_list_that_is_not_read_to_its_end_shows_nothing(
    tmp_path: Path, make: Callable[[], Made], part: dict[str, str], broken: str
) -> None:
    """A part of a list is not accepted as a list; when all parts can be read, all matches are shown."""
    venue = make()
    venue.add("101", start=WALL_0 + HOUR)
    venue.add("102", start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        is_broken = part.items() <= dict(request.url.params).items()
        return await (BROKEN[broken] if is_broken else venue.answer)(request)

    async with opened(tmp_path, venue, answer=answer, until=100.0) as (service, web):
        before = odds(service, venue.name)
        web.answer = venue.answer
        await pass_by(400.0)

        assert ({}, {"101", "102"}) == (before, {*odds(service, venue.name)})


OUTCOMES = condition_of("101")["outcomes"]


def _say(venue: Made, part: str, said: dict[str, Any]) -> float:
    """Change a part of match 101; return the second by which the service knows the change."""
    if isinstance(venue, Azuro):
        (venue.games["101"] if part == "game" else venue.result("101")).update(said)
        return LISTED_AGAIN_S[Azuro] if part == "game" else 27.0
    listed = venue.matches["101"]
    match part:
        case "event":
            listed.event.update(said)
        case "market":
            listed.market("home", **said)
        case _:
            listed.asks = {role: asks for role, asks in {**SOME, **said}.items() if asks is not None}
            return 11.0
    return LISTED_AGAIN_S[Polymarket]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("game", {"state": "Stopped"}),
        ("condition", {"state": "Stopped"}),
        *(("condition", said) for said in ({"conditionId": "other"}, {"game": {"gameId": "102"}})),
        *(("event", {"ended": True}), ("market", {"acceptingOrders": False}), ("asks", {"away": None})),
    ],
    ids=str,
)
async def test_match_that_is_closed_leaves(tmp_path: Path, part: str, said: dict[str, Any]) -> None:
    """The match leaves with the list or poll that says so, even with prices; other matches stay."""
    venue = Azuro(repeats=True) if part in {"game", "condition"} else Polymarket()
    for name in ("101", "102"):
        venue.add(name, start=WALL_0 + HOUR)
    async with opened(tmp_path, venue) as (service, _):
        before = odds(service, venue.name).keys()
        await pass_by(_say(venue, part, said) - venue.opens_s)

        assert {"101", "102"} == before
        assert {"102": SHOWN[type(venue)]} == odds(service, venue.name)


def _unreadable(venue: Made, *, is_so: bool) -> int:
    """Make match 101 unreadable, or readable again; return the number of its unreadable parts."""
    if isinstance(venue, Azuro):
        start = int(WALL_0 + HOUR)
        venue.games["101"]["startsAt"] = start if is_so else str(start)
        return 1
    venue.matches["101"].every_market(negRisk="true" if is_so else True)
    return 3


@BOTH
async def test_match_that_cannot_be_read_is_counted(tmp_path: Path, make: type[Made]) -> None:
    """The match may be anywhere in the lists; the next readable list ends the count."""
    venue = make()
    for name, start in (("101", HOUR), ("102", HOUR), ("103", 48 * HOUR)):
        venue.add(name, start=WALL_0 + start)
    parts = _unreadable(venue, is_so=True)
    async with opened(tmp_path, venue) as (service, _):
        before = counted(service, venue.name), {*odds(service, venue.name)}
        _unreadable(venue, is_so=False)
        await pass_by(350.0)

        assert ({"unreadable": parts}, {"102", "103"}) == before
        assert ({}, {"101", "102", "103"}) == (
            counted(service, venue.name),
            {*odds(service, venue.name)},
        )


@EVERY
@pytest.mark.parametrize("others", [0, 1])
async def test_match_that_is_no_longer_listed_leaves(
    tmp_path: Path, make: Callable[[], Any3], others: int
) -> None:
    """The match leaves before its price is stale, even if no other match of its day is left."""
    venue = make()
    for number in range(1 + others):
        venue.add(f"10{number}", start=WALL_0 + HOUR)
    async with opened(tmp_path, venue) as (service, _):
        venue.remove("100")
        await pass_by({Azuro: 145.0, Polymarket: 306.5}.get(type(venue), 150.0) - venue.opens_s)

        assert [f"10{number}" for number in range(1, 1 + others)] == [*odds(service, venue.name)]


@EVERY
async def test_kick_off_that_moves_is_shown(tmp_path: Path, make: Callable[[], Any3]) -> None:
    """A postponed match keeps its id."""
    venue = make()
    venue.add("101", start=WALL_0 + HOUR)
    async with opened(tmp_path, venue) as (service, _):
        venue.move("101", WALL_0 + 20 * HOUR)
        await pass_by(LISTED_AGAIN_S[type(venue)])
        (match,) = [entry.match for entry in service.entries(venue.name)]

    assert ("101", int(WALL_0 + 20 * HOUR)) == (match.source_match_id, match.start_time)


@pytest.mark.parametrize("make", [Azuro, partial(Polymarket, page_size=2)])
async def test_a_list_holds_from_the_request_for_its_first_page(
    tmp_path: Path, make: Callable[[], Made]
) -> None:
    """The content of a list may be as old as that request, however long its pages take."""
    venue = make()
    venue.add("101", start=WALL_0 + HOUR)
    is_broken, (path, holds_s) = False, LISTS[type(venue)]

    async def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith(path) and is_broken:
            return await HTML(request)
        answered = await venue.answer(request)
        await anyio.sleep(15.0 if _is_first(request) else 0.0)
        return answered

    async with opened(tmp_path, venue, answer=answer, until=40.0) as (service, web):
        before = odds(service, venue.name)
        is_broken = True
        first = min(at for at, request in zip(web.asked, web.requests, strict=True) if _is_first(request))
        await pass_by(first + holds_s - 40.0)

        assert ({"101": SHOWN[type(venue)]}, {}) == (before, odds(service, venue.name))


@pytest.mark.parametrize(
    ("make", "path", "broken", "held_s", "gone_s"),
    [
        (Azuro, *("games-by-filters", HTML), 590.0, 601.0),
        (Azuro, *("condition-batch", HTML), 40.0, 46.0),
        (Polymarket, *("/keyset", HTML), 880.0, 901.0),
        *(
            (Polymarket, "/books", broken, 14.0, 25.0)
            for broken in (HTML, serving(b"[", 200), serving(b"{}"), hanging, serving(b"", 502))
        ),
        *(
            (_five, "", broken, 65.0, 300.0)
            for broken in (refusing, hanging, serving(b"<html>"), serving(b'{"success": 0}'))
        ),
    ],
)
async def test_prices_are_withdrawn_when_answers_stop(
    tmp_path: Path, make: Callable[..., Any], path: str, broken: Answer, *, held_s: float, gone_s: float
) -> None:
    """Prices hold for three polls; the list of matches, which they need, holds for some minutes."""
    is_broken, venue = False, make()
    venue.add("101", start=WALL_0 + HOUR)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        is_struck = is_broken and request.url.path.endswith(path)
        return await (broken if is_struck else venue.answer)(request)

    async with opened(tmp_path, venue, answer=answer) as (service, _):
        is_broken, shown = True, []
        for end in (held_s, gone_s):
            await pass_by(end - anyio.current_time())
            shown.append([*odds(service, venue.name)])

    assert [["101"], []] == shown


@pytest.mark.parametrize(
    ("make", "headers", "pauses"),
    [
        (Azuro, {}, [10.0, 20.0, 40.0, 80.0]),
        (Polymarket, {}, [5.0, 10.0, 20.0, 40.0]),
        (Polymarket, {"Retry-After": "120"}, [120.0, 120.0]),
        (_five, {"Retry-After": "90"}, [90.0]),
    ],
)
async def test_refusals_for_too_many_requests_pause_everything(
    tmp_path: Path, make: Callable[[], Any3], headers: dict[str, str], pauses: list[float]
) -> None:
    """The pause lasts as long as the venue says, otherwise twice as long each time."""
    venue = make()
    venue.add("101", start=WALL_0 + HOUR)
    async with opened(tmp_path, venue) as (_, web):
        web.answer = serving(b"", 429, headers)
        await pass_by(245.0)

        assert pauses == gaps(times(web, "", venue.opens_s))[: len(pauses)]


def _list(venue: Made, start: float | None, part: str, said: dict[str, Any]) -> None:
    if start is not None:
        venue.add("101", start=WALL_0 + start)
        _say(venue, part, said)


@pytest.mark.parametrize(
    ("make", "start", "part", "said", "grade", "not_shown"),
    [
        *((make, None, "", {}, "pass", {}) for make in (Azuro, Polymarket)),
        *((make, -48 * HOUR, "", {}, "pass", {"past": 1}) for make in (Azuro, Polymarket)),
        (Azuro, HOUR, "condition", {"outcomes": OUTCOMES[:1]}, "warn", {"no_result": 1}),
        (Azuro, HOUR, "game", {"state": "Stopped"}, "warn", {"suspended": 1}),
        (Polymarket, 20 * DAY, "", {}, "pass", {"ahead": 1}),
        (Polymarket, -HOUR, "event", {"ended": True}, "pass", {"finished": 1}),
        (Polymarket, HOUR, "event", {"title": "Home Town"}, "warn", {"outcome": 1}),
    ],
)
async def test_venue_that_lists_nothing_to_be_shown_is_live(
    tmp_path: Path,
    make: type[Made],
    start: float | None,
    part: str,
    said: dict[str, Any],
    *,
    grade: str,
    not_shown: dict[str, int],
) -> None:
    """The venue is live while it answers; a warning says that its listed matches cannot be shown."""
    venue, found = make(), []
    _list(venue, start, part, said)
    if isinstance(venue, Polymarket):
        venue.leagues.append(league_row("lal", 780))
    async with opened(tmp_path, venue, until=16.0) as (service, _):
        for _ in range(2):
            check = msgspec.json.decode((await service.get("/health")).body)["checks"][venue.name]
            found.append([check[name] for name in ("state", "status", "matches", "not_shown")])
            found[-1].append((await service.get()).status)
            await pass_by(1284.0)

    assert [["live", grade, 0, not_shown, 200]] * 2 == found


@pytest.mark.parametrize(("make", "path"), [(Azuro, "conditions-by-game-ids"), (Polymarket, "/books")])
async def test_venue_whose_matches_wait_for_their_prices_is_not_live(
    tmp_path: Path, make: type[Made], path: str
) -> None:
    """Nobody knows whether the venue offers prices; a league without matches does not show it either."""
    venue = make()
    venue.add("101", start=WALL_0 + HOUR)
    if isinstance(venue, Polymarket):
        venue.leagues.append(league_row("lal", 780))

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return await (HTML if request.url.path.endswith(path) else venue.answer)(request)

    async with opened(tmp_path, venue, answer=answer, until=1000.0) as (service, _):
        assert set() == service.serving()


@pytest.mark.parametrize(
    ("make", "hours", "interval_s"),
    [
        *((Azuro, 1.0, 10.0), (Azuro, 300.0, 60.0)),
        *((Polymarket, hours, 5.0) for hours in (-2.4, 0.0, 1.9)),
        *((Polymarket, hours, 30.0) for hours in (3.0, 300.0)),
    ],
)
async def test_prices_are_asked_for_by_nearness_of_kick_off(
    tmp_path: Path, make: type[Made], hours: float, interval_s: float
) -> None:
    """From 2 h before a kick-off to 2.5 h after it, prices are asked for more often than at other hours."""
    venue = make()
    venue.add("101", start=WALL_0 + hours * HOUR)
    async with opened(tmp_path, venue, until=200.0) as (_, web):
        path = {Azuro: "condition-batch", Polymarket: "/books"}[make]

        assert {interval_s} == {*gaps(times(web, path))}


@pytest.mark.parametrize(("make", "hours"), [(Azuro, -7.0), (Polymarket, 14.1 * 24), (Polymarket, -6.1)])
async def test_matches_beyond_the_horizon_are_not_asked_for(
    tmp_path: Path, make: type[Made], hours: float
) -> None:
    """Matches after 14 days, and matches that must be over, are left out, whatever the list says."""
    venue = make()
    venue.add("101", start=WALL_0 + hours * HOUR)
    async with opened(tmp_path, venue) as (_, web):
        assert [] == times(web, "condition-batch") + times(web, "/books")
