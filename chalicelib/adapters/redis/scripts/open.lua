-- Serves a cached answer where the generations of its scopes still hold, and queues the audit of having done so.
-- KEYS: 1 answer, 2 query vector, 3 audit queue, then the generation of each scope, then the speakers of each
-- ARGV: 1 audit of this recall, 2 number of scopes, then a random start for each generation, then words that may be names
-- Reply: body or '', vector or '', generations, which of the words are in the name of a speaker
local scopes = tonumber(ARGV[2])
local now = {}
for i = 4, 3 + scopes do
  redis.call('SETNX', KEYS[i], ARGV[i - 1])
  now[#now + 1] = redis.call('GET', KEYS[i])
end
local names = {}
for i = 3 + scopes, #ARGV do
  for k = 4 + scopes, #KEYS do
    if redis.call('HEXISTS', KEYS[k], ARGV[i]) == 1 then
      names[#names + 1] = ARGV[i]
      break
    end
  end
end
local key = #names > 0 and KEYS[2] .. ':' .. table.concat(names, ',') or KEYS[2]
local vector = redis.call('GET', key) or ''
local stored = redis.call('HMGET', KEYS[1], 'generations', 'body', 'audit')
if stored[1] and stored[1] == table.concat(now, ',') then
  redis.call('RPUSH', KEYS[3], cjson.encode({ARGV[1], stored[3]}))
  return {stored[2], vector, now, names}
end
return {'', vector, now, names}
