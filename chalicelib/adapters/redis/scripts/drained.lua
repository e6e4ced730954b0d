-- Drops the oldest audits, unless another drainer did so meanwhile: only if the head is still the one that was read.
-- KEYS: 1 audit queue   ARGV: 1 what the head was, 2 how many to drop
local head = redis.call('LINDEX', KEYS[1], 0)
if not head or cjson.decode(head)[1] ~= ARGV[1] then return 0 end
redis.call('LTRIM', KEYS[1], ARGV[2], -1)
return 1
