"""Finds kinds of source by name: built-in kinds and plug-ins.

A package adds a kind (a plug-in) with an entry point in the group `oddsboard.sources`, named like the kind.
A plug-in is loaded only when a configuration names it, so that a broken plug-in harms no other
configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from itertools import islice
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from actors.core.clock import Instant, worked_s
from actors.core.cooperative import Sliced
from actors.core.errors import ConfigError, EndlessError, PayloadError, SourceError
from actors.core.exact import NotExactError, exact_extract, seconds, text
from actors.core.messages import Extract, Scope
from actors.core.nearest import did_you_mean
from actors.recordings.replay_kind import replay_kind
from actors.runtime.supervisor import error_text
from actors.source_api.kinds import Kind, Machine, PolledKind, TickingKind
from actors.source_api.options import PolledOptions, SourceOptions
from actors.source_api.plan import Plan, Target
from actors.source_api.program import ProgramKind, ProgramOptions
from actors.source_api.stream import Reaction, Session, StreamKind, StreamOptions
from actors.sources.azuro import kind as azuro
from actors.sources.betfair import kind as betfair
from actors.sources.five_dollar_football import kind as five_dollar_football
from actors.sources.football_data import kind as football_data
from actors.sources.polymarket import kind as polymarket
from actors.sources.program import kind as program
from actors.sources.simulated import kind as simulated
from actors.sources.table import kind as table
from actors.sources.the_odds_api import kind as the_odds_api

T = TypeVar("T")
Ended = Callable[[Sliced[Any], str], Sliced[Any]]

GROUP = "oddsboard.sources"
MAX_SCOPES = 20_000  # scopes that a plan may name in its life, because the board remembers them
MAX_WORK_S = 10.0  # processor time for one payload
MAX_INTERVAL_S = 1e9  # the longest allowed interval; a list with a longer interval would never become stale

_OPTIONS: Final[Mapping[type[Kind], type[SourceOptions]]] = {
    PolledKind: PolledOptions,
    TickingKind: SourceOptions,
    StreamKind: StreamOptions,
    ProgramKind: ProgramOptions,
}


def kind_named(name: str) -> Kind:
    """Return the kind with this name, a built-in kind first. Raises: ConfigError if it cannot be loaded."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    points = entry_points(group=GROUP)
    found = points.select(name=name)
    if len(found) != 1:
        names = sorted({*BUILT_IN, *points.names})
        known, near = ", ".join(names), "" if found else did_you_mean(name, names)
        many = f", which {len(found)} installed packages bring" if found else ""
        raise ConfigError(f"kind was {name!r}{many}, must be one of {known}{near}")
    return _loaded(found[name])


def installed() -> Iterator[tuple[Kind, str]]:
    """Return all kinds, each with its origin. Raises: ConfigError for a kind that cannot be loaded."""
    for kind in BUILT_IN.values():
        yield kind, "built in"
    for point in entry_points(group=GROUP):
        if point.name not in BUILT_IN:
            yield _loaded(point), point.dist.name if point.dist else "unknown package"


def in_one_line(error: BaseException) -> str:
    """Return type and text of a plug-in's exception, without line breaks."""
    return " ".join(error_text(error).split())


@contextmanager
def checking(at: str) -> Iterator[None]:
    """Put the place `at` before the error of a check; the check may run a plug-in's code.

    Raises: ConfigError.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except (ConfigError, ValueError) as error:
        raise ConfigError(f"{at}.{error}") from error
    except BaseException as error:
        raise ConfigError(f"{at} cannot be checked by its kind: {in_one_line(error)}") from error


def with_exact_values(kind: Kind, max_work_s: float = MAX_WORK_S) -> Kind:
    """Wrap a kind so that its plan, machine, session and extracts have values of exact types.

    A plug-in may return values of any type, whatever its annotations say; no other module checks them. Its
    generators may also be endless: an endless generator raises EndlessError after `max_work_s` of processor
    time.
    """
    ended = partial(_ended, max_work_s)
    match kind:
        case PolledKind(plan=plan, decode=decode, extract=extract):
            return replace(
                kind,
                plan=lambda options, keys: _ExactPlan(plan(options, keys)),
                decode=lambda payload, options: ended(decode(payload, options), "decode"),
                extract=lambda content, key, options: _exact_result(
                    ended(extract(content, key, options), "extract")
                ),
            )
        case TickingKind(start=start):
            return replace(
                kind, start=lambda options, keys, now: _ExactMachine(start(options, keys, now), ended)
            )
        case StreamKind(session=session, historic=historic):
            return replace(
                kind,
                session=lambda options: _ExactSession(session(options), ended),
                historic=lambda options: _ExactSession(historic(options), ended),
            )
        case ProgramKind():
            return kind


def _loaded(point: EntryPoint) -> Kind:
    at = f"entry point {point.name} = {point.value}"
    try:
        kind = point.load()
    except KeyboardInterrupt:  # Ctrl-C on the terminal
        raise
    except BaseException as error:  # the import of a package may raise anything, even SystemExit
        raise ConfigError(f"{at}: cannot be loaded: {in_one_line(error)}") from error
    if not isinstance(kind, PolledKind | TickingKind | StreamKind):
        allowed = "a PolledKind, a TickingKind or a StreamKind"
        raise ConfigError(f"{at}: was a {type(kind).__name__}, must be {allowed}")
    if kind.name != point.name:
        raise ConfigError(f"{at}: its kind is named {kind.name!r}, must be {point.name!r}")
    needed = _OPTIONS[type(kind)]
    options: object = kind.options
    if not (isinstance(options, type) and issubclass(options, needed)):
        raise ConfigError(f"{at}: its options must be a subclass of {needed.__name__}")
    return with_exact_values(kind)


def _exact_result(steps: Sliced[object]) -> Sliced[Extract]:
    return _exact((yield from steps))


def _ended(max_work_s: float, steps: Sliced[T], what: str) -> Sliced[T]:
    """Run a plug-in's generator, with a limit on its work. Raises: EndlessError."""
    worked = 0.0
    while True:
        began_s = worked_s()
        try:
            next(steps)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # StopIteration.value is untyped
        worked += worked_s() - began_s
        if worked > max_work_s:
            raise EndlessError(f"its {what} has not ended after {max_work_s:g} s of work")
        yield


