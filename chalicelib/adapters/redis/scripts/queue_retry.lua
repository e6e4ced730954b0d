-- Lets messages wait again, where the receipt is still the one that the message was last given out with; one that has no
-- attempts left becomes a dead letter.
-- KEYS: 1 waiting, 2 taken, 3 dead, 4 attempts, 5 receipts
-- ARGV: 1 delay in ms, 2 attempts that a message has, then each message's id and receipt
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 3, #ARGV, 2 do
  local id = ARGV[i]
  if redis.call('HGET', KEYS[5], id) == ARGV[i + 1] then
    redis.call('HDEL', KEYS[5], id)
    redis.call('ZREM', KEYS[2], id)
    if tonumber(redis.call('HGET', KEYS[4], id) or 0) >= tonumber(ARGV[2]) then
      redis.call('ZADD', KEYS[3], string.format('%.0f', now), id)
    else
      redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[1]), id)
    end
  end
end
return 1
