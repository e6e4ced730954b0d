-- Lets dead letters wait again, with all their attempts. KEYS: 1 waiting, 2 dead, 3 attempts   ARGV: 1 how many at most
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local ids = redis.call('ZRANGE', KEYS[2], 0, ARGV[1] - 1)
for _, id in ipairs(ids) do
  redis.call('ZREM', KEYS[2], id)
  redis.call('HDEL', KEYS[3], id)
  redis.call('ZADD', KEYS[1], now, id)
end
return #ids
