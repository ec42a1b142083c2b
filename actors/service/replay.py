"""Replays recordings as a service: offers the web the same state as the actors would, without an actor.

The recordings' clock moves only when a moment is played, so a read cannot change anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import anyio
import anyio.lowlevel
import structlog
from anyio.abc import TaskStatus

from actors.board.snapshot import Snapshot
from actors.core.clock import Clock, Instant
from actors.core.cooperative import Sliced, run_sliced
from actors.core.messages import NOT_MODIFIED, Scope
from actors.core.validation import Reason
from actors.markets.market import Kind
from actors.monitoring.log_events import LogStatus
from actors.monitoring.status import BookmakerStatus
from actors.monitoring.transitions import (
    ended,
    left_out_of,
    record_turn,
    scope_failed,
    scope_succeeded,
    succeeded,
)
from actors.recordings.format import Ending
from actors.recordings.playback import Arrival, BookmakerResult, Moment, MomentResult, Playback, rules_of
from actors.recordings.reader import RecordedSource
from actors.runtime.actor import ActorState
from actors.runtime.facts import announce
from actors.service.archiving import ArchivedPlayback
from actors.service.settings import BookmakerSettings, ServerSettings, Settings, SourceSettings
from actors.service.system import service_status
from actors.source_api.kinds import PolledKind

log = structlog.get_logger()

LONG_WAIT_S = 60.0  # longer waits, by our own clock, are logged


class Replay:
    """The replay of some recordings: `playback` has the boards and the time, `status` everything else.

    `speed` is the number of recorded seconds (may be infinite) played in a second of the clock `pace`.
    `archive` is an empty folder to keep the commits in. Raises: ConfigError if it is not empty.
    """

    def __init__(
        self,
        sources: tuple[RecordedSource, ...],
        speed: float,
        pace: Clock,
        archive: Path | None = None,
        log_status: LogStatus | None = None,
    ) -> None:
        self.playback = Playback(sources)
        self._committed: list[Mapping[Kind, Snapshot]] = []
        now = self.playback.now()
        self.status = service_status(_recorded_settings(sources), now.wall, log_status)
        for source in self.status.sources.values():
            source.is_simulated = True  # a recording is never live
        first = self.playback.version
        self.status.board.versions = lambda: self.playback.version - first
        self.status.markets = self.playback.markets.counts
        self.status.board.last_turn_mono = now.mono
        self.status.is_idle = lambda: True
        for actor in self.status.actors.values():
            actor.become(ActorState.RUNNING, now.wall)
        self._speed = speed
        self._pace = pace
        self._scope = anyio.CancelScope()
        self._archive: ArchivedPlayback | None = None
        if archive is not None:
            self._archive = ArchivedPlayback(self.playback, self.status.names, archive)
            self.playback.follow(self._committed.append)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Play everything, then wait for `stop`."""
        with self._scope:
            task_status.started()
            await self._play()
            await anyio.sleep_forever()

    async def stop(self) -> None:
        """Stop after the present moment."""
        self._scope.cancel()
        await anyio.lowlevel.checkpoint()
        if self._archive is not None:
            self._archive.close()

    async def _play(self) -> None:
        playback, payloads = self.playback, 0
        began, first = self._pace.now().mono, playback.now().mono
        for moment in playback.moments():
            due = began + (moment.at.mono - first) / self._speed
            wait_s = max(due - self._pace.now().mono, 0.0)
            if wait_s >= LONG_WAIT_S:
                announce(log, "replay.waiting", until=moment.at.wall, for_s=round(wait_s))
            await anyio.sleep(wait_s)
            async with playback.review.turn:
                await run_sliced(self._play_moment(moment))
            payloads += isinstance(moment, Arrival)
        version = playback.version
        commits = self.status.board.versions()
        is_whole = set(playback.endings.values()) == {Ending.CLOSED} and commits > 0
        level = "info" if is_whole else "warning"
        rejected = Counter[str]()
        for bookmaker in self.status.bookmakers.values():
            rejected.update(bookmaker.rejected)
        facts = {"payloads": payloads, "version": version, "commits": commits, "endings": playback.endings}
        announce(log, "replay.finished", level, **facts, rejected=dict(rejected))
        for source in self.status.sources.values():
            ended(source, playback.now(), log.bind(actor=source.actor.name, source=source.name))

    def _play_moment(self, moment: Moment) -> Sliced[None]:
        """Play a moment and record it without a yield in between, so that a new name has its version."""
        result = yield from self.playback.play(moment)
        if isinstance(moment, Arrival):
            self._record(moment, result)
        applied = [(part.bookmaker, part.applied) for part in result.parts if part.applied is not None]
        board_log = log.bind(actor="aggregator")
        record_turn(self.status, self.playback.snapshot, applied, self.playback.now(), board_log)
        yield from self.playback.link()
        yield from self.playback.digest()
        for commit in self._committed:  # only now are the names in them known
            if self._archive is not None:
                self._archive.add(commit)
        self._committed.clear()

    def _record(self, arrival: Arrival, result: MomentResult) -> None:
        payload, now = arrival.payload, self.playback.now()
        status = self.status.sources[payload.source]
        source_log = log.bind(actor=status.actor.name, source=status.name)
        status.attempts.inc()
        if payload.status == NOT_MODIFIED:
            status.confirmations.inc()
        else:
            status.payloads.inc()
            status.received_bytes.inc(len(payload.body))
        if result.error is not None:
            others = [other for scope, other in status.scopes.items() if scope != payload.scope]
            alone = any(not other.failures for other in others)
            scope_failed(status, payload.scope, result.error, now, source_log, alone=alone)
        elif isinstance(arrival.source.kind, PolledKind):
            scope_succeeded(status, payload.scope, now, source_log)
        else:
            succeeded(status, now, source_log)
        for part in result.parts:
            _record_part(self.status.bookmakers[part.bookmaker], part, payload.scope, now)


def _record_part(status: BookmakerStatus, part: BookmakerResult, scope: Scope, now: Instant) -> None:
    if part.error is not None:
        status.errors[scope] = part.error
        return
    status.errors.pop(scope, None)
    if part.batch is not None:
        status.note_rejected(status.rejections.note(part.batch, part.rejected))
        status.newest_rejected.note(scope, part.refused, now.wall)
    if part.applied is not None and part.applied.too_many:
        status.rejected.add(Reason.TOO_MANY, number=part.applied.too_many)
    if part.batch is not None and part.batch.complete and part.applied is not None:
        status.rejections.note_left_out(scope, left_out_of(part.applied))
    is_in_use = part.applied is not None and part.applied.upserted > 0
    if is_in_use:
        status.changed_at = now.wall
    status.learn_name(part.title, is_in_use=is_in_use)
    status.batches.inc()
    status.last_batch_at = now.wall


def _recorded_settings(sources: tuple[RecordedSource, ...]) -> Settings:
    """Return the recorded part of the recordings' configuration."""
    bookmakers = sorted(
        ((bookmaker, source.header.source) for source in sources for bookmaker in source.header.bookmakers),
        key=lambda pair: pair[0].position,
    )
    return Settings(
        ServerSettings(),
        rules_of(sources[0].header),
        {
            source.header.source: SourceSettings(source.kind, source.options, source.header.options)
            for source in sources
        },
        {
            bookmaker.id: BookmakerSettings(source, bookmaker.key, bookmaker.name)
            for bookmaker, source in bookmakers
        },
    )
