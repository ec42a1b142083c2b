"""The scripts on a real server: epochs, versions, leases and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from hashlib import sha1
from itertools import count

import pytest
from msgspec.structs import replace

from actors.cluster.progress import Seen
from actors.cluster.redis_store import RedisStore
from actors.cluster.scripts import AHEAD, ALIVE_MS, MISSING, SILENT_MS
from actors.cluster.store import Acquired, CollectorId, Commit, Logged, Position, Restored
from actors.core.errors import OtherBoardError, StoreDamagedError, StoreLostError
from actors.core.messages import SourceName
from tests.support.systems.shared_server import SharedServer

pytestmark = [pytest.mark.anyio, pytest.mark.real_time]

A, B = CollectorId("a"), CollectorId("b")
SOURCE = SourceName("source")
MS = 1_780_000_000_000
"""The version before the first."""


class _Stores:
    """Opens new connections to a server; epochs are numbered."""

    def __init__(self, server: SharedServer, stack: AsyncExitStack) -> None:
        self._server, self._stack = server, stack
        self._epochs = map(str, count(1))

    async def joined(
        self, seen: int = 0, unix_ms: int = MS + 1 - AHEAD, shape: str = "shape"
    ) -> RedisStore:
        self.known = known = Seen()
        known.note(seen)
        store = RedisStore(self._server.url, "test", shape, lambda: next(self._epochs), known)
        self._stack.push_async_callback(store.close)
        self.epoch = await store.join(unix_ms)
        return store


@pytest.fixture
async def stores(server: SharedServer) -> AsyncIterator[_Stores]:
    """Return the maker of connections to the server."""
    async with AsyncExitStack() as stack:
        yield _Stores(server, stack)


def _commit(sequence: int, token: int, data: bytes = b"record", *, is_seen: bool = True) -> Commit:
    return Commit(A, sequence, is_seen, data, {SOURCE: token})


async def _collecting(stores: _Stores) -> tuple[RedisStore, int]:
    store = await stores.joined()
    acquired = await store.acquire(A, SOURCE)
    assert acquired is not None
    return store, acquired.token


async def test_versions_begin_above_the_clock_and_above_what_was_seen(stores: _Stores) -> None:
    """The first version of an epoch is above the clock and the seen versions; an intact board goes on."""
    first = (await (await stores.joined(seen=5)).restore()).first
    same = (await (await stores.joined(seen=MS)).restore()).first
    later = (await (await stores.joined(seen=MS + 7)).restore()).first

    assert (MS + 1, MS + 1, MS + 7 + AHEAD) == (first, same, later)


async def test_each_record_follows_the_last(stores: _Stores) -> None:
    """A record that clients see is the next version; a hidden record is a place after the last version.

    The mark of a record is a digest of all records so far, and the next record repeats it.
    """
    store, token = await _collecting(stores)
    places = [
        await store.commit(_commit(number, token, b"%d" % number, is_seen=number != 2))
        for number in (1, 2, 3)
    ]
    logged = await store.tail(Position(MS + 1), 0.01)

    assert [Position(MS + 2), Position(MS + 2, 1), Position(MS + 3)] == places
    expected, after = [], Position(MS + 1)
    for number, place in enumerate(places, 1):
        assert place is not None
        data = b"%d" % number
        at = Position(
            place.version, place.sub, sha1(after.mark.encode() + data, usedforsecurity=False).hexdigest()
        )
        expected.append(Logged(at, after, "1", data))
        after = at
    assert expected == logged
    assert after == (await store.look()).head


async def test_a_record_that_is_sent_again_is_one_record(stores: _Stores) -> None:
    """A record sent again with the same sequence number gets the place that it already has."""
    store, token = await _collecting(stores)
    first = await store.commit(_commit(1, token))
    again = await store.commit(_commit(1, token))

    assert first == again
    assert 1 == len(await store.tail(Position(MS + 1), 0.01))


async def test_a_collector_whose_last_record_is_lost_is_refused(stores: _Stores) -> None:
    """The collector can neither beat nor commit: the log lacks a change that it will not send again."""
    store, token = await _collecting(stores)
    await store.commit(_commit(1, token))

    assert await store.beat(A, 1, {}, acked=1)
    with pytest.raises(StoreDamagedError):
        await store.beat(A, 1, {}, acked=2)
    with pytest.raises(StoreDamagedError):
        await store.commit(replace(_commit(3, token), acked=2))


async def test_a_deposed_collector_with_a_new_lease_is_refused(stores: _Stores) -> None:
    """The collector's lists have left, though it may have asked for the lease before it knew that."""
    store, token = await _collecting(stores)
    await store.commit(_commit(1, token))
    await store.depose(A, (await store.look()).beats[A], b"left")
    acquired = await store.acquire(A, SOURCE)
    assert acquired is not None

    assert not await store.beat(A, 1, {}, acked=1)
    assert None is await store.commit(replace(_commit(2, acquired.token), acked=1))
    assert await store.beat(A, 1, {})


