/** Defines the scripts that count limits atomically in Redis. Time is that of Redis, so that the nodes' clocks do not matter. */

import { createHash } from 'node:crypto';
import { waitsForMs } from '../core/slots.ts';
import { slots } from './window.ts';

export interface Script {
  readonly text: string;
  /** The script's SHA-1 digest, by which Redis identifies it. */
  readonly digest: string;
}

/** A node that was not seen for so long is gone, and its open exchanges with it. */
const nodeLifeMs = 6_000;

const dayMs = 86_400_000;

/**
 * Functions that several scripts share. A rate is a hash: `h` its newest bucket, `t` the sum of all, and each bucket under its number modulo the
 * slots. A bucket is a number of bucket lengths since the epoch. A concurrency limit is a hash: how many exchanges each node has open.
 */
const shared = `
local slots = ${slots}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The sum once the present is at this bucket; the bucket of the present; what is in it; the fields that are over (true: all of them);
-- and the newest bucket that has something.
local function look(key, bucket)
  local found = redis.call('HMGET', key, 'h', 't', bucket % slots)
  local head = tonumber(found[1])
  -- A clock that was set back by more than a window: what lies ahead would not end for long.
  if not head or math.abs(bucket - head) >= slots then return 0, bucket, 0, true, bucket end
  local total = tonumber(found[2])
  if bucket == head then return total, bucket, tonumber(found[3] or 0), nil, head end
  if bucket < head then
    return total, head, tonumber(redis.call('HGET', key, head % slots) or 0), nil, head
  end
  local over = {}
  for past = head + 1, bucket do over[#over + 1] = past % slots end
  for _, amount in ipairs(redis.call('HMGET', key, unpack(over))) do total = total - tonumber(amount or 0) end
  return total, bucket, 0, over, head
end

local function put(key, bucketMs, bucket, total, amount, over)
  if over == true then redis.call('DEL', key) elseif over then redis.call('HDEL', key, unpack(over)) end
  redis.call('HSET', key, 'h', bucket, 't', total, bucket % slots, amount)
  if over then redis.call('PEXPIRE', key, (bucket + slots + 1) * bucketMs - now) end
end
`;

/**
 * Reserves from limits. KEYS: rates, concurrency limits, and the nodes. ARGV: node, requests, tokens, items, number of rates; for each rate
 * its measure (1 to 3), bucket length and limit; then each concurrency limit. Answers 1, the time, and for each rate its sum and newest bucket; or 0,
 * the time, which key refuses and for how long (-1: for ever), and the same. HMGET gives false for what is not there, and ipairs goes on over it.
 */
const reserve = `${shared}
local node, rates = ARGV[1], tonumber(ARGV[5])
local reply, seen = { 1, now }, {}
local which, longest = 0, 0

local function waitFor(key, bucketMs, bucket, newest, excess)
  local fields = {}
  for past = bucket - slots + 1, newest do fields[#fields + 1] = past % slots end
  local amounts = redis.call('HMGET', key, unpack(fields))
  for i = 1, #fields do
    excess = excess - tonumber(amounts[i] or 0)
    if excess <= 0 then return (bucket + i) * bucketMs - now end
  end
  return slots * bucketMs
end

for i = 1, rates do
  local at = 3 + i * 3
  local asked, bucketMs, most = tonumber(ARGV[1 + ARGV[at]]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local total, bucket, amount, over, newest = look(KEYS[i], math.floor(now / bucketMs))
  if total + asked > most then
    local wait = math.huge
    if asked <= most then wait = waitFor(KEYS[i], bucketMs, bucket, newest, total + asked - most) end
    if wait > longest then which, longest = i, wait end
  end
  seen[i] = { asked, bucketMs, total, bucket, amount, over, newest }
end

local nodes = KEYS[#KEYS]
for i = rates + 1, #KEYS - 1 do
  local most = tonumber(ARGV[5 + rates * 3 + i - rates])
  local open = redis.call('HGETALL', KEYS[i])
  local count = 0
  for j = 2, #open, 2 do count = count + tonumber(open[j]) end
  if count >= most then
    count = 0
    for j = 1, #open, 2 do
      local seenAt = open[j] == node and now or tonumber(redis.call('ZSCORE', nodes, open[j]) or 0)
      if seenAt > now - ${nodeLifeMs} then count = count + tonumber(open[j + 1]) else redis.call('HDEL', KEYS[i], open[j]) end
    end
  end
  if count >= most then
    local wait = most == 0 and math.huge or 1000
    if wait > longest then which, longest = i, wait end
  end
end

if which > 0 then
  reply = { 0, now, which, longest == math.huge and -1 or longest }
  for i = 1, rates do reply[#reply + 1] = seen[i][3]; reply[#reply + 1] = seen[i][7] end
  return reply
end
for i = 1, rates do
  local asked, bucketMs, total, bucket, amount, over, newest = unpack(seen[i], 1, 7)
  if asked > 0 then
    put(KEYS[i], bucketMs, bucket, total + asked, amount + asked, over)
    newest = bucket
  end
  reply[#reply + 1] = total + asked
  reply[#reply + 1] = newest
end
for i = rates + 1, #KEYS - 1 do
  redis.call('HINCRBY', KEYS[i], node, 1)
  redis.call('PEXPIRE', KEYS[i], ${dayMs})
end
return reply
`;

