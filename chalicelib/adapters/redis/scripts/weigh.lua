-- Counts rows and terms over the scopes asked, leaves the terms' weights for the searches that follow in the same
-- pipeline, and says which scopes are not complete: nobody said so, or another vector driver did.
-- The weight is domain/bm25.py's `weight`.
-- KEYS: 1 weights, 2 wanted; then for each scope: rows, complete
-- ARGV: 1 number of scopes, 2 vector driver, then each scope's key, its postings prefix, and that of its questions' postings
--       or '' to leave them out, then the terms. A row holds a term in one of the two at most.
local scopes = tonumber(ARGV[1])
local rows, incomplete, frequencies = 0, {}, {}
for i = 1, scopes do
  rows = rows + redis.call('HLEN', KEYS[1 + 2 * i])
  if redis.call('GET', KEYS[2 + 2 * i]) ~= ARGV[2] then
    incomplete[#incomplete + 1] = ARGV[3 * i]
    redis.call('SADD', KEYS[2], ARGV[3 * i])
  end
end
for t = 3 + 3 * scopes, #ARGV do
  local n = 0
  for i = 1, scopes do
    n = n + redis.call('ZCARD', ARGV[1 + 3 * i] .. ARGV[t])
    if ARGV[2 + 3 * i] ~= '' then n = n + redis.call('ZCARD', ARGV[2 + 3 * i] .. ARGV[t]) end
  end
  frequencies[#frequencies + 1] = n
  if n > 0 then
    redis.call('HSET', KEYS[1], ARGV[t], string.format('%.17g', math.log(1 + (math.max(rows, n) - n + 0.5) / (n + 0.5))))
  end
end
redis.call('PEXPIRE', KEYS[1], 5000)
return {rows, incomplete, frequencies}
