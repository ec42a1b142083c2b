"""Kinds of source by name: the built-in ones, and those that other packages bring.

A package adds a kind with an entry point in the group `oddsboard.sources`: its name is the kind's,
its object a `PolledKind`, a `TickingKind` or a `StreamKind`. It is loaded when a configuration names it,
so that a broken package harms no other configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from actors.core.errors import ConfigError
from actors.recordings.replay_kind import replay_kind
from actors.runtime.supervisor import error_text
from actors.service.plug_ins import with_exact_values
from actors.source_api.kinds import Kind, PolledKind, TickingKind
from actors.source_api.options import PolledOptions, SourceOptions
from actors.source_api.stream import StreamKind, StreamOptions
from actors.sources.betfair import kind as betfair
from actors.sources.football_data import kind as football_data
from actors.sources.simulated import kind as simulated
from actors.sources.the_odds_api import kind as the_odds_api

GROUP = "oddsboard.sources"

_OPTIONS: Final[Mapping[type[Kind], type[SourceOptions]]] = {
    PolledKind: PolledOptions,
    TickingKind: SourceOptions,
    StreamKind: StreamOptions,
}


def kind_named(name: str) -> Kind:
    """Return the kind of that name, a built-in one first.

    Raises: ConfigError if there is none, or if the package that should bring it cannot.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    points = entry_points(group=GROUP)
    found = points.select(name=name)
    if len(found) != 1:
        known = ", ".join(sorted({*BUILT_IN, *points.names}))
        many = f", which {len(found)} installed packages bring" if found else ""
        raise ConfigError(f"kind was {name!r}{many}, must be one of {known}")
    return _loaded(found[name])


def installed() -> Iterator[tuple[Kind, str]]:
    """Return all kinds, each with its origin. Raises: ConfigError for one that cannot be loaded."""
    for kind in BUILT_IN.values():
        yield kind, "built in"
    for point in entry_points(group=GROUP):
        if point.name not in BUILT_IN:
            yield _loaded(point), point.dist.name if point.dist else "unknown package"


def in_one_line(error: BaseException) -> str:
    """Return type and text of an exception of a plug-in, without line breaks."""
    return " ".join(error_text(error).split())


def _loaded(point: EntryPoint) -> Kind:
    at = f"entry point {point.name} = {point.value}"
    try:
        kind = point.load()
    except KeyboardInterrupt:  # from the terminal
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


_KINDS: Final[tuple[Kind, ...]] = (
    simulated.KIND,
    football_data.KIND,
    the_odds_api.KIND,
    betfair.KIND,
    replay_kind(kind_named),
)

BUILT_IN: Final[Mapping[str, Kind]] = {kind.name: kind for kind in _KINDS}
