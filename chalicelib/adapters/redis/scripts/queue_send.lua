-- Queues messages, all or none of them: none where the queue would hold more than it may.
-- KEYS: 1 waiting, 2 texts   ARGV: 1 how many messages the queue may hold, 2 delay in ms, then each message's id and text
if redis.call('HLEN', KEYS[2]) + (#ARGV - 2) / 2 > tonumber(ARGV[1]) then return 0 end
local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2]
for i = 3, #ARGV, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  redis.call('ZADD', KEYS[1], string.format('%.0f', due), ARGV[i])
end
return 1
