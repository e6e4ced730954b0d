-- What a scope's index keeps of where its rows were said: a hash id -> place (JSON: s session's key part, n words of the
-- speaker's name, and what only the reader of it needs), a sorted set a session of its rows by event time, and a hash of
-- the words of speakers' names -> rows. `base` is the key of the first, `speakers` that of the last.
local function leave_place(base, speakers, id)
  local stored = redis.call('HGET', base, id)
  if not stored then return end
  local old = cjson.decode(stored)
  if old.s then redis.call('ZREM', base .. ':' .. old.s, id) end
  for _, word in ipairs(old.n) do
    if redis.call('HINCRBY', speakers, word, -1) <= 0 then redis.call('HDEL', speakers, word) end
  end
  redis.call('HDEL', base, id)
end

local function take_place(base, speakers, id, text, time)
  local place = cjson.decode(text)
  if place.s then redis.call('ZADD', base .. ':' .. place.s, time, id) end
  for _, word in ipairs(place.n) do redis.call('HINCRBY', speakers, word, 1) end
  redis.call('HSET', base, id, text)
end

-- The place of a row, '' where none is known, and how many rows of its session come before it, '' where it has none.
local function place_of(base, id)
  local text = redis.call('HGET', base, id)
  if not text then return '', '' end
  local session = cjson.decode(text).s
  return text, session and redis.call('ZRANK', base .. ':' .. session, id) or ''
end
