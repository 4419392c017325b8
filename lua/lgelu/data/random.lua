--- Random draws of the generated sources: pure functions of (seed, stream, index), from the engine's Philox generator.
-- Streams: use 5 of src/core/rng.h (LG_STREAM_DATA), numbered below by what draws; a source's numbers are its own.
local C = require("lgelu.C")

local ffi, lib = C.ffi, C.lib

local random = {}

local USE = 5 * 2 ^ 32 -- ORDER LG_STREAM_DATA

--- The stream of a use numbered 0..2^32-1, as a number (exact below 2^53).
function random.stream(number)
  return USE + number
end

--- Functions of an index for one seed and stream number: uniform(i, lo, hi) in [lo, hi), normal(i), and
-- integer(i, lo, hi) in lo..hi.
function random.draws(seed, number)
  local stream = random.stream(number)
  local draws = {}
  function draws.uniform(i, lo, hi)
    return lo + (hi - lo) * lib.lg_rng_uniform(seed, stream, i)
  end
  function draws.normal(i)
    return lib.lg_rng_normal(seed, stream, i)
  end
  function draws.integer(i, lo, hi)
    return lo + math.floor((hi - lo + 1) * lib.lg_rng_uniform(seed, stream, i))
  end
  return draws
end

--- A permutation of 0..n-1 as int64_t[n] (0-based).
function random.permutation(n, seed, number)
  local order = ffi.new("int64_t[?]", n)
  C.check(lib.lg_rng_permutation(order, n, seed, random.stream(number)))
  return order
end

return random
