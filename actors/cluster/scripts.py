"""The Lua scripts by which processes of a cluster change and read what they share, each all or nothing.

All get the same keys, in this order, in one hash slot (`names`):

1. `board`: a hash with `epoch`, `server` (the server's run id at its begin), `shape` (what all processes
must have in common), `first` (the version of its empty board), `version` and `sub` of the newest record,
`round` (how often it was looked at, in all epochs), `polls`: `none` if there were none before this
epoch, `kept` if those of the former are here, `lost` if some may be missing; `damage`, for which the former
epoch ended, or empty; and `sizes`, how many parts each of the keys 2 to 9 has.
2. `log`: a stream of records. The id `V-0` is version V; `V-S` with S above 0 is a record after V that
   shows clients nothing new. Fields: `e`, the epoch, `d`, the record (`records.py`), and `p`, the id of the
   record before, or of the empty board.
3. `leases`: by source `TOKEN COLLECTOR`. 4. `tokens`: by source the newest token.
5. `beats`: by collector the newest round that it answered. 6. `acks`: by collector `SEQUENCE VERSION SUB`.
7. `checkpoint`: a hash with the state (`records.py`) at `version` and `sub`. 8. `polls`: by source when its
   targets are due, in seconds from the last beat of its collector, and what it has spent. 9. `before`: the
   checkpoint before that of 7, for a process whose archive lacks records. 10. `alive`: there while any
   process looks, and for `ALIVE_MS` more. 11. `pause`: there for `PAUSE_MS` after the board began anew
   because of a damage.

The first two arguments, except for JOIN, are the caller's epoch and the highest version that it has seen.
An answer is a list: the first item is `ok`, or says why nothing was done; `epoch` means that the board is
another one, or has lost something, so that the caller has to join; `damaged` that a key is not as the last
script left it, by its type or its size, and which. No script reads a clock, but by `alive` and `pause`.
"""

from __future__ import annotations

from typing import Final

AHEAD: Final = 1000
"""How far the first version of an epoch is above the newest that is known: others may have shown more."""
ALIVE_MS: Final = 10_000
"""Milliseconds after which nobody has a board that nobody looks at: others may replace it."""
SILENT_MS: Final = 3_000
"""A process that is new begins anew where nobody has looked for so long: data may have been set back."""
PAUSE_MS: Final = 60_000
"""Milliseconds from one damage for which the board begins anew to the next."""
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
  if redis.call('TYPE', KEYS[1]).ok ~= 'hash' or redis.call('HLEN', KEYS[1]) ~= 10 then return names[1] end
  local board, i = redis.call('HMGET', KEYS[1], 'sizes', 'version', 'sub', 'first'), 1
  local found = sizes()
  for size in string.gmatch(board[1], '[^ ]+') do
    i = i + 1
    if size ~= found[i - 1] then return names[i] end
  end
  if i ~= 9 then return names[1] end
  local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
  local head = board[2] .. '-' .. board[3]
  if (last and last[1] or board[4] .. '-0') ~= head then return names[2] end
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
_APPENDED = """
local function appended(is_seen, record)
  local head = redis.call('HMGET', KEYS[1], 'version', 'sub')
  local version, sub = head[1], '0'
  if is_seen then
    version = string.format('%.0f', tonumber(version) + 1)
  else
    sub = string.format('%.0f', tonumber(head[2]) + 1)
  end
  local before = head[1] .. '-' .. head[2]
  redis.call('XADD', KEYS[2], version .. '-' .. sub, 'e', ARGV[1], 'd', record, 'p', before)
  redis.call('HSET', KEYS[1], 'version', version, 'sub', sub)
  return version, sub
end
"""