async def test_a_lease_has_a_single_holder(stores: _Stores) -> None:
    """Another collector does not get the lease, and cannot commit with a token that is not its own."""
    store, token = await _collecting(stores)
    other = await stores.joined()

    assert None is await other.acquire(B, SOURCE)
    assert None is await other.commit(Commit(B, 1, is_seen=True, data=b"record", leases={SOURCE: token}))
    assert None is await store.commit(_commit(1, token + 1))
    assert [] == list(await store.tail(Position(MS + 1), 0.01))


async def test_a_deposed_collector_is_refused(stores: _Stores) -> None:
    """A deposed collector's commits and beats do nothing, its lists have left, the next token is higher."""
    store, token = await _collecting(stores)
    other = await stores.joined()
    beat = (await other.look()).beats[A]

    assert await other.depose(A, beat, b"left")
    acquired = await other.acquire(B, SOURCE)
    assert None is await store.commit(_commit(1, token))
    assert not await store.beat(A, beat + 1, {})
    assert acquired is not None
    assert acquired.token > token
    assert [b"left"] == [record.data for record in await store.tail(Position(MS + 1), 0.01)]


async def test_a_collector_that_has_beaten_since_is_not_deposed(stores: _Stores) -> None:
    """The beat that the observer saw must still be the newest."""
    store, token = await _collecting(stores)
    look = await store.look()
    await store.beat(A, look.round, {})

    assert not await store.depose(A, look.beats[A], b"left")
    assert await store.commit(_commit(1, token)) == Position(MS + 2)


async def test_polls_travel_with_the_lease(stores: _Stores) -> None:
    """The next holder gets the polls that the last holder left for its own sources, and no others."""
    store, _ = await _collecting(stores)
    other = await stores.joined()
    await store.beat(A, 1, {SOURCE: b"own", SourceName("other"): b"not its own"})
    await other.depose(A, (await other.look()).beats[A], b"left")

    acquired = [await other.acquire(B, name) for name in (SOURCE, SourceName("other"))]
    assert [b"own", b""] == [found.polls for found in acquired if found is not None]


async def test_a_lease_may_be_asked_for_again(stores: _Stores) -> None:
    """The holder gets the lease with the same token and the polls: the first answer may have been lost."""
    store, token = await _collecting(stores)
    await store.beat(A, 1, {SOURCE: b"polls"})

    assert Acquired(token, b"polls") == await store.acquire(A, SOURCE)


async def test_polls_stay_with_a_server_that_has_lost_nothing(
    server: SharedServer, stores: _Stores
) -> None:
    """A restarted server that has all known data begins a new epoch, but the polls stay."""
    store, _ = await _collecting(stores)
    await store.beat(A, 1, {SOURCE: b"polls"})
    look = await store.look()
    server.kill()
    server.start()
    new = await stores.joined(seen=look.head.version)

    assert Acquired(1, b"polls") == await new.acquire(B, SOURCE)
    assert not (await new.look()).are_polls_lost


