"""Plays recordings for the rules of alerts, and lists the alerts that would have fired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from actors.alerts.alert import Alert
from actors.alerts.rules.rule import LinkRule, Rule, SourceRule
from actors.alerts.rules.transitions import Moment
from actors.alerts.rules.watcher import Commit, Watcher
from actors.board.snapshot import Snapshot
from actors.core.cooperative import run_now
from actors.core.messages import BookmakerId
from actors.markets.market import Kind
from actors.matches.model import FixtureChanges
from actors.recordings.playback import Playback
from actors.recordings.reader import RecordedSource


class AlertReplay:
    """Rules over recordings, from the first moment to the last, by the time recorded in them.

    Rules about sources and links are left out: recordings have no transitions of the log.
    """

    def __init__(self, sources: tuple[RecordedSource, ...], rules: tuple[Rule, ...]) -> None:
        self.rules = [rule for rule in rules if not isinstance(rule, SourceRule | LinkRule)]
        names = {
            BookmakerId(bookmaker.id): bookmaker.name or bookmaker.id
            for source in sources
            for bookmaker in source.header.bookmakers
        }
        self._playback, self._order = Playback(sources), 0
        self._told: list[Alert] = []
        self._watcher = Watcher(self.rules, names, self._told.append)
        boards = {Kind.ONE_X_TWO: self._playback.published, **self._playback.markets.published}
        first = {kind: board.newest for kind, board in boards.items()}
        run_now(self._watcher.compare(first, self._now(self._playback.version)))
        self._playback.follow(self._take)

    def alerts(self) -> Iterator[Alert]:
        """Yield each alert in order; plays the recordings meanwhile."""
        playback = self._playback
        for moment in playback.moments():
            run_now(playback.play(moment))
            run_now(playback.link())
            yield from self._told
            self._told.clear()
        now = playback.now()
        self._watcher.pass_time(now.mono, now.wall)
        yield from self._told

    def _take(self, boards: Mapping[Kind, Snapshot]) -> None:
        for kind, snapshot in boards.items():
            changes = snapshot.fixture_changes
            if isinstance(changes, FixtureChanges) and changes.changes:
                now = self._now(snapshot.version)
                run_now(self._watcher.take(Commit(kind, changes.changes, snapshot, now)))

    def _now(self, version: int) -> Moment:
        now, self._order = self._playback.now(), self._order + 1
        return Moment(self._order, version, now.mono, now.wall)


def replay_lines(sources: tuple[RecordedSource, ...], rules: tuple[Rule, ...]) -> Iterator[str]:
    """Yield a line for each alert, and a last line with the number of alerts."""
    replay, count = AlertReplay(sources, rules), 0
    for alert in replay.alerts():
        count += 1
        yield f"{_time(alert.at)} {alert.rule} {alert.state}: {alert.title}"
    played = len(replay.rules)
    yield f"{count} alerts of {played} rules; of sources or links, not played: {len(rules) - played}"


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
