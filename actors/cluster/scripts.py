"""The Lua scripts that change and read the shared state of a cluster's processes, each all or nothing.

All get the same keys, in this order, in one hash slot (`names`):

1. `board`: a hash with `epoch`, `server` (the server's run id at its beginning), `shape` (settings that
   all must share), `first` (the version of its empty board), `version` and `sub` of the newest record,
   `mark` (a digest of all records of the epoch), `round` (looks in all epochs), `polls` (`none` if there
   were none before this epoch, `kept` if the former epoch's are here, `lost` if some may be missing),
   `damage` (why the former epoch ended, empty if nothing was damaged or lost), and `sizes` (the number of
   parts of each of the keys 2 to 9).
2. `log`: a stream of records. The id `V-0` is version V; `V-S` with S above 0 is a record after V without
   changes that clients see. Fields: `e`, the epoch, `d`, the record (`records.py`), `m`, its mark, and
   `p`, id and mark of the record before, or of the empty board.
3. `leases`: by source `TOKEN COLLECTOR`.
4. `tokens`: by source the newest token.
5. `beats`: by collector the newest round that it answered.
6. `acks`: by collector `SEQUENCE VERSION SUB`.
7. `checkpoint`: a hash with the state (`records.py`) at `version` and `sub`, and its `mark`.
8. `polls`: by source its spent budget, and when its targets are due, in seconds from its collector's beat.
9. `before`: the checkpoint before the one in key 7, for a process whose archive lacks records.
10. `alive`: exists while any process looks, and for `ALIVE_MS` more.
11. `pause`: exists for `PAUSE_MS` after the board began anew because of damage.

The first two arguments, except for JOIN, are the caller's epoch and the highest version that it has seen.
An answer is a list. Its first item is `ok` or the reason for a refusal. `epoch`: the board is a new one or
has lost versions, so that the caller has to join. `damaged`: a key's type or size differs from the last
script's result; the second item says which. No script reads a clock; only the expiry of `alive` and `pause`
depends on time.
"""

from __future__ import annotations

from typing import Final

AHEAD: Final = 1000
"""Distance of an epoch's first version from the newest known one; other processes may have shown more."""
ALIVE_MS: Final = 10_000
"""Milliseconds without a look after which a board is abandoned, so that other processes may replace it."""
SILENT_MS: Final = 3_000
"""Milliseconds without a look after which a new process begins anew: old data may have been restored."""
PAUSE_MS: Final = 60_000
"""Least milliseconds between two new beginnings of the board because of damage."""
MISSING: Final = "versions that were shown are missing on the server"
"""The `damage` of an epoch that began because the board was lost or set back."""
KEYS: Final = (
    "board",
    "log",
    "leases",
    "tokens",
    "beats",
    "acks",
    "checkpoint",
    "polls",
    "before",
    "alive",
    "pause",
)


def names(prefix: str) -> list[str]:
    """Return the names of the keys of a board."""
    return [f"{{{prefix}}}:{key}" for key in KEYS]