@pytest.mark.parametrize(("field", "number"), [("round", 0), ("version", MS)])
async def test_polls_of_an_older_copy_are_lost(
    server: SharedServer, stores: _Stores, field: str, number: int
) -> None:
    """The server lacks data that a process has seen, so the newest polls may be missing."""
    store, _ = await _collecting(stores)
    await store.look()
    await store.beat(A, 1, {SOURCE: b"polls"})
    server.ask("HSET", "{test}:board", field, str(number), "server", "another")
    await store.join(MS)

    assert Acquired(1) == await store.acquire(B, SOURCE)
    assert (await store.look()).are_polls_lost


async def test_the_first_board_has_lost_no_polls(stores: _Stores) -> None:
    """The polls count as lost once a process joins that has seen an earlier board."""
    store = await stores.joined()
    before = (await store.look()).are_polls_lost
    await stores.joined(seen=MS - 1)

    assert (False, True) == (before, (await store.look()).are_polls_lost)


async def test_the_first_board_of_a_server_is_no_damage(stores: _Stores) -> None:
    """The first board is no damage, even for a process that has an archive of an earlier board."""
    look = await (await stores.joined(seen=MS)).look()

    assert "" == look.damage


async def test_a_beat_that_was_late_takes_nothing_back(stores: _Stores) -> None:
    """The newest round that a collector answered is kept, even if an older beat arrives later."""
    store, _ = await _collecting(stores)
    rounds = [(await store.look()).round for _ in range(2)]
    for answered in reversed(rounds):
        await store.beat(A, answered, {})

    assert rounds[1] == (await store.look()).beats[A]


@pytest.mark.parametrize(
    ("fault", "seen", "error"),
    [
        ("restarted", 0, StoreLostError),
        ("lost", MS + 2, OtherBoardError),
        ("older", MS + 3, OtherBoardError),
    ],
)
async def test_a_server_that_may_lack_versions_begins_an_epoch(
    server: SharedServer, stores: _Stores, fault: str, seen: int, error: type[Exception]
) -> None:
    """The server was restarted, lost all data, or lacks a version that a process has seen.

    The old connection is refused; the new board is empty, and its versions are above all seen versions.
    """
    store, token = await _collecting(stores)
    await store.commit(_commit(1, token))
    other = await stores.joined(seen=seen)
    if fault == "restarted":
        server.kill()
        server.start()
    elif fault == "lost":
        server.ask("FLUSHALL")

    epoch = await other.join(MS)
    look = await other.look()
    with pytest.raises(error):
        await store.commit(_commit(2, token))
    first, damage = Position(max(seen, MS + 2) + AHEAD), "" if fault == "restarted" else MISSING
    assert "1" != epoch
    assert (first, {}, damage) == (look.head, look.leases, look.damage)


async def test_the_version_of_an_empty_board_is_not_used_again(
    server: SharedServer, stores: _Stores
) -> None:
    """A process may show the empty board's version before its first look, and then all data are lost."""
    store = await stores.joined()
    first = (await store.restore()).first
    server.ask("FLUSHALL")
    await store.join(MS + 1 - AHEAD)

    assert first + AHEAD == (await store.restore()).first


async def test_nothing_is_done_on_a_board_that_is_behind(stores: _Stores) -> None:
    """The board's next versions would be versions that were already shown with other bytes."""
    store, token = await _collecting(stores)
    for number in (1, 2):
        await store.commit(_commit(number, token))
    stores.known.note(MS + 4)

    with pytest.raises(OtherBoardError):
        await store.commit(_commit(3, token))


async def test_processes_of_another_configuration_are_refused(
    stores: _Stores, server: SharedServer
) -> None:
    """Other bytes would come from the same records. Once all old processes end, the board is replaced."""
    old = await stores.joined()
    await old.look()
    first = stores.epoch

    with pytest.raises(StoreLostError, match="another configuration"):
        await stores.joined(shape="other")
    server.ask("DEL", "{test}:alive")  # as the server does itself after some time
    await stores.joined(shape="other")

    assert first != stores.epoch
    with pytest.raises(OtherBoardError):
        await old.look()


