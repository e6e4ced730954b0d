-- Takes messages off the queue, where the receipt is still the one that the message was last given out with.
-- KEYS: 1 taken, 2 texts, 3 attempts, 4 receipts   ARGV: each message's id and receipt
for i = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[4], ARGV[i]) == ARGV[i + 1] then
    redis.call('ZREM', KEYS[1], ARGV[i])
    for k = 2, 4 do redis.call('HDEL', KEYS[k], ARGV[i]) end
  end
end
return 1
