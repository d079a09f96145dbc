-- Sends GETs of slugs: nearly all of the hot ones, the others of the cold ones, with the heads of many visitors.
-- The folder of the lists and the share of cold ones come by the environment: see wrk.ts.
local folder = os.getenv("BENCH_LISTS")
local coldShare = tonumber(os.getenv("BENCH_COLD_SHARE"))

local function lines(name)
  local found = {}
  for line in io.lines(folder .. "/" .. name) do found[#found + 1] = line end
  return found
end

local ready, cold, heads = {}, {}, {}
local sent = 0

function init()
  -- Each run another one: the same cold links again would be warm ones.
  math.randomseed(os.time())
  cold = lines("cold")
  for _, head in ipairs(lines("heads")) do heads[#heads + 1] = " HTTP/1.1\r\n" .. head:gsub("\t", "\r\n") .. "\r\n\r\n" end
  for number, slug in ipairs(lines("hot")) do ready[number] = "GET /" .. slug .. heads[number % #heads + 1] end
end

function request()
  sent = sent + 1
  if coldShare > 0 and math.random() < coldShare then
    return "GET /" .. cold[math.random(#cold)] .. heads[sent % #heads + 1]
  end
  return ready[sent % #ready + 1]
end

-- One line for wrk.ts.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d %f %f %f %f\n", summary.duration, summary.requests,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