async def test_a_refused_process_takes_no_board_that_is_lost_meanwhile(
    stores: _Stores, server: SharedServer
) -> None:
    """The refused process retries often; if it got the board, it would lock the other processes out."""
    store = await stores.joined()
    await store.look()
    other = RedisStore(server.url, "test", "other", lambda: "other", Seen())
    for lost in ("PING", "FLUSHALL"):
        server.ask(lost)
        with pytest.raises(StoreLostError, match="another configuration"):
            await other.join(MS)

    assert "2" == await store.join(MS)
    await other.close()


async def test_a_board_is_alive_as_long_as_anybody_looks(stores: _Stores, server: SharedServer) -> None:
    """Ten seconds after the last look the server forgets by itself that the board is alive."""
    store = await stores.joined()
    await store.look()

    assert 0 < int(server.ask("PTTL", "{test}:alive")[1:]) <= ALIVE_MS


async def test_a_checkpoint_replaces_older_ones_alone(stores: _Stores) -> None:
    """A replica begins with the newest checkpoint; the log is cut up to the place that the call names."""
    store, token = await _collecting(stores)
    for number in (1, 2, 3):
        await store.commit(_commit(number, token))
    at = Position(MS + 3, mark="mark")
    await store.checkpoint(at, b"newer", Position(MS + 3))
    await store.checkpoint(Position(MS + 2), b"older", Position(MS + 4))

    assert Restored(MS + 1, at, b"newer") == await store.restore()
    assert [MS + 3, MS + 4] == [record.at.version for record in await store.tail(Position(MS + 1), 0.01)]


async def test_the_checkpoint_before_the_newest_is_kept(stores: _Stores) -> None:
    """A process that needs older records begins with the previous checkpoint, at first the empty board."""
    store, token = await _collecting(stores)
    for number in (1, 2):
        await store.commit(_commit(number, token))
    found = []
    for number in (1, 2):
        at = Position(MS + 1 + number)
        await store.checkpoint(at, b"%d" % number, Position(MS + number))
        found.append(await store.restore(is_before=True))

    assert [Restored(MS + 1), Restored(MS + 1, Position(MS + 2), b"1")] == found
    assert Restored(MS + 1, Position(MS + 3), b"2") == await store.restore()


@pytest.mark.parametrize(
    ("setting", "said"), [("maxmemory", "OutOfMemory"), ("min-replicas-to-write", "NOREPLICAS")]
)
async def test_a_server_that_takes_no_write_refuses_all_or_nothing(
    server: SharedServer, stores: _Stores, setting: str, said: str
) -> None:
    """No version is counted for a record that is not in the log, and no key is reported as damaged."""
    store, token = await _collecting(stores)
    server.ask("CONFIG", "SET", setting, "1")
    with pytest.raises(StoreLostError, match=said):
        await store.commit(_commit(1, token))
    server.ask("CONFIG", "SET", setting, "0")
    again = await stores.joined()

    assert Position(MS + 2) == await again.commit(_commit(1, token))


DAMAGES = {
    **{f"no {key}": ("DEL", key) for key in ("log", "leases", "tokens", "beats", "acks", "polls")},
    **{f"{key} of another type": ("SET", key, "text") for key in ("board", "log", "beats", "checkpoint")},
    "no record": ("XDEL", "log", f"{MS + 2}-0"),
    "log cut": ("XTRIM", "log", "MAXLEN", "0"),
    "a record more": ("XADD", "log", "*", "d", "text"),
    "no field of the board": ("HDEL", "board", "first"),
    "an older version": ("HSET", "board", "version", str(MS + 2)),
    "no lease": ("HDEL", "leases", SOURCE),
    "a lease more": ("HSET", "leases", "another", "1 b"),
    "no checkpoint": ("DEL", "checkpoint"),
}
"""Commands that damage a board; each key is written without its prefix."""


