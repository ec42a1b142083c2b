"""Writes recordings, a file a source, without secrets; they survive the death of the process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any

import anyio
import msgspec

from actors.core.clock import Clock, Instant
from actors.core.errors import ConfigError, CoreFailure
from actors.core.messages import Payload, SourceName
from actors.recordings.format import Encoder, Header, RecordedBookmaker
from actors.recordings.reader import SUFFIX, options_of
from actors.service.settings import Settings
from actors.source_api.options import MIN_SECRET_CHARS, credentials_of, secret_names


class Recorder:
    """The recordings of a run; `of(source)` returns the function that records a payload."""

    def __init__(self, tapes: Mapping[SourceName, _Tape], start: Instant, clock: Clock) -> None:
        self._tapes = tapes
        self._start_mono = start.mono
        self._clock = clock
        self._failure: OSError | None = None
        self._failed = anyio.Event()

    @classmethod
    @contextmanager
    def open(cls, folder: Path, settings: Settings, clock: Clock) -> Iterator[Recorder]:
        """Record into `folder`, made if missing, during the block. Raises: ConfigError if that fails."""
        now = clock.now()
        with ExitStack() as files:
            tapes = _tapes(folder, settings, now.wall, files)
            recorder = cls(tapes, now, clock)
            yield recorder
            with suppress(OSError):  # a recording without its end is readable too
                for tape in tapes.values() if recorder._failure is None else ():
                    tape.end()

    def of(self, source: SourceName) -> Callable[[Payload], None]:
        """Return a function that writes a payload of a source; it never raises."""
        return partial(self._write, self._tapes[source])

    async def watch(self) -> None:
        """Wait until a write fails. Raises: CoreFailure, naming the file."""
        await self._failed.wait()
        raise CoreFailure(f"the recording cannot go on: {self._failure}")

    def _write(self, tape: _Tape, payload: Payload) -> None:
        if self._failure is not None:
            return
        received_s = self._clock.now().mono - self._start_mono
        try:
            tape.write(payload, received_s, payload.received_mono - self._start_mono)
        except OSError as error:
            self._failure = error
            self._failed.set()


class _Tape:
    """A file that is being written. After an OSError no more may be written to it."""

    def __init__(self, file: FileIO, header: Header, secrets: tuple[str, ...]) -> None:
        self._file = file
        self._secrets = secrets
        self._encoder = Encoder()
        self._append(self._encoder.header(header))

    def write(self, payload: Payload, received_s: float, asked_s: float) -> None:
        self._append(self._encoder.record(self._without_secrets(payload), received_s, asked_s))

    def end(self) -> None:
        self._append(self._encoder.end())

    def _append(self, data: bytes) -> None:
        while data:
            data = data[self._file.write(data) :]

    def _without_secrets(self, payload: Payload) -> Payload:
        """Remove credentials that the source repeats in its answer."""
        body, headers = payload.body, dict(payload.headers)
        for secret in self._secrets:
            body = body.replace(secret.encode(), b"***")
            headers = {name: value.replace(secret, "***") for name, value in headers.items()}
        if body is payload.body and headers == payload.headers:
            return payload
        return msgspec.structs.replace(payload, body=body, headers=headers)


def _tapes(
    folder: Path, settings: Settings, started_at: float, files: ExitStack
) -> dict[SourceName, _Tape]:
    headers = {name: _header(settings, name, started_at) for name in settings.sources}
    paths = {name: folder / f"{name}{SUFFIX}" for name in headers}
    opened: dict[SourceName, FileIO] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths.values():
            if path.exists():
                raise ConfigError(f"--out was {folder}, which has {path.name}, must have no such file")
        for name, path in paths.items():
            opened[name] = files.enter_context(FileIO(path, "xb"))
        return {
            name: _Tape(file, headers[name], credentials_of(settings.sources[name].options))
            for name, file in opened.items()
        }
    except OSError as error:
        for name in opened:  # remove it: an empty recording would stop the next run
            with suppress(OSError):
                paths[name].unlink()
        raise ConfigError(f"--out was {folder}: cannot be written to: {error.strerror}") from error


def _header(settings: Settings, name: SourceName, started_at: float) -> Header:
    source, bookmakers = settings.sources[name], settings.bookmakers_of(name)
    if any(len(secret) < MIN_SECRET_CHARS for secret in credentials_of(source.options)):
        raise ConfigError(
            f"sources.{name} has a credential of fewer than {MIN_SECRET_CHARS} characters,"
            " which is too short to be removed from recorded data"
        )
    secret = secret_names(source.kind.options)
    options = {key: _bare(value) for key, value in source.written.items() if key not in secret}
    try:
        options_of(source.kind, options)
    except ConfigError as error:  # for example ${NAME} where only certain words are allowed
        raise ConfigError(f"sources.{name} cannot be recorded without its secrets: {error}") from error
    return Header(
        source=name,
        kind=source.kind.name,
        options=options,
        bookmakers=tuple(
            RecordedBookmaker(name, bookmaker.name, bookmaker.key, list(settings.bookmakers).index(name))
            for name, bookmaker in bookmakers.items()
        ),
        expire_after_kickoff_s=settings.board.expire_after_kickoff_s,
        max_matches=settings.board.max_matches,
        in_play_max_age_s=settings.board.in_play_max_age_s,
        started_at=started_at,
    )


def _bare(value: Any) -> Any:
    """Remove possible credentials from addresses: user, password, query and fragment."""
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if not isinstance(value, str) or "://" not in value:
        return value
    return re.sub("(?<=://)[^/?#]*@", "", value).partition("#")[0].partition("?")[0]