_WHOLE = """
local names = {'board', 'log', 'leases', 'tokens', 'beats', 'acks', 'checkpoint', 'polls', 'before'}
local function differs(i) return "the server's key '" .. names[i] .. "' differs from what was stored" end
local function sizes()
  local found = {}
  for i = 2, 9 do
    local kind, wanted = redis.call('TYPE', KEYS[i]).ok, i == 2 and 'stream' or 'hash'
    found[i - 1] = kind == 'none' and '0' or kind ~= wanted and kind
      or tostring(redis.call(i == 2 and 'XLEN' or 'HLEN', KEYS[i]))
  end
  return found
end
local function damage()
  if redis.call('TYPE', KEYS[1]).ok ~= 'hash' or redis.call('HLEN', KEYS[1]) ~= 11 then
    return differs(1)
  end
  local board, i = redis.call('HMGET', KEYS[1], 'sizes', 'version', 'sub', 'first'), 1
  local found = sizes()
  for size in string.gmatch(board[1], '[^ ]+') do
    i = i + 1
    if size ~= found[i - 1] then return differs(i) end
  end
  if i ~= 9 then return differs(1) end
  local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
  local head = board[2] .. '-' .. board[3]
  if (last and last[1] or board[4] .. '-0') ~= head then return differs(2) end
end
local function note()
  redis.call('HSET', KEYS[1], 'sizes', table.concat(sizes(), ' '))
end
"""
_SAME_EPOCH = (
    _WHOLE
    + """
if redis.call('EXISTS', KEYS[1]) == 0 then return {'epoch'} end
local what = damage()
if what then return {'damaged', what} end
local board = redis.call('HMGET', KEYS[1], 'epoch', 'version')
if board[1] ~= ARGV[1] or tonumber(board[2]) < tonumber(ARGV[2]) then return {'epoch'} end
"""
)
_ACKED = """
local ack = redis.call('HGET', KEYS[6], ARGV[3])
local sequence = ack and tonumber(string.match(ack, '%d+')) or 0
"""
_APPENDED = """
local function appended(is_seen, record)
  local head = redis.call('HMGET', KEYS[1], 'version', 'sub', 'mark')
  local version, sub = head[1], '0'
  if is_seen then
    version = string.format('%.0f', tonumber(version) + 1)
  else
    sub = string.format('%.0f', tonumber(head[2]) + 1)
  end
  local before, mark = head[1] .. '-' .. head[2] .. ' ' .. head[3], redis.sha1hex(head[3] .. record)
  redis.call('XADD', KEYS[2], version .. '-' .. sub, 'e', ARGV[1], 'd', record, 'p', before, 'm', mark)
  redis.call('HSET', KEYS[1], 'version', version, 'sub', sub, 'mark', mark)
  return version, sub
end
"""

JOIN: Final = (
    (
        """
-- Arguments: the server's run id, shape, highest version and round seen, Unix milliseconds, a new epoch,
-- whether the process is new (1 or 0), the epoch that it found damaged, why, and whether the process was
-- refused a moment ago (1 or 0).
-- 1. A process of another shape is refused while the board is alive, and otherwise replaces the board. If
--    the server lost the board or was restarted after it was refused, the board's processes come first.
"""
        + _WHOLE
        + """
local board, what = {}, nil
if redis.call('TYPE', KEYS[1]).ok == 'hash' then
  board = redis.call('HMGET', KEYS[1], 'epoch', 'server', 'shape', 'version', 'first', 'round', 'polls')
end
local is_ours = board[3] == ARGV[2]
if board[3] and not is_ours and redis.call('EXISTS', KEYS[10]) == 1 then return {'shape'} end
if not is_ours and board[2] ~= ARGV[1] and ARGV[10] == '1' then return {'later'} end
-- 2. The board continues if the same server has had it since its beginning, the caller has seen no later
--    version, and it is neither damaged nor abandoned (then old data may have been restored).
--    If the caller has seen an earlier board, polls of that board may be lost.
local version, round = tonumber(board[4] or 0) or 0, tonumber(board[6] or 0) or 0
local seen, seen_round = tonumber(ARGV[3]), tonumber(ARGV[4])
local is_left = redis.call('PTTL', KEYS[10]) < ALIVE_MS - SILENT_MS and ARGV[7] == '1'
if (is_ours or not board[3]) and redis.call('EXISTS', KEYS[1]) == 1 then
  what = damage()
  if board[1] == ARGV[8] then what = ARGV[9] end
end
if board[1] and is_ours and not what and board[2] == ARGV[1] and seen <= version and not is_left then
  if board[7] == 'none' and seen > 0 and seen < tonumber(board[5]) then
    redis.call('HSET', KEYS[1], 'polls', 'lost')
  end
  redis.call('SET', KEYS[10], '', 'PX', ALIVE_MS)
  return {'ok', board[1]}
end
-- 3. A second damage within PAUSE_MS has to wait.
if what and redis.call('EXISTS', KEYS[11]) == 1 then return {'wait', what} end
if what then redis.call('SET', KEYS[11], '', 'PX', PAUSE_MS) end
-- 4. Otherwise a new epoch begins without the former records. Its versions are above all that any process
--    may have shown. Polls stay if the server has everything that the caller has seen.
local polls = 'none'
if board[1] and not what and seen <= version and seen_round <= round then
  polls = board[7] == 'lost' and 'lost' or 'kept'
else
  if board[1] or what or seen > 0 then polls = 'lost' end
  redis.call('DEL', KEYS[8])
end
-- 5. Say why, if versions are missing: a caller that is new may have seen them on another server.
if not what and seen > version and (board[1] or ARGV[7] == '0') then what = 'MISSING' end
for i = 1, 9 do
  if i ~= 8 then redis.call('DEL', KEYS[i]) end
end
version = string.format('%.0f', math.max(version, seen, tonumber(ARGV[5])) + AHEAD)
redis.call('HSET', KEYS[1], 'epoch', ARGV[6], 'server', ARGV[1], 'shape', ARGV[2],
  'first', version, 'version', version, 'sub', '0', 'mark', '',
  'round', string.format('%.0f', math.max(round, seen_round)), 'polls', polls,
  'damage', what or '', 'sizes', '')
note()
redis.call('SET', KEYS[10], '', 'PX', ALIVE_MS)
return {'ok', ARGV[6]}
"""
    )
    .replace("AHEAD", str(AHEAD))
    .replace("ALIVE_MS", str(ALIVE_MS))
    .replace("SILENT_MS", str(SILENT_MS))
    .replace("PAUSE_MS", str(PAUSE_MS))
    .replace("MISSING", MISSING)
)

