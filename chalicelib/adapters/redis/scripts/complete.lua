-- Marks a scope's index complete, for the rebuild whose token still stands, or for any where none is given.
-- KEYS: 1 complete, 2 rebuild, 3 wanted   ARGV: 1 token or '', 2 scope key, 3 vector driver
if ARGV[1] ~= '' and redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[3])
redis.call('DEL', KEYS[2])
redis.call('SREM', KEYS[3], ARGV[2])
return 1
