"""The health probes: whether the process is alive, has odds to serve, and is healthy."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from actors.board.snapshot import Book, Snapshot
from actors.core.clock import Instant
from actors.core.messages import BookmakerId
from actors.matches.model import fixtures_of
from actors.monitoring.receivers import AlertsStatus
from actors.monitoring.shorts import shorts_of
from actors.monitoring.status import (
    ArchiveStatus,
    BookmakerState,
    BookmakerStatus,
    LinksStatus,
    ServiceStatus,
)
from actors.runtime.actor import ActorState
from actors.runtime.membership import ClusterStatus
from web.encoding import probe_schemas as schemas

MAX_TURN_AGE_S = 10.0
MANY_PENDING = 100  # events to be linked; linking them takes some tenths of a second


def liveness(status: ServiceStatus, now: Instant) -> schemas.LiveProbe:
    """Return whether the aggregator works: it must finish a turn every second."""
    last = status.board.last_turn_mono
    age = None if last is None else round(now.mono - last, 3)
    return schemas.LiveProbe("pass" if age is None or age < MAX_TURN_AGE_S else "fail", age)


def readiness(status: ServiceStatus, snapshot: Snapshot, now: Instant) -> schemas.Ready:
    """Return whether there are odds to serve; if not, also why."""
    reason = None if _is_any_serving(snapshot, now) else "no bookmaker is serving"
    if status.is_draining:
        reason = "draining"
    return schemas.Ready("fail" if reason else "pass", reason)


def health(status: ServiceStatus, snapshot: Snapshot, now: Instant) -> schemas.Health:
    """Return the health of all parts; `fail` if no bookmaker is serving."""
    status.observe(snapshot, now)
    shorts = _shorts(status.bookmakers)
    checks = {
        str(name): _check(record, snapshot.books[name], shorts[name], _company(name, snapshot), now)
        for name, record in status.bookmakers.items()
    }
    archive = UNSET if status.archive is None else _archive_check(status.archive, now.wall)
    cluster = UNSET if status.cluster is None else _cluster_check(status.cluster, now)
    alerts = UNSET if status.alerts is None else _alerts_check(status.alerts)
    grades = {check.status for check in (*checks.values(), archive, cluster, alerts) if check is not UNSET}
    is_well = grades == {"pass"} and status.links.file_warning is None
    overall: schemas.Grade = "pass" if is_well else "warn"
    if not _is_any_serving(snapshot, now):
        overall = "fail"
    links = _links_check(status.links, snapshot)
    return schemas.Health(overall, snapshot.epoch, checks, links, archive, cluster, alerts)


def _is_any_serving(snapshot: Snapshot, now: Instant) -> bool:
    return any(book.serves(now.mono) for book in snapshot.books.values())


def _company(name: BookmakerId, snapshot: Snapshot) -> str:
    return name if snapshot.fixtures is None else fixtures_of(snapshot).terms.roster[name].company or name


def _shorts(bookmakers: Mapping[BookmakerId, BookmakerStatus]) -> dict[BookmakerId, str]:
    given = {name: status.short for name, status in bookmakers.items() if status.short is not None}
    return shorts_of({name: status.name for name, status in bookmakers.items()}, given)


def _check(status: BookmakerStatus, book: Book, short: str, company: str, now: Instant) -> schemas.Check:
    is_well = (
        status.state is BookmakerState.LIVE
        and status.id not in status.source.unlisted
        and not status.shows_nothing(book)
    )
    grade: schemas.Grade = "pass" if is_well else "warn" if book.serves(now.mono) else "fail"
    return schemas.Check.of(
        status.source,
        name=status.name,
        short=short,
        company=company,
        status=grade,
        state=status.state,
        since=status.since,
        matches=book.named,
        not_shown=status.rejections.counts(book.scopes),
        offered_by=status.offer.venue,
        fees=status.offer.fees,
        terms=status.offer.terms or None,
        last_error=status.last_error(book),
    )


def _links_check(links: LinksStatus, snapshot: Snapshot) -> schemas.LinksCheck:
    actor, warning = links.actor, links.file_warning
    is_off = actor.state in {ActorState.QUARANTINED, ActorState.ABANDONED}
    pending = 0 if snapshot.fixtures is None else fixtures_of(snapshot).pending
    grade = "warn" if is_off or pending >= MANY_PENDING or warning else "pass"
    error = actor.last_error if is_off else warning
    return schemas.LinksCheck.of(actor, status=grade, pending=pending, last_error=error)


def _archive_check(archive: ArchiveStatus, wall: float) -> schemas.ArchiveCheck:
    grade = "pass" if archive.is_well(wall) else "warn"
    return schemas.ArchiveCheck.of(archive, status=grade, lag_s=archive.lag_s(wall))


def _cluster_check(cluster: ClusterStatus, now: Instant) -> schemas.ClusterCheck:
    return schemas.ClusterCheck.of(
        cluster,
        status="pass" if cluster.warning is None else "warn",
        leases={**cluster.leases},
        lag_versions=max(cluster.head - cluster.version, 0),
        lag_s=cluster.lag_s(now.mono),
        silent=cluster.silent if cluster.error is None else (),
    )


def _alerts_check(alerts: AlertsStatus) -> schemas.AlertsCheck:
    down = (*alerts.down,)
    errors = (alerts.error, *(alerts.receivers[name].last_error for name in down))
    return schemas.AlertsCheck.of(
        alerts,
        status="pass" if alerts.is_well else "warn",
        waiting=sum(map(alerts.waiting, alerts.receivers)),
        down=down,
        error=next(filter(None, errors), None),
    )