async def _whole(stores: _Stores) -> tuple[RedisStore, int]:
    """Return a connection to a board with data at each key, and the token of its lease."""
    store, token = await _collecting(stores)
    await store.beat(A, 1, {SOURCE: b"polls"})
    for number in (1, 2):
        await store.commit(_commit(number, token))
    await store.checkpoint(Position(MS + 2), b"state", Position(MS + 1))
    await store.look()
    return store, token


def _harm(server: SharedServer, command: tuple[str, ...]) -> None:
    name, key, *more = command
    if name == "SET":
        server.ask("DEL", f"{{test}}:{key}")
    assert not server.ask(name, f"{{test}}:{key}", *more).startswith(b"-")


@pytest.mark.parametrize("command", DAMAGES.values(), ids=DAMAGES)
async def test_what_is_not_as_it_was_left_begins_an_epoch(
    server: SharedServer, stores: _Stores, command: tuple[str, ...]
) -> None:
    """A damaged board takes no commit; the next epoch says why it began, and its versions are higher."""
    store, token = await _whole(stores)
    _harm(server, command)

    with pytest.raises(StoreDamagedError):
        await store.commit(_commit(3, token))
    epoch = await store.join(MS, "because of this")
    look = await store.look()
    assert ("2", {}, {}) == (epoch, look.beats, look.leases)
    assert look.head.version >= MS + AHEAD
    assert look.damage


async def test_a_lease_of_a_collector_that_never_beat_is_damage(
    server: SharedServer, stores: _Stores
) -> None:
    """Nobody would notice that the collector is silent, so no other collector would take its sources."""
    store, _ = await _whole(stores)
    _harm(server, ("HSET", "leases", SOURCE, "1 nobody"))

    with pytest.raises(StoreDamagedError, match="different collectors"):
        await store.look()


async def test_a_damage_that_a_process_alone_finds_begins_an_epoch(stores: _Stores) -> None:
    """One process cannot read a record; other processes find the new epoch and do not begin another."""
    store, _ = await _whole(stores)
    other = await stores.joined()

    epochs = [await process.join(MS, "it cannot be read") for process in (store, other)]
    assert epochs[0] == epochs[1] != stores.epoch
    assert "it cannot be read" == (await other.look()).damage


async def test_one_damage_soon_after_another_has_to_wait(server: SharedServer, stores: _Stores) -> None:
    """Nothing is changed meanwhile; a minute after the last new epoch the board may begin anew again."""
    store, _ = await _whole(stores)
    first = await store.join(MS, "the first")
    _harm(server, ("SET", "beats", "text"))
    with pytest.raises(StoreLostError, match="a minute after"):
        await store.join(MS, "the second")
    before = server.ask("TYPE", "{test}:beats")
    server.ask("DEL", "{test}:pause")  # as the server does itself after some time

    assert b"+string" == before
    assert first != await store.join(MS, "the second")


async def test_a_damage_is_nothing_for_processes_of_another_release(
    server: SharedServer, stores: _Stores
) -> None:
    """Processes of another release refuse to join, and change nothing."""
    await _whole(stores)
    _harm(server, ("DEL", "beats"))
    with pytest.raises(StoreLostError, match="another configuration"):
        await stores.joined(shape="other")

    assert b":0" == server.ask("EXISTS", "{test}:pause")


async def test_a_new_process_begins_anew_where_nobody_was(server: SharedServer, stores: _Stores) -> None:
    """Old data may have been put in while no process ran; a process that ran before goes on."""
    store = await stores.joined()
    server.ask("PEXPIRE", "{test}:alive", str(ALIVE_MS - SILENT_MS - 1))
    again = await store.join(MS)
    server.ask("PEXPIRE", "{test}:alive", str(ALIVE_MS - SILENT_MS - 1))
    await stores.joined()

    assert "1" == again != stores.epoch


async def test_a_server_that_may_drop_keys_is_told(server: SharedServer, stores: _Stores) -> None:
    """The server's eviction policy is checked whenever a process connects."""
    store = await stores.joined()
    before = (await store.look()).evicts
    server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    await store.join(MS)

    assert ("", "allkeys-lru") == (before, (await store.look()).evicts)
