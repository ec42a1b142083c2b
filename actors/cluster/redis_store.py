"""The shared server over redis-py: one connection, one request at a time, no automatic retries.

Each connection joins before any other request, so that a restarted, restored or replaced server is noticed
before a script runs on it. This is the only module that imports redis, which is an extra.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from math import inf
from typing import TYPE_CHECKING, Any

import anyio

from actors.cluster import scripts
from actors.cluster.progress import Seen
from actors.cluster.store import Acquired, CollectorId, Commit, Lease, Logged, Look, Position, Restored
from actors.core.clock import elapsed_s
from actors.core.errors import OtherBoardError, StoreDamagedError, StoreLostError
from actors.core.messages import SourceName

if TYPE_CHECKING:
    from redis.asyncio.connection import AbstractConnection

TIMEOUT_S = 1.0
"""Seconds for a short request; shorter than the silence after which a collector is deposed."""
COMMIT_S = 2.5  # seconds for a record of up to a megabyte; below `SILENT_S`
LONG_S = 5.0  # seconds for a checkpoint, or many records: perhaps some megabytes
MAX_RECORDS = 256  # records in one read


class RedisStore:
    """A `Store` at the `url`; `new_epoch` returns a unique one, `scripts.py` explains `shape`.

    `seen` belongs to the process; it records versions and rounds from the server.
    """

    def __init__(self, url: str, prefix: str, shape: str, new_epoch: Callable[[], str], seen: Seen) -> None:
        self._url = url
        self._keys = scripts.names(prefix)
        self._shape = shape
        self._new_epoch = new_epoch
        self._seen = seen
        self._connection: AbstractConnection | None = None
        self._shas: dict[str, str] = {}
        self._epoch = self._evicts = ""
        self._refused_mono = -inf

    async def join(self, unix_ms: int, damage: str = "") -> str:
        """See `Store`."""
        await self.close()
        async with self._bounded(TIMEOUT_S):
            self._connection = _connection(self._url)
            await self._connection.connect()  # type: ignore[no-untyped-call]
            server = said_of(await self._asked("INFO", "server"), "run_id")
            policy = said_of(await self._asked("INFO", "memory"), "maxmemory_policy")
        seen, mono = self._seen, elapsed_s()
        self._evicts = "" if policy == "noeviction" else policy
        about = (server, self._shape, seen.version, seen.round, unix_ms, self._new_epoch())
        damaged = self._epoch if damage else ""
        was_refused = mono - self._refused_mono < scripts.ALIVE_MS / 1000
        found = await self._run(scripts.JOIN, *about, int(seen.is_new), damaged, damage, int(was_refused))
        if found[0] == b"wait":
            why = damage or found[1].decode()
            raise StoreLostError(f"{why}; the board begins anew a minute after the last time")
        if found[0] != b"ok":
            self._refused_mono = mono if found[0] == b"shape" else self._refused_mono
            raise StoreLostError(
                "the board of this prefix belongs to processes with another configuration, release or "
                "zlib: end all of them, or use another prefix"
            )
        seen.is_new = False
        self._epoch = found[1].decode()
        return self._epoch

    async def look(self) -> Look:
        """See `Store`."""
        version, sub, mark, number, beats, leases, polls, damage = await self._done(scripts.LOOK)
        with _readable():
            look = Look(
                _position(b"-".join([version, sub]), mark),
                int(number),
                {CollectorId(name): int(beat) for name, beat in _pairs(beats)},
                {SourceName(name): _lease(text) for name, text in _pairs(leases)},
                polls == b"lost",
                damage.decode(),
                self._evicts,
            )
        if {lease.collector for lease in look.leases.values()} != look.beats.keys():
            raise StoreDamagedError("the server's keys 'leases' and 'beats' have different collectors")
        self._seen.note(int(version), int(number))
        return look

    async def beat(
        self, collector: CollectorId, answered: int, polls: Mapping[SourceName, bytes], acked: int = 0
    ) -> bool:
        """See `Store`."""
        flat = [part for pair in polls.items() for part in pair]
        return await self._is_done(scripts.BEAT, collector, answered, acked, *flat)

    async def acquire(self, collector: CollectorId, source: SourceName) -> Acquired | None:
        """See `Store`."""
        found = await self._answer(scripts.ACQUIRE, collector, source)
        return Acquired(int(found[1]), found[2]) if found[0] == b"ok" else None

    async def commit(self, commit: Commit) -> Position | None:
        """See `Store`."""
        leases = [str(part) for pair in commit.leases.items() for part in pair]
        about = (commit.collector, commit.sequence, commit.acked, int(commit.is_seen), commit.data)
        found = await self._answer(scripts.COMMIT, *about, *leases, within_s=COMMIT_S)
        if found[0] != b"ok":
            return None
        self._seen.note(int(found[1]))
        return Position(int(found[1]), int(found[2]))

    async def depose(self, collector: CollectorId, beat: int, data: bytes) -> bool:
        """See `Store`."""
        return await self._is_done(scripts.DEPOSE, collector, beat, data)

    async def restore(self, *, is_before: bool = False) -> Restored:
        """See `Store`."""
        key = scripts.KEYS.index("before" if is_before else "checkpoint") + 1
        first, *at = await self._done(scripts.RESTORE, key, within_s=LONG_S)
        with _readable():
            found = Restored(int(first), *((_position(b"-".join(at[:2]), at[2]), at[3]) if at else ()))
        self._seen.note(found.first if found.at is None else found.at.version)
        return found

    async def checkpoint(self, at: Position, state: bytes, trim: Position) -> None:
        """See `Store`."""
        where = (at.version, at.sub, at.mark, state, f"{trim.version}-{trim.sub}")
        await self._answer(scripts.CHECKPOINT, *where, within_s=LONG_S)

    async def tail(self, after: Position, wait_s: float) -> Sequence[Logged]:
        """See `Store`."""
        where = ("STREAMS", self._keys[scripts.KEYS.index("log")], f"{after.version}-{after.sub}")
        async with self._bounded(wait_s + LONG_S):
            wait_ms = max(round(wait_s * 1000), 1)
            found = await self._asked("XREAD", "COUNT", MAX_RECORDS, "BLOCK", wait_ms, *where)
        with _readable():
            records = [] if not found else [_logged(name, fields) for name, fields in found[0][1]]
        for record in records[-1:]:
            self._seen.note(record.at.version)
        return records

    async def close(self) -> None:
        """See `Store`."""
        connection, self._connection = self._connection, None
        self._shas.clear()
        if connection is not None:
            await connection.disconnect(nowait=True)

    async def _done(self, script: str, *arguments: object, within_s: float = TIMEOUT_S) -> list[Any]:
        return (await self._answer(script, *arguments, within_s=within_s))[1:]

    async def _is_done(self, script: str, *arguments: object) -> bool:
        return bool((await self._answer(script, *arguments))[0] == b"ok")

    async def _answer(self, script: str, *arguments: object, within_s: float = TIMEOUT_S) -> list[Any]:
        found = await self._run(script, self._epoch, self._seen.version, *arguments, within_s=within_s)
        if found[0] == b"epoch":
            await self.close()
            raise OtherBoardError("the epoch of this board is over, or it has lost versions")
        if found[0] == b"damaged":
            raise StoreDamagedError(found[1].decode())
        return found

    async def _run(self, script: str, *arguments: object, within_s: float = TIMEOUT_S) -> list[Any]:
        async with self._bounded(within_s):
            if script not in self._shas:
                self._shas[script] = (await self._asked("SCRIPT", "LOAD", script)).decode()
            found: list[Any] = await self._asked(
                "EVALSHA", self._shas[script], len(self._keys), *self._keys, *arguments
            )
        return found

    async def _asked(self, *command: object) -> Any:
        if self._connection is None:
            raise StoreLostError("there is no connection; join first")
        await self._connection.send_command(*command, check_health=False)
        return await self._connection.read_response()

    @asynccontextmanager
    async def _bounded(self, within_s: float) -> AsyncIterator[None]:
        """Turn every failure within the block, and a timeout, into a lost connection."""
        from redis.exceptions import RedisError  # noqa: PLC0415 - an optional extra

        try:
            with anyio.fail_after(within_s):
                yield
        except (RedisError, OSError, TimeoutError) as error:
            await self.close()
            if _is_damage(error):
                raise StoreDamagedError(f"a key of the server cannot be used: {error}") from error
            raise StoreLostError(f"the server of the cluster: {type(error).__name__}: {error}") from error
        except anyio.get_cancelled_exc_class():  # a late answer must not be read as another's
            with anyio.CancelScope(shield=True):
                await self.close()
            raise


def _connection(url: str) -> AbstractConnection:
    """Return a connection that is not opened yet."""
    from redis.asyncio.connection import Connection, parse_url  # noqa: PLC0415 - an optional extra
    from redis.asyncio.retry import Retry  # noqa: PLC0415
    from redis.backoff import NoBackoff  # noqa: PLC0415
    from redis.maint_notifications import MaintNotificationsConfig  # noqa: PLC0415

    options: dict[str, Any] = dict(parse_url(url))
    made: AbstractConnection = options.pop("connection_class", Connection)(
        **options,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
        driver_info=None,
    )
    return made


def said_of(info: bytes, field: str) -> str:
    """Return a field of the server's answer to INFO."""
    lines = info.decode("utf-8", "replace").splitlines()
    return next((line.partition(":")[2] for line in lines if line.startswith(f"{field}:")), "")


