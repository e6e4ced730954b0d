-- needs places
-- What index.lua and remove.lua share: taking the prospective questions of a row out of a scope's index.
-- Their registry's entry: r revision, m model, mk the model's key part, n questions, t terms; d the dimensions, where their
-- vectors are hashes of the search module and not elements of a vector set.
local function drop_questions(registry, id, scope, chunks, sets, postings)
  local stored = redis.call('HGET', registry, id)
  if not stored then return end
  local old = cjson.decode(stored)
  for _, term in ipairs(old.t) do redis.call('ZREM', postings .. term, id) end
  for number = 0, old.n - 1 do
    if old.d then
      redis.call('DEL', chunks .. old.d .. ':' .. scope .. ':' .. old.mk .. ':' .. id .. '#q' .. number)
    else
      redis.call('VREM', sets .. old.mk, id .. '#' .. number)
    end
  end
  redis.call('HDEL', registry, id)
end