LOOK: Final = (
    """
-- Arguments: epoch, seen. Returns: version, sub, mark, round, beats, leases (as names and values), `lost`
-- if polls from before this epoch may be missing, and the damage that began this epoch.
-- 1. Check the board.
"""
    + _SAME_EPOCH
    + """
-- 2. Mark the board as alive. Raise the round, so that an answer to it was made later.
redis.call('SET', KEYS[10], '', 'PX', ALIVE_MS)
local round = redis.call('HINCRBY', KEYS[1], 'round', 1)
local head = redis.call('HMGET', KEYS[1], 'version', 'sub', 'mark', 'polls', 'damage')
local beats, leases = redis.call('HGETALL', KEYS[5]), redis.call('HGETALL', KEYS[3])
return {'ok', head[1], head[2], head[3], round, beats, leases, head[4], head[5]}
"""
).replace("ALIVE_MS", str(ALIVE_MS))

BEAT: Final = (
    """
-- Arguments: epoch, seen, collector, the round that it answers, the sequence of its last record, then each
-- of its sources with its polls.
-- 1. Check the board, that the collector was not deposed (then it has no ack, though perhaps leases since),
--    and that the log has its last record.
"""
    + _SAME_EPOCH
    + _ACKED
    + """
if redis.call('HEXISTS', KEYS[5], ARGV[3]) == 0 or not ack and ARGV[5] ~= '0' then return {'deposed'} end
if sequence < tonumber(ARGV[5]) then return {'damaged', names[6]} end
-- 2. Ignore an older answer that arrived late.
if tonumber(ARGV[4]) > tonumber(redis.call('HGET', KEYS[5], ARGV[3])) then
  redis.call('HSET', KEYS[5], ARGV[3], ARGV[4])
end
-- 3. Store the polls of its sources for their next holders.
for i = 6, #ARGV, 2 do
  local lease = redis.call('HGET', KEYS[3], ARGV[i])
  if lease and string.match(lease, ' (.+)$') == ARGV[3] then
    redis.call('HSET', KEYS[8], ARGV[i], ARGV[i + 1])
  end
end
note()
return {'ok'}
"""
)

ACQUIRE: Final = (
    """
-- Arguments: epoch, seen, collector, source. Returns: the token, and the polls of the last holder, if any.
-- 1. Check the board, and that the lease is free or already the collector's (if a reply was lost).
"""
    + _SAME_EPOCH
    + """
local lease, polls = redis.call('HGET', KEYS[3], ARGV[4]), redis.call('HGET', KEYS[8], ARGV[4]) or ''
if lease then
  local token, collector = string.match(lease, '(%d+) (.+)')
  if collector ~= ARGV[3] then return {'taken'} end
  return {'ok', token, polls}
end
-- 2. Give it to the collector under a new token, and count the collector as alive.
local token = redis.call('HINCRBY', KEYS[4], ARGV[4], 1)
redis.call('HSET', KEYS[3], ARGV[4], token .. ' ' .. ARGV[3])
redis.call('HSETNX', KEYS[5], ARGV[3], redis.call('HGET', KEYS[1], 'round'))
note()
return {'ok', token, polls}
"""
)

