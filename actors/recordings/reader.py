"""Opens recordings: checks them, and finds their kind and options, before they are played."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from actors.core.errors import ConfigError
from actors.core.messages import BookmakerId
from actors.recordings.betfair_historic import HISTORIC_SUFFIX, historic_header, historic_records
from actors.recordings.format import Ending, Header, Recorded, Recording
from actors.source_api.kinds import Kind
from actors.source_api.options import SourceOptions, secret_names

SUFFIX = ".rec.zst"  # a recording's file is named SOURCE.rec.zst

# Finds a kind by name, or raises ConfigError. Passed in, because the kind `replay` opens recordings too.
KindNamed = Callable[[str], Kind]


class RecordedSource(Struct, frozen=True):
    """A recording, ready to be played; `is_historic` marks a historic file of Betfair."""

    path: Path
    header: Header
    kind: Kind
    options: SourceOptions
    is_historic: bool = False

    @property
    def keys(self) -> Mapping[BookmakerId, str]:
        """The keys of its bookmakers."""
        return {bookmaker.id: bookmaker.key for bookmaker in self.header.bookmakers}

    def records(self) -> Generator[Recorded, None, Ending]:
        """Yield the records in the order of receipt, and return how the file ended."""
        if self.is_historic:
            return (yield from historic_records(self.path, self.header.started_at))
        with self.path.open("rb") as file:
            return (yield from Recording(file).records())


def open_source(path: Path, kind_named: KindNamed, price: str | None = None) -> RecordedSource:
    """Open a file; only historic files (.bz2) have a `price`. Raises: ConfigError, with the path."""
    is_historic = path.suffix == HISTORIC_SUFFIX
    if price is not None and not is_historic:
        raise ConfigError(
            f"{path}: price was {price!r}, which only historic files ({HISTORIC_SUFFIX}) have"
        )
    try:
        with path.open("rb") as file:
            header = historic_header(path, price or "best_back") if is_historic else Recording(file).header
        kind = kind_named(header.kind)
        return RecordedSource(path, header, kind, options_of(kind, header.options), is_historic)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def open_sources(path: Path, kind_named: KindNamed, price: str | None = None) -> tuple[RecordedSource, ...]:
    """Open a file, or all recordings of a folder, in the order of their configuration.

    Raises: ConfigError, also for a folder without recordings, or with recordings of several configurations.
    """
    paths = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
    if not paths:
        raise ConfigError(f"{path}: has no recording, must have files named SOURCE{SUFFIX}")
    sources = [open_source(path, kind_named, price) for path in paths]
    sources.sort(key=lambda source: min((known.position for known in source.header.bookmakers), default=0))
    taken: dict[str, Path] = {}
    for source in sources:
        header = source.header
        for name in (f"source {header.source}", *(f"bookmaker {known.id}" for known in header.bookmakers)):
            if (other := taken.setdefault(name, source.path)) != source.path:
                raise ConfigError(f"{source.path}: {name} is in {other} as well, must be in one only")
        for rule in ("expire_after_kickoff_s", "max_matches", "in_play_max_age_s"):
            found, first = getattr(header, rule), getattr(sources[0].header, rule)
            if found != first:
                message = f"{rule} was {found:g}, must be {first:g} as in {sources[0].path}"
                raise ConfigError(f"{source.path}: {message}")
    return tuple(sources)


def options_of(kind: Kind, recorded: Mapping[str, Any]) -> SourceOptions:
    """Return the options of a recording, without its secrets. Raises: ConfigError if they do not fit."""
    required = {field.name for field in fields(kind.options) if field.required}
    secrets = dict.fromkeys(secret_names(kind.options) & required, "recorded")
    try:
        return msgspec.convert({**recorded, **secrets}, kind.options)
    except msgspec.ValidationError as error:
        raise ConfigError(f"its options do not suit kind {kind.name!r}: {error}") from error
