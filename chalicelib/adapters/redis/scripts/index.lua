-- Puts one revision of a row into a scope's index, in place of any earlier one.
-- KEYS: 1 rows, 2 generation, 3 tombstone, 4 changed, 5 models, 6 complete, 7 wanted
-- ARGV: 1 id, 2 scope key, 3 postings prefix, 4 vectors prefix, 5 entry (JSON), 6 impacts (JSON), 7 random start,
--       8 filter attributes (JSON), 9… vectors (float32)
-- The entry: r revision, t terms, n chunks, m model, mk the model's key part, k type, g tags, e event time in ms.
local id, entry, impacts = ARGV[1], cjson.decode(ARGV[5]), cjson.decode(ARGV[6])
local stored = redis.call('HGET', KEYS[1], id)
if stored == ARGV[5] then return 0 end -- a repeat: readers may keep what they have cached
redis.call('SETNX', KEYS[2], ARGV[7])
redis.call('INCR', KEYS[2])
local gone = redis.call('GET', KEYS[3])
if gone and tonumber(gone) >= entry.r then return 0 end
if stored then
  local old = cjson.decode(stored)
  if old.r > entry.r then return 0 end
  for _, term in ipairs(old.t) do
    if not impacts[term] then redis.call('ZREM', ARGV[3] .. term, id) end
  end
  for chunk = 0, old.n - 1 do
    if old.m ~= entry.m or chunk >= entry.n then redis.call('VREM', ARGV[4] .. old.mk, id .. '#' .. chunk) end
  end
  if old.n > 0 and redis.call('HINCRBY', KEYS[5], old.m, -1) <= 0 then redis.call('HDEL', KEYS[5], old.m) end
end
for term, value in pairs(impacts) do redis.call('ZADD', ARGV[3] .. term, value, id) end
for chunk = 0, entry.n - 1 do
  redis.call('VADD', ARGV[4] .. entry.mk, 'FP32', ARGV[9 + chunk], id .. '#' .. chunk, 'Q8', 'SETATTR', ARGV[8])
end
if entry.n > 0 then redis.call('HINCRBY', KEYS[5], entry.m, 1) end
redis.call('HSET', KEYS[1], id, ARGV[5])
redis.call('SADD', KEYS[4], ARGV[2])
-- A scope that is not known to be complete, a new one say, is looked after before anybody asks for it.
if redis.call('EXISTS', KEYS[6]) == 0 then redis.call('SADD', KEYS[7], ARGV[2]) end
return 1