COMMIT: Final = (
    """
-- Arguments: epoch, seen, collector, sequence, that of its last record, whether clients see it (1 or 0),
-- record, then source and token of each lease that it needs. Returns: version and sub of the record.
-- 1. Check the board.
"""
    + _SAME_EPOCH
    + _ACKED
    + _APPENDED
    + """
-- 2. Do not commit a record again if its reply was lost.
if tonumber(ARGV[4]) <= sequence then
  local version, sub = string.match(ack, ' (%d+) (%d+)')
  return {'ok', version, sub}
end
-- 3. Check that the collector has all leases, under these tokens, that it was not deposed, and that the log
--    has its last record.
for i = 8, #ARGV, 2 do
  if redis.call('HGET', KEYS[3], ARGV[i]) ~= ARGV[i + 1] .. ' ' .. ARGV[3] then
    return {'lease', ARGV[i]}
  end
end
if not ack and ARGV[5] ~= '0' then return {'lease'} end
if sequence < tonumber(ARGV[5]) then return {'damaged', names[6]} end
-- 4. Give the record its version, and append it to the log.
local version, sub = appended(ARGV[6] == '1', ARGV[7])
redis.call('HSET', KEYS[6], ARGV[3], ARGV[4] .. ' ' .. version .. ' ' .. sub)
note()
return {'ok', version, sub}
"""
)

DEPOSE: Final = (
    """
-- Arguments: epoch, seen, collector, its newest beat known to the caller, the record to withdraw its lists.
-- 1. Check the board, and that the collector has not beaten since.
"""
    + _SAME_EPOCH
    + _APPENDED
    + """
if redis.call('HGET', KEYS[5], ARGV[3]) ~= ARGV[4] then return {'alive'} end
-- 2. Free its leases, and withdraw its lists in a new version.
redis.call('HDEL', KEYS[5], ARGV[3])
redis.call('HDEL', KEYS[6], ARGV[3])
local leases = redis.call('HGETALL', KEYS[3])
for i = 1, #leases, 2 do
  if string.match(leases[i + 1], ' (.+)$') == ARGV[3] then redis.call('HDEL', KEYS[3], leases[i]) end
end
appended(true, ARGV[5])
note()
return {'ok'}
"""
)

CHECKPOINT: Final = (
    """
-- Arguments: epoch, seen, version, sub, mark, state, the id before which records are dropped, at most the
-- id of the checkpoint before this one.
-- 1. Check the board, and that no checkpoint is as new.
"""
    + _SAME_EPOCH
    + """
local at = redis.call('HMGET', KEYS[7], 'version', 'sub')
if at[1] then
  local later = tonumber(ARGV[3]) - tonumber(at[1])
  if later < 0 or (later == 0 and tonumber(ARGV[4]) <= tonumber(at[2])) then return {'old'} end
end
-- 2. Store it as the newest checkpoint, and the former one as the one before.
if at[1] then redis.call('RENAME', KEYS[7], KEYS[9]) end
redis.call('HSET', KEYS[7], 'version', ARGV[3], 'sub', ARGV[4], 'mark', ARGV[5], 'state', ARGV[6])
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[7])
note()
return {'ok'}
"""
)

RESTORE: Final = (
    """
-- Arguments: epoch, seen, which checkpoint: 7 the newest, 9 the one before.
-- Returns: the version of the empty board; version, sub, mark and state of the checkpoint, if there is one.
"""
    + _SAME_EPOCH
    + """
local at = redis.call('HMGET', KEYS[tonumber(ARGV[3])], 'version', 'sub', 'mark', 'state')
local first = redis.call('HGET', KEYS[1], 'first')
if not at[1] then return {'ok', first} end
return {'ok', first, at[1], at[2], at[3], at[4]}
"""
)
