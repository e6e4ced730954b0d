-- needs questions
-- Puts one revision of a row into a scope's index, in place of any earlier one.
-- KEYS: 1 rows, 2 generation, 3 tombstone, 4 changed, 5 models, 6 complete, 7 wanted, 8 questions, 9 places, 10 speakers
-- ARGV: 1 id, 2 scope key, 3 postings prefix, 4 vectors prefix, 5 prefix of all chunks, 6 prefix of the questions' vectors,
--       7 prefix of their postings, 8 entry (JSON), 9 impacts (JSON), 10 random start, 11 filter attributes (JSON): of an
--       element, or the fields of a hash, 12 the questions' entry (JSON) or '' to leave those of this revision as they are,
--       13 impact of each of their terms, 14 their filter attributes (JSON); 15… vectors (float32), then the questions'
-- The entry: r revision, t terms, n chunks, m model, mk the model's key part, k type, g tags, e event time in ms, p place (JSON); d
-- the dimensions, where the chunks are hashes of the search module and not elements of a vector set.
local id, entry, impacts = ARGV[1], cjson.decode(ARGV[8]), cjson.decode(ARGV[9])
local stored = redis.call('HGET', KEYS[1], id)
local told, asked = ARGV[12] ~= '', redis.call('HGET', KEYS[8], id)
-- a repeat: readers may keep what they have cached
if stored == ARGV[8] and (not told or asked == ARGV[12]) then return 0 end
redis.call('SETNX', KEYS[2], ARGV[10])
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
leave_place(KEYS[9], KEYS[10], id)
take_place(KEYS[9], KEYS[10], id, entry.p, string.format('%.0f', entry.e))
local function put(hash, set, element, vector, attributes)
  if hash then
    local call = {'HSET', hash .. element, 'v', vector}
    for name, value in pairs(cjson.decode(attributes)) do
      call[#call + 1] = name
      call[#call + 1] = value
    end
    redis.call(unpack(call))
  else
    redis.call('VADD', set, 'FP32', vector, element, 'Q8', 'SETATTR', attributes)
  end
end
local hash = entry.d and ARGV[5] .. entry.d .. ':' .. ARGV[2] .. ':' .. entry.mk .. ':'
for term, value in pairs(impacts) do redis.call('ZADD', ARGV[3] .. term, value, id) end
for chunk = 0, entry.n - 1 do
  put(hash, ARGV[4] .. entry.mk, id .. '#' .. chunk, ARGV[15 + chunk], ARGV[11])
end
local kept = asked and cjson.decode(asked)
if told or not (kept and kept.r == entry.r and kept.m == entry.m and kept.d == entry.d) then
  drop_questions(KEYS[8], id, ARGV[2], ARGV[5], ARGV[6], ARGV[7])
end
local questions = told and cjson.decode(ARGV[12])
if questions and questions.n + #questions.t > 0 then
  for number = 0, questions.n - 1 do
    local element = hash and id .. '#q' .. number or id .. '#' .. number
    put(hash, ARGV[6] .. entry.mk, element, ARGV[15 + entry.n + number], ARGV[14])
  end
  for _, term in ipairs(questions.t) do redis.call('ZADD', ARGV[7] .. term, ARGV[13], id) end
  redis.call('HSET', KEYS[8], id, ARGV[12])
end
if entry.n > 0 then redis.call('HINCRBY', KEYS[5], entry.m, 1) end
redis.call('HSET', KEYS[1], id, ARGV[8])
redis.call('SADD', KEYS[4], ARGV[2])
-- A scope that is not known to be complete, a new one say, is looked after before anybody asks for it.
if redis.call('EXISTS', KEYS[6]) == 0 then redis.call('SADD', KEYS[7], ARGV[2]) end
return 1
