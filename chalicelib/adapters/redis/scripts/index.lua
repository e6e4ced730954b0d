-- Puts one revision of a row into a scope's index, in place of any earlier one.
-- KEYS: 1 rows, 2 generation, 3 tombstone, 4 changed, 5 models, 6 complete, 7 wanted
-- ARGV: 1 id, 2 scope key, 3 postings prefix, 4 vectors prefix, 5 prefix of all chunks, 6 entry (JSON), 7 impacts (JSON),
--       8 random start, 9 filter attributes (JSON): of an element, or the fields of a hash; 10… vectors (float32)
-- The entry: r revision, t terms, n chunks, m model, mk the model's key part, k type, g tags, e event time in ms; d the
-- dimensions, where the chunks are hashes of the search module and not elements of a vector set.
local id, entry, impacts = ARGV[1], cjson.decode(ARGV[6]), cjson.decode(ARGV[7])
local stored = redis.call('HGET', KEYS[1], id)
if stored == ARGV[6] then return 0 end -- a repeat: readers may keep what they have cached
redis.call('SETNX', KEYS[2], ARGV[8])
redis.call('INCR', KEYS[2])
local gone = redis.call('GET', KEYS[3])
if gone and tonumber(gone) >= entry.r then return 0 end
if stored then
  local old = cjson.decode(stored)
  if old.r > entry.r then return 0 end
  for _, term in ipairs(old.t) do
    if not impacts[term] then redis.call('ZREM', ARGV[3] .. term, id) end
  end
  local kept = old.m == entry.m and old.d == entry.d and entry.n or 0
  for chunk = kept, old.n - 1 do
    local element = id .. '#' .. chunk
    if old.d then
      redis.call('DEL', ARGV[5] .. old.d .. ':' .. ARGV[2] .. ':' .. old.mk .. ':' .. element)
    else
      redis.call('VREM', ARGV[4] .. old.mk, element)
    end
  end
  if old.n > 0 and redis.call('HINCRBY', KEYS[5], old.m, -1) <= 0 then redis.call('HDEL', KEYS[5], old.m) end
end
for term, value in pairs(impacts) do redis.call('ZADD', ARGV[3] .. term, value, id) end
for chunk = 0, entry.n - 1 do
  local element, vector = id .. '#' .. chunk, ARGV[10 + chunk]
  if entry.d then
    local call = {'HSET', ARGV[5] .. entry.d .. ':' .. ARGV[2] .. ':' .. entry.mk .. ':' .. element, 'v', vector}
    for name, value in pairs(cjson.decode(ARGV[9])) do
      call[#call + 1] = name
      call[#call + 1] = value
    end
    redis.call(unpack(call))
  else
    redis.call('VADD', ARGV[4] .. entry.mk, 'FP32', vector, element, 'Q8', 'SETATTR', ARGV[9])
  end
end
if entry.n > 0 then redis.call('HINCRBY', KEYS[5], entry.m, 1) end
redis.call('HSET', KEYS[1], id, ARGV[6])
redis.call('SADD', KEYS[4], ARGV[2])
-- A scope that is not known to be complete, a new one say, is looked after before anybody asks for it.
if redis.call('EXISTS', KEYS[6]) == 0 then redis.call('SADD', KEYS[7], ARGV[2]) end
return 1
