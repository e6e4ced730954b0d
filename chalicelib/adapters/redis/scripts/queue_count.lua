-- How many messages wait, are held by a consumer that is still in time, and are dead. KEYS: 1 waiting, 2 taken, 3 dead
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local lapsed = redis.call('ZCOUNT', KEYS[2], '-inf', now)
return {redis.call('ZCARD', KEYS[1]) + lapsed, redis.call('ZCARD', KEYS[2]) - lapsed, redis.call('ZCARD', KEYS[3])}