def _exact(given: object) -> Extract:
    try:
        return exact_extract(given)
    except NotExactError as error:
        raise PayloadError(f"from the plug-in: {error}") from error


class _Wrapper:
    """Has the attributes of `inner`, except those that a subclass overrides."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _ExactPlan(_Wrapper):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._scopes: set[Scope] = set()

    def targets(self) -> tuple[Target, ...]:
        targets = tuple(
            Target(
                Scope(text(target.scope, "scope")),
                text(target.url, "url"),
                bool(target.is_catalogue),
                bytes(target.body),
                bytes(target.preface),
            )
            for target in islice(self._inner.targets(), MAX_SCOPES + 1)
        )
        self._scopes.update(target.scope for target in targets)
        if len(self._scopes) > MAX_SCOPES:
            raise NotExactError(f"its plan has named more than {MAX_SCOPES} scopes, must use them again")
        return targets

    def first_delay_s(self, target: Target, now: Instant) -> float:
        return seconds(self._inner.first_delay_s(target, now), "first_delay_s")

    def interval_s(self, target: Target, now: Instant) -> float:
        interval_s = seconds(self._inner.interval_s(target, now), "interval_s")
        if interval_s > MAX_INTERVAL_S:
            raise NotExactError(f"interval_s was {interval_s}, must be at most {MAX_INTERVAL_S:g}")
        return interval_s

    def wait_s(self, target: Target, now: Instant) -> float:
        return seconds(self._inner.wait_s(target, now), "wait_s")

    def on_failed(self, target: Target, error: SourceError, now: Instant) -> float:
        return seconds(self._inner.on_failed(target, error, now), "on_failed")

    def carried(self, soon: Sequence[Target], now: Instant) -> bytes:
        return bytes(self._inner.carried(soon, now))


class _ExactMachine(_Wrapper):
    def __init__(self, machine: Machine, ended: Ended) -> None:
        super().__init__(machine)
        self._ended = ended
        self.scope = Scope(text(machine.scope, "scope"))

    @property
    def interval_s(self) -> float:
        return seconds(self._inner.interval_s, "interval_s")

    def image(self) -> Mapping[str, Extract]:
        return {key: exact_extract(extract) for key, extract in self._inner.image().items()}

    def advance(self, now: Instant) -> Sliced[Mapping[str, Extract]]:
        return _exact_by_key(self._ended(self._inner.advance(now), "advance"))


def _exact_by_key(steps: Sliced[Mapping[str, Extract]]) -> Sliced[Mapping[str, Extract]]:
    exact: dict[str, Extract] = {}
    for key, extract in (yield from steps).items():
        exact[key] = exact_extract(extract)
        yield
    return exact


class _ExactSession(_Wrapper):
    def __init__(self, session: Session, ended: Ended) -> None:
        super().__init__(session)
        self._ended = ended

    @property
    def delay_s(self) -> float:
        return seconds(getattr(self._inner, "delay_s", 0.0), "delay_s")

    def receive(self, line: bytes) -> Sliced[Reaction]:
        reaction: Reaction = yield from self._ended(self._inner.receive(line), "receive")
        image, changes = (
            None if extract is None else _exact(extract) for extract in (reaction.image, reaction.changes)
        )
        return replace(reaction, image=image, changes=changes)

    def name(self, names: Mapping[str, Any]) -> Extract:
        return exact_extract(self._inner.name(names))


_OWN = (
    simulated.KIND,
    football_data.KIND,
    the_odds_api.KIND,
    polymarket.KIND,
    azuro.KIND,
    betfair.KIND,
    five_dollar_football.KIND,
    program.KIND,
    table.KIND,
)

BUILT_IN: Final[Mapping[str, Kind]] = {kind.name: kind for kind in (*_OWN, replay_kind(kind_named))}