def _is_damage(error: Exception) -> bool:
    """Return whether a script or a read failed because of a key's content, not the server's state.

    An error of the server's state begins with its name in capitals, such as MISCONF.
    """
    from redis.exceptions import ResponseError  # noqa: PLC0415 - an optional extra

    first, text = str(error).partition(" ")[0], str(error)
    is_of_script = "user_script" in text and not first.isupper()
    return type(error) is ResponseError and (first == "WRONGTYPE" or is_of_script)


@contextmanager
def _readable() -> Iterator[None]:
    """Turn errors of reading within the block into damage."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StoreDamagedError(f"the server's data cannot be read: {error}") from error


def _pairs(flat: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Iterate over the names and values of a hash."""
    for name, value in zip(flat[::2], flat[1::2], strict=True):
        yield name.decode(), value


def _lease(text: bytes) -> Lease:
    token, collector = text.decode().split(" ", 1)
    return Lease(int(token), CollectorId(collector))


def _logged(name: bytes, fields: Sequence[bytes]) -> Logged:
    _, epoch, _, data, _, before, _, mark = fields
    after, _, mark_before = before.partition(b" ")
    return Logged(_position(name, mark), _position(after, mark_before), epoch.decode(), data)


def _position(name: bytes, mark: bytes) -> Position:
    version, _, sub = name.partition(b"-")
    return Position(int(version), int(sub), mark.decode())
