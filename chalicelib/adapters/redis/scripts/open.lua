-- Serves a cached answer where the generations of its scopes still hold, and queues the audit of having done so.
-- KEYS: 1 answer, 2 query vector, 3 audit queue, then the generation of each scope
-- ARGV: 1 audit of this recall, then a random start for each generation
-- Reply: body or '', vector or '', generations
local now = {}
for i = 4, #KEYS do
  redis.call('SETNX', KEYS[i], ARGV[i - 2])
  now[#now + 1] = redis.call('GET', KEYS[i])
end
local stored = redis.call('HMGET', KEYS[1], 'generations', 'body', 'audit')
if stored[1] and stored[1] == table.concat(now, ',') then
  redis.call('RPUSH', KEYS[3], cjson.encode({ARGV[1], stored[3]}))
  return {stored[2], '', now}
end
return {'', redis.call('GET', KEYS[2]) or '', now}