JOIN: Final = (
    (
        """
-- Arguments: the server's run id, shape, highest version and round seen, Unix milliseconds, a new epoch,
-- whether the process is new (1 or 0), the epoch that it has found to be damaged, and why.
-- 1. A board of another shape is not ours, but replaced if nobody has it any more.
"""
        + _WHOLE
        + """
local board, what = {}, nil
if redis.call('TYPE', KEYS[1]).ok == 'hash' then
  board = redis.call('HMGET', KEYS[1], 'epoch', 'server', 'shape', 'version', 'first', 'round', 'polls')
end
local is_ours = board[3] == ARGV[2]
if board[3] and not is_ours and redis.call('EXISTS', KEYS[10]) == 1 then return {'shape'} end
-- 2. A board that the same server has had since it began, and of which nobody has seen more, is as it was,
--    unless it is damaged, or nobody has it any more: data of a former time may have been put there.
--    If somebody has seen another before it, it was not the first.
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
-- 3. A damage soon after another has to wait.
if what and redis.call('EXISTS', KEYS[11]) == 1 then return {'wait', what} end
if what then redis.call('SET', KEYS[11], '', 'PX', PAUSE_MS) end
-- 4. No record of the former epoch stays, and its versions are not used again, nor some that others may
--    have shown, and the caller has not seen.
--    Polls stay if the server has all that the caller knows of.
local polls = 'none'
if board[1] and not what and seen <= version and seen_round <= round then
  polls = board[7] == 'lost' and 'lost' or 'kept'
else
  if board[1] or what or seen > 0 then polls = 'lost' end
  redis.call('DEL', KEYS[8])
end
for i = 1, 9 do
  if i ~= 8 then redis.call('DEL', KEYS[i]) end
end
version = string.format('%.0f', math.max(version, seen, tonumber(ARGV[5])) + AHEAD)
redis.call('HSET', KEYS[1], 'epoch', ARGV[6], 'server', ARGV[1], 'shape', ARGV[2],
  'first', version, 'version', version, 'sub', '0',
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
)

LOOK: Final = (
    """
-- Arguments: epoch, seen. Returns: version, sub, round, beats, leases (as names and values), whether polls
-- of before this epoch may be missing (`lost`), and for which damage it began.
-- 1. The board is checked.
"""
    + _SAME_EPOCH
    + """
-- 2. The board is alive. The round is raised, so that what answers it was done after this.
redis.call('SET', KEYS[10], '', 'PX', ALIVE_MS)
local round = redis.call('HINCRBY', KEYS[1], 'round', 1)
local head = redis.call('HMGET', KEYS[1], 'version', 'sub', 'polls', 'damage')
local beats, leases = redis.call('HGETALL', KEYS[5]), redis.call('HGETALL', KEYS[3])
return {'ok', head[1], head[2], round, beats, leases, head[3], head[4]}
"""
).replace("ALIVE_MS", str(ALIVE_MS))

BEAT: Final = (
    """
-- Arguments: epoch, seen, collector, the round that it answers, then source and polls of each that it has.
-- 1. The board is checked, and that the collector was not deposed.
"""
    + _SAME_EPOCH
    + """
if redis.call('HEXISTS', KEYS[5], ARGV[3]) == 0 then return {'deposed'} end
-- 2. An older answer that was late changes nothing.
if tonumber(ARGV[4]) > tonumber(redis.call('HGET', KEYS[5], ARGV[3])) then
  redis.call('HSET', KEYS[5], ARGV[3], ARGV[4])
end
-- 3. The polls of its sources are kept for whoever has them next.
for i = 5, #ARGV, 2 do
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
-- 1. The board is checked, and that the lease is free, or the collector's: the answer may have been lost.
"""
    + _SAME_EPOCH
    + """
local lease, polls = redis.call('HGET', KEYS[3], ARGV[4]), redis.call('HGET', KEYS[8], ARGV[4]) or ''
if lease then
  local token, collector = string.match(lease, '(%d+) (.+)')
  if collector ~= ARGV[3] then return {'taken'} end
  return {'ok', token, polls}
end
-- 2. The collector gets it under a token that nobody had, and lives from now on.
local token = redis.call('HINCRBY', KEYS[4], ARGV[4], 1)
redis.call('HSET', KEYS[3], ARGV[4], token .. ' ' .. ARGV[3])
redis.call('HSETNX', KEYS[5], ARGV[3], redis.call('HGET', KEYS[1], 'round'))
note()
return {'ok', token, polls}
"""
)

COMMIT: Final = (
    """
-- Arguments: epoch, seen, collector, sequence, whether clients see it (1 or 0), record, then source and
-- token of each lease that it is under. Returns: version and sub of the record.
-- 1. The board is checked.
"""
    + _SAME_EPOCH
    + _APPENDED
    + """
-- 2. A record that was committed is not committed again: its answer may have been lost.
local ack = redis.call('HGET', KEYS[6], ARGV[3])
if ack then
  local sequence, version, sub = string.match(ack, '(%d+) (%d+) (%d+)')
  if tonumber(ARGV[4]) <= tonumber(sequence) then return {'ok', version, sub} end
end
-- 3. All leases are the collector's, under these tokens.
for i = 7, #ARGV, 2 do
  if redis.call('HGET', KEYS[3], ARGV[i]) ~= ARGV[i + 1] .. ' ' .. ARGV[3] then
    return {'lease', ARGV[i]}
  end
end
-- 4. The record gets its version, and the log has it.
local version, sub = appended(ARGV[5] == '1', ARGV[6])
redis.call('HSET', KEYS[6], ARGV[3], ARGV[4] .. ' ' .. version .. ' ' .. sub)
note()
return {'ok', version, sub}
"""
)

DEPOSE: Final = (
    """
-- Arguments: epoch, seen, collector, its newest beat as the caller knows, the record that its lists leave.
-- 1. The board is checked, and that the collector has not beaten since.
"""
    + _SAME_EPOCH
    + _APPENDED
    + """
if redis.call('HGET', KEYS[5], ARGV[3]) ~= ARGV[4] then return {'alive'} end
-- 2. Its leases are free, and its lists leave with a version.
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
-- Arguments: epoch, seen, version, sub, state, the id up to which records are no longer needed, which is
-- that of the checkpoint before this one at most.
-- 1. The board is checked, and that there is none of the same time or later.
"""
    + _SAME_EPOCH
    + """
local at = redis.call('HMGET', KEYS[7], 'version', 'sub')
if at[1] then
  local later = tonumber(ARGV[3]) - tonumber(at[1])
  if later < 0 or (later == 0 and tonumber(ARGV[4]) <= tonumber(at[2])) then return {'old'} end
end
-- 2. It is kept in place of the last, and that in place of the one before.
if at[1] then redis.call('RENAME', KEYS[7], KEYS[9]) end
redis.call('HSET', KEYS[7], 'version', ARGV[3], 'sub', ARGV[4], 'state', ARGV[5])
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[6])
note()
return {'ok'}
"""
)

RESTORE: Final = (
    """
-- Arguments: epoch, seen, which checkpoint: 7 the newest, 9 the one before.
-- Returns: the version of the empty board; version, sub and state of the checkpoint, if there is one.
"""
    + _SAME_EPOCH
    + """
local at = redis.call('HMGET', KEYS[tonumber(ARGV[3])], 'version', 'sub', 'state')
local first = redis.call('HGET', KEYS[1], 'first')
if not at[1] then return {'ok', first} end
return {'ok', first, at[1], at[2], at[3]}
"""
)
