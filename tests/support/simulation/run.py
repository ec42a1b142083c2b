"""Hours of the simulated service: at random times something breaks; after each fault all is checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

import anyio
import structlog

from actors.board.diff import Verdict
from actors.core.errors import ConfigError, OddsboardError
from actors.matches.model import fixtures_of
from actors.review.links_file import parse
from actors.runtime.actor import ActorState
from tests.support.simulation.offers import NAMES
from tests.support.simulation.portions import small_portions
from tests.support.simulation.readers import V1, V2
from tests.support.simulation.site import MOODS
from tests.support.simulation.world import World, work_clock
from tests.support.systems.virtual_service import pass_to, running
from tests.support.time.virtual import VirtualLoop, jump, settle

HOUR_S = 3600.0
STEP_S = 240.0
CALM_S = 2400.0
"""The time in which all must be back without faults: twice the longest quarantine, and some polls."""
APART_S = 61.0
"""Time between crashes of the aggregator without a bad batch: the fourth in a minute ends the process."""
ALL_VIEWS_EVERY = 50
VIEWS = [(path, name) for path in (V2, V1) for name in (None, *NAMES)]
BAD_LINKS = (
    "[[must]]",
    "[[team]]\nname = ''",
    "x = 1",
    "\x00",
    "[[must]]\nevents = ['a:1', 'a:2']\nreason = 'r'",
)


class Lived(NamedTuple):
    """The result of a run: a digest of its whole log, its last lines, counts, and the broken rule."""

    seed: int
    digest: str
    lines: tuple[str, ...]
    seen: Counter[str]
    error: str | None


def simulate(seed: int, hours: float) -> Lived:
    """Run the service for some hours of virtual time with faults, and then a while without faults."""
    return anyio.run(_simulated, seed, hours, backend_options={"loop_factory": VirtualLoop})


async def _simulated(seed: int, hours: float) -> Lived:
    world = World(seed)
    error = None
    with _logging_to(world), work_clock(world.random), small_portions(Random(seed)):
        try:
            async with running(world):
                await _live(world, hours * HOUR_S)
                await _calm_down(world)
        except* (AssertionError, OddsboardError) as errors:
            error = "; ".join(_texts(errors))
    world.seen["list.doubted"] += world.records[Verdict.SUSPECT]
    world.seen.update(world.fixture_readers.counts)
    rules = world.fixture_rules
    world.seen["surebets"], world.seen["merged"] = rules.surebets, rules.merged
    world.seen["surebets evaluated"] = rules.evaluations
    return Lived(seed, world.digest.hexdigest(), tuple(world.lines), world.seen, error)


async def _live(world: World, seconds: float) -> None:
    actions, weights = zip(*ACTIONS.items(), strict=True)
    steps = 0
    while (now := anyio.current_time()) < seconds:
        await pass_to(now + world.random.expovariate(1 / STEP_S))
        await _check(world, everything=steps % ALL_VIEWS_EVERY == 0)
        for scope, mood in world.site.moods.items():
            if mood != "fine" and world.random.random() < 0.15:
                world.site.moods[scope] = "fine"
        (action,) = world.random.choices(actions, weights)
        if (what := action(world)) is not None:
            world.say(what)
            world.seen[what.partition(" ")[0]] += 1
            await world.check_in_time()
        steps += 1


async def _calm_down(world: World) -> None:
    """End all faults; after a while everything must be served again."""
    world.site.moods = dict.fromkeys(world.site.moods, "fine")
    for ticker in world.tickers.values():
        ticker.is_away, ticker.crashes = False, 0
    world.records.is_broken, world.link_crashes = False, 0
    world.kills.clear()
    world.clock.wall_shift_s = 0.0
    await pass_to(anyio.current_time() + CALM_S)
    await _check(world, everything=True)
    states = {actor.name: actor.state for actor in world.system.status.actors.values()}
    assert {ActorState.RUNNING} == set(states.values()), states
    unsure = [belief.name for belief in world.beliefs().values() if not belief.is_sure or not belief.rows]
    assert not unsure, f"not back after {CALM_S:g} s: {unsure}"
    assert world.fixture_rules.broken is None, world.fixture_rules.broken
    world.say("calm")


async def _check(world: World, *, everything: bool) -> None:
    await world.system.published.read()  # withdrawals of this read are linked before the comparison
    await settle()
    world.check()
    if everything:
        await world.check_reads(*VIEWS)
        await world.check_fixtures(*world.fixture_readers.views)
        world.check_links(from_nothing=True)
    else:
        await world.check_reads(world.random.choice(VIEWS))
        await world.check_fixtures(world.random.choice(world.fixture_readers.views))
    if everything or world.random.random() < 0.3:
        await world.check_changes(world.random.choice([None, *NAMES]))
    await settle()


def _nothing(world: World) -> None:
    del world


def _change_mood(world: World) -> str:
    scope = world.random.choice([*world.site.moods])
    world.site.moods[scope] = mood = world.random.choice(MOODS)
    return f"mood:{mood} {scope}"


def _lose_all(world: World) -> str:
    mood = world.random.choice(("refused", "timeout", "503"))
    world.site.moods = dict.fromkeys(world.site.moods, mood)
    return f"outage {mood}"


def _set_clock(world: World) -> str:
    world.clock.wall_shift_s = world.random.choice((-3600.0, 0.0, 0.0, 3600.0))
    return f"clock {world.clock.wall_shift_s}"


def _suspend(world: World) -> str:
    seconds = world.random.choice((3.0, 30.0, 300.0, 800.0))
    jump(seconds)
    return f"suspended {seconds}"


def _sleep(world: World) -> str:
    seconds = world.random.choice((3.0, 30.0, 300.0, 800.0))
    world.clock.asleep_s += seconds
    return f"asleep {seconds}"


def _kill(world: World) -> str:
    name = world.random.choice([*NAMES])
    world.kills[name] += world.random.choice((1, 1, 2, 5))
    return f"kill {name}"


def _poison(world: World) -> str:
    bookmaker, scope = world.random.choice([*world.beliefs()])
    world.poison(bookmaker, scope)
    return f"poison {bookmaker} {scope}"


def _break_aggregator(world: World) -> str | None:
    if world.clock.now().mono - world.records.crashed_mono < APART_S:
        return None
    world.records.is_broken = True
    return "break"


def _change_ticker(world: World) -> str:
    ticker, roll = world.random.choice([*world.tickers.values()]), world.random.random()
    if roll < 0.4:
        ticker.is_away = not ticker.is_away
    elif roll < 0.7:
        ticker.crashes += world.random.choice((1, 5))
        world.doubt_all()
    else:
        ticker.rows = dict([*ticker.rows.items()][:4])
    return f"ticker {ticker.scope} {roll:.2f}"


def _break_linker(world: World) -> str:
    world.link_crashes += world.random.choice((1, 1, 5))
    return "links break"


def _hold_linker(world: World) -> str:
    """Keep the linker from its work for a while."""
    seconds = world.random.choice((1.0, 60.0, 400.0))
    world.tasks.start_soon(world.hold_links, seconds)
    return f"links.held {seconds}"


def _change_links(world: World) -> str:
    """Have another file of links read: a bad file is refused whole, and changes nothing."""
    random = world.random
    if random.random() < 0.3:
        try:
            parse(random.choice(BAD_LINKS))
        except ConfigError:
            return "links.bad"
        raise AssertionError("a bad file of links was read")
    keys = sorted(fixtures_of(world.snapshot).by_event)
    pairs = [(a, b) for a in random.sample(keys, min(len(keys), 8)) for b in keys if a.source != b.source]
    some = [*dict.fromkeys(map(frozenset, random.sample(pairs, min(len(pairs), 4))))]
    tables = [
        f"[[{'must' if number % 2 else 'must_not'}]]\nevents = {[*map(str, sorted(pair))]}\nreason = 'r'\n"
        for number, pair in enumerate(some)
    ]
    world.take_links(parse("".join(tables)))
    return f"links.good {len(tables)}"


ACTIONS: Mapping[Callable[[World], str | None], int] = {
    _nothing: 8,
    _change_mood: 10,
    _lose_all: 1,
    _set_clock: 2,
    _suspend: 1,
    _sleep: 1,
    _kill: 1,
    _poison: 1,
    _break_aggregator: 1,
    _change_ticker: 3,
    _break_linker: 1,
    _hold_linker: 2,
    _change_links: 2,
}
"""The possible events, and how often each happens."""


@contextmanager
def _logging_to(world: World) -> Iterator[None]:
    """Put the names of the service's own log events into the log of the run."""

    def say(_logger: Any, _method: str, event: Any) -> Any:
        world.seen[event["event"]] += 1
        world.say(f"{event['event']} {event.get('actor', '')}")
        raise structlog.DropEvent

    before = structlog.get_config()
    info = structlog.make_filtering_bound_logger(20)
    structlog.configure(processors=[say], wrapper_class=info, cache_logger_on_first_use=False)
    try:
        yield
    finally:
        structlog.configure(**before)


def _texts(errors: BaseExceptionGroup[Any]) -> Iterator[str]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _texts(error)
        else:
            yield f"{type(error).__name__}: {error}"
