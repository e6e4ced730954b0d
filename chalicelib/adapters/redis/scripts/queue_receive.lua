-- Gives out messages that are due: those that wait, and those whose consumer did not come back in time. One that was given
-- out as often as it may be becomes a dead letter, and a dead letter that was kept long enough goes.
-- KEYS: 1 waiting, 2 taken, 3 dead, 4 texts, 5 attempts, 6 receipts
-- ARGV: 1 how many at most, 2 visibility in ms, 3 attempts that a message has, 4 receipt, 5 ms that a dead letter is kept
-- Reply: id, text and attempt of each
local AT_ONCE = 100
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function at(ms) return string.format('%.0f', ms) end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', at(now), 'LIMIT', 0, AT_ONCE)) do
  redis.call('ZREM', KEYS[2], id)
  redis.call('HDEL', KEYS[6], id)
  redis.call('ZADD', KEYS[1], at(now), id)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', at(now - ARGV[5]), 'LIMIT', 0, AT_ONCE)) do
  redis.call('ZREM', KEYS[3], id)
  redis.call('HDEL', KEYS[4], id)
  redis.call('HDEL', KEYS[5], id)
end
local given = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', at(now), 'LIMIT', 0, AT_ONCE)) do
  if #given >= 3 * ARGV[1] then break end
  redis.call('ZREM', KEYS[1], id)
  if tonumber(redis.call('HGET', KEYS[5], id) or 0) >= tonumber(ARGV[3]) then
    redis.call('ZADD', KEYS[3], at(now), id)
  else
    redis.call('ZADD', KEYS[2], at(now + ARGV[2]), id)
    redis.call('HSET', KEYS[6], id, ARGV[4])
    given[#given + 1] = id
    given[#given + 1] = redis.call('HGET', KEYS[4], id)
    given[#given + 1] = redis.call('HINCRBY', KEYS[5], id, 1)
  end
end
return given
