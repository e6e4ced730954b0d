-- needs places
-- What the search module's hits lack: the BM25 of rows that a vector found, the chunks of rows that their text found.
-- KEYS: 1 rows, 2 weights, 3 places
-- ARGV: 1 postings prefix, 2 prefix of the chunks, 3 model, 4 dimensions, 5 prefix of the questions' postings or '' to leave
--       them out, 6 number of ids found by vector, then those ids, then the ids found by text
-- Reply: per id by vector {} where the row holds no such vector (any more), else [BM25, place, rows of its session before
--        it, type, event time in ms, tags…];
--        per id by text its chunks (float32).
local model, size, near = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[6])
local reply, held, ids = {}, {}, {}

local function row_with_vectors(id)
  local stored = redis.call('HGET', KEYS[1], id)
  local row = stored and cjson.decode(stored)
  return row and row.n > 0 and row.m == model and row.d == size and row
end

for i = 7, 6 + near do
  local row = row_with_vectors(ARGV[i])
  local one = {}
  if row then
    local place, position = place_of(KEYS[3], ARGV[i])
    one = {0, place, position, row.k, string.format('%.0f', row.e), unpack(row.g)}
    ids[#ids + 1] = ARGV[i]
    held[#held + 1] = one
  end
  reply[#reply + 1] = one
end

if #ids > 0 then
  local flat = redis.call('HGETALL', KEYS[2])
  for i = 1, #flat, 2 do
    local weight = tonumber(flat[i + 1])
    for _, prefix in ipairs(ARGV[5] ~= '' and {ARGV[1], ARGV[5]} or {ARGV[1]}) do
      for at, score in ipairs(redis.call('ZMSCORE', prefix .. flat[i], unpack(ids))) do
        if score then held[at][1] = held[at][1] + tonumber(score) * weight end
      end
    end
  end
end
for _, one in ipairs(held) do one[1] = string.format('%.17g', one[1]) end

for i = 7 + near, #ARGV do
  local row = row_with_vectors(ARGV[i])
  local chunks = {}
  for chunk = 0, row and row.n - 1 or -1 do
    chunks[#chunks + 1] = redis.call('HGET', ARGV[2] .. ARGV[i] .. '#' .. chunk, 'v')
  end
  reply[#reply + 1] = chunks
end
return reply