/**
 * Corrects amounts, and removes or adds exchanges. KEYS: rates, then concurrency limits. ARGV: node, number of rates; for each rate its bucket
 * length, the bucket and the difference; for each concurrency limit the difference.
 */
const adjust = `${shared}
local node, rates = ARGV[1], tonumber(ARGV[2])
for i = 1, rates do
  local key = KEYS[i]
  local at = i * 3
  local bucketMs, bucket, more = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local found = redis.call('HMGET', key, 'h', 't', bucket % slots)
  local head = tonumber(found[1])
  if not head or bucket > head then
    if more > 0 then
      local total, present, amount, over = look(key, bucket)
      put(key, bucketMs, present, total + more, amount + more, over)
    end
  elseif head - bucket < slots then
    local before = tonumber(found[3] or 0)
    local after = math.max(0, before + more)
    redis.call('HSET', key, 't', tonumber(found[2]) + after - before, bucket % slots, after)
  end
end
for i = rates + 1, #KEYS do
  local more = tonumber(ARGV[2 + rates * 2 + i])
  local open = redis.call('HINCRBY', KEYS[i], node, more)
  if open <= 0 then redis.call('HDEL', KEYS[i], node) elseif more > 0 then redis.call('PEXPIRE', KEYS[i], ${dayMs}) end
end
return 1
`;

/**
 * Registers a node. KEYS: the nodes, and the data set's name. ARGV: node, its former name, a new name for the data set. Answers the time, how many
 * nodes there are, and the name: a changed name means that all was lost. A restarted or replaced server may have older data, which counts as lost: so
 * its run ID is part of the name.
 */
const beat = `${shared}
if ARGV[2] ~= '' then redis.call('ZREM', KEYS[1], ARGV[2]) end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${nodeLifeMs})
redis.call('PEXPIRE', KEYS[1], ${dayMs})
-- Whose user may not ask goes on without.
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
local name = redis.call('GET', KEYS[2])
if not name or not string.find(name, run, 1, true) then name = ARGV[3] .. ':' .. run end
redis.call('SET', KEYS[2], name, 'PX', ${3 * dayMs})
return { now, redis.call('ZCARD', KEYS[1]), name }
`;

/**
 * Shares the slots at an upstream out, as `SlotPools` does. KEYS: the pool, and the nodes. ARGV: node, the limit, what it holds, what it could use.
 * Answers what it holds from now on, and what it may keep. A pool is a hash: what each node holds and could use, and since when.
 */
const slotPool = `${shared}
local node, most, held, wants = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local others, wanting, contended = 0, 1, false
local pool = redis.call('HGETALL', KEYS[1])
for i = 1, #pool, 2 do
  if pool[i] ~= node then
    local seenAt = tonumber(redis.call('ZSCORE', KEYS[2], pool[i]) or 0)
    if seenAt > now - ${nodeLifeMs} then
      local has, could, at = string.match(pool[i + 1], '(%d+):(%d+):(%d+)')
      others = others + has
      if tonumber(could) > 0 and tonumber(at) > now - ${waitsForMs} then
        wanting = wanting + 1
        if tonumber(could) > tonumber(has) then contended = true end
      end
    else
      redis.call('HDEL', KEYS[1], pool[i])
    end
  end
end
local fair = math.max(1, math.floor(most / wanting))
local spare = math.floor(most / (2 * math.max(1, redis.call('ZCARD', KEYS[2]))))
local target = contended and math.min(wants, fair) or wants == 0 and 0 or math.max(wants, spare)
local granted = math.max(held, math.min(most - others, target))
redis.call('HSET', KEYS[1], node, string.format('%d:%d:%.0f', granted, wants, now))
redis.call('PEXPIRE', KEYS[1], ${dayMs})
return { granted, contended and math.min(wants, fair) or most }
`;

function toScript(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') };
}

export const reserveScript = toScript(reserve);
export const adjustScript = toScript(adjust);
export const slotsScript = toScript(slotPool);
export const beatScript = toScript(beat);
