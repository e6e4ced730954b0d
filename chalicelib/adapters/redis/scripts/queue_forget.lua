-- Takes messages off the queue for good, whoever holds them.
-- KEYS: 1 waiting, 2 taken, 3 dead, 4 texts, 5 attempts, 6 receipts   ARGV: ids of messages
for _, id in ipairs(ARGV) do
  for k = 1, 3 do redis.call('ZREM', KEYS[k], id) end
  for k = 4, 6 do redis.call('HDEL', KEYS[k], id) end
end
return #ARGV
