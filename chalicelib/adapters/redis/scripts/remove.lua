-- needs questions
-- Takes a row out of a scope's index and remembers for a while that it left.
-- KEYS: 1 rows, 2 generation, 3 tombstone, 4 changed, 5 models, 8 questions, 9 places, 10 speakers (and two
--       that only index.lua uses)
-- ARGV: 1 id, 2 scope key, 3 postings prefix, 4 vectors prefix, 5 prefix of all chunks, 6 prefix of the questions' vectors,
--       7 prefix of their postings, 8 revision, 9 seconds of the tombstone (0: none), 10 random start
local id, revision = ARGV[1], tonumber(ARGV[8])
redis.call('SETNX', KEYS[2], ARGV[10])
redis.call('INCR', KEYS[2])
if tonumber(ARGV[9]) > 0 then
  local gone = redis.call('GET', KEYS[3])
  if not gone or tonumber(gone) < revision then redis.call('SET', KEYS[3], revision, 'EX', ARGV[9]) end
end
local stored = redis.call('HGET', KEYS[1], id)
if not stored then return 0 end
local old = cjson.decode(stored)
if old.r > revision then return 0 end
leave_place(KEYS[9], KEYS[10], id)
drop_questions(KEYS[8], id, ARGV[2], ARGV[5], ARGV[6], ARGV[7])
for _, term in ipairs(old.t) do redis.call('ZREM', ARGV[3] .. term, id) end
for chunk = 0, old.n - 1 do
  local element = id .. '#' .. chunk
  if old.d then
    redis.call('DEL', ARGV[5] .. old.d .. ':' .. ARGV[2] .. ':' .. old.mk .. ':' .. element)
  else
    redis.call('VREM', ARGV[4] .. old.mk, element)
  end
end
if old.n > 0 and redis.call('HINCRBY', KEYS[5], old.m, -1) <= 0 then redis.call('HDEL', KEYS[5], old.m) end
redis.call('HDEL', KEYS[1], id)
redis.call('SADD', KEYS[4], ARGV[2])
return 1
