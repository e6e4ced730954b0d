-- needs places
-- The candidates of one scope, nearest by vector and best by text, each with both signals.
-- KEYS: 1 rows, 2 vectors, 3 models, 4 weights, 5 union (temporary), 6 vectors of the questions, 7 places
-- ARGV: 1 postings prefix, 2 limit, 3 most postings to unite, 4 rows up to which the vector search is exact,
--       5 most rows a filter looks at, 6 vector or '' to search none here, 7 model, or '' to count no row of another,
--       8 filter for VSIM or '', 9 filter (JSON) or '', 10 prefix of the questions' postings or '' to leave questions out
-- Reply: rows with vectors of other models; then rows of [id, BM25, VSIM score or '', raw chunks where that is '' or {},
--        VSIM score of its nearest question or '', place (JSON) or '', rows of its session before it or ''].
local prefix, limit, budget = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local filter = ARGV[9] ~= '' and cjson.decode(ARGV[9]) or nil

local function admitted(id)
  local stored = redis.call('HGET', KEYS[1], id)
  if not stored then return false end
  local row = cjson.decode(stored)
  if filter.since and row.e < filter.since then return false end
  if filter.before and row.e >= filter.before then return false end
  if filter.types then
    local found = false
    for _, kind in ipairs(filter.types) do found = found or kind == row.k end
    if not found then return false end
  end
  for _, tag in ipairs(filter.tags or {}) do
    local found = false
    for _, own in ipairs(row.g) do found = found or own == tag end
    if not found then return false end
  end
  return true
end

-- Terms by the length of their postings: the short ones are united, the rest only score what is found.
local terms = {}
local flat = redis.call('HGETALL', KEYS[4])
for i = 1, #flat, 2 do
  for _, kind in ipairs(ARGV[10] ~= '' and {prefix, ARGV[10]} or {prefix}) do
    local n = redis.call('ZCARD', kind .. flat[i])
    if n > 0 then terms[#terms + 1] = {key = kind .. flat[i], weight = flat[i + 1], n = n} end
  end
end
table.sort(terms, function(a, b) if a.n ~= b.n then return a.n < b.n end return a.key < b.key end)
local united, rest, total = {}, {}, 0
for i, term in ipairs(terms) do
  total = total + term.n
  if i == 1 or total <= budget then united[#united + 1] = term else rest[#rest + 1] = term end
end

local found, order = {}, {}
local function candidate(id)
  if not found[id] then
    found[id] = {bm25 = false, vsim = false, question = false, chunks = {}}
    order[#order + 1] = id
  end
  return found[id]
end

if #united > 0 then
  local call = {'ZUNIONSTORE', KEYS[5], #united}
  for _, term in ipairs(united) do call[#call + 1] = term.key end
  call[#call + 1] = 'WEIGHTS'
  for _, term in ipairs(united) do call[#call + 1] = term.weight end
  redis.call(unpack(call))
  local from, kept, most = 0, 0, filter and tonumber(ARGV[5]) or limit
  while kept < limit and from < most do
    local page = redis.call('ZRANGE', KEYS[5], from, from + limit - 1, 'REV')
    for _, id in ipairs(page) do
      if kept < limit and (not filter or admitted(id)) then
        candidate(id)
        kept = kept + 1
      end
    end
    if #page < limit then break end
    from = from + limit
  end
end

local others = 0
if ARGV[7] ~= '' then
  local counts = redis.call('HGETALL', KEYS[3])
  for i = 1, #counts, 2 do if counts[i] ~= ARGV[7] then others = others + tonumber(counts[i + 1]) end end
end
-- The nearest `limit` rows of a vector set, each with the score of its nearest element.
local function nearest(set)
  local size = redis.call('EXISTS', set) == 1 and redis.call('VCARD', set) or 0
  if size == 0 then return {} end
  local exact = redis.call('HLEN', KEYS[1]) <= tonumber(ARGV[4])
  -- VSIM counts elements and the limit counts rows: ask again for more where rows of many elements fill the answer.
  local count = limit
  while true do
    local call = {'VSIM', set, 'FP32', ARGV[6], 'WITHSCORES', 'COUNT', count}
    if exact then call[#call + 1] = 'TRUTH' end
    if ARGV[8] ~= '' then
      call[#call + 1] = 'FILTER'
      call[#call + 1] = ARGV[8]
    end
    local near, rows, known = redis.call(unpack(call)), {}, {}
    for i = 1, #near, 2 do
      local id = string.match(near[i], '^(.-)#%d+$')
      if not known[id] and #rows < limit then
        known[id] = true
        rows[#rows + 1] = {id, near[i + 1]}
      end
    end
    if #rows == limit or #near < 2 * count then return rows end
    count = count * 4
  end
end

if ARGV[6] ~= '' then
  for _, row in ipairs(nearest(KEYS[2])) do candidate(row[1]).vsim = row[2] end
  if ARGV[10] ~= '' then
    for _, row in ipairs(nearest(KEYS[6])) do candidate(row[1]).question = row[2] end
  end
  if redis.call('EXISTS', KEYS[2]) == 1 then
    for _, id in ipairs(order) do
      local one, chunk = found[id], 0
      while not one.vsim do
        local raw = redis.call('VEMB', KEYS[2], id .. '#' .. chunk, 'RAW')
        if not raw or #raw == 0 then break end
        one.chunks[#one.chunks + 1] = raw
        chunk = chunk + 1
      end
    end
  end
end

local function add_scores(key, weight)
  local call = {'ZMSCORE', key}
  for _, id in ipairs(order) do call[#call + 1] = id end
  for i, score in ipairs(redis.call(unpack(call))) do
    local one = found[order[i]]
    one.bm25 = (one.bm25 or 0) + (score and tonumber(score) or 0) * weight
  end
end
if #order > 0 then
  if #united > 0 then add_scores(KEYS[5], 1) end
  for _, term in ipairs(rest) do add_scores(term.key, tonumber(term.weight)) end
end
-- waking the thread that frees what is unlinked costs more than freeing a small union does
redis.call(total <= 2000 and 'DEL' or 'UNLINK', KEYS[5])

local reply = {others}
for _, id in ipairs(order) do
  local one = found[id]
  reply[#reply + 1] = {id, string.format('%.17g', one.bm25 or 0), one.vsim or '', one.chunks, one.question or '', place_of(KEYS[7], id)}
end
return reply
