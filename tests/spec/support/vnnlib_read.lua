--- vnnlib_read: a small reader of VNN-LIB 1, written from SMT-LIB's grammar (s-expressions), not from lgelu's writer:
-- constants, a box over the X_i, and one disjunction of conjunctions over the Y_j. Strict: anything else is an error.
local vnnlib = {}

-- The s-expressions of a text as nested lists of words; comments run from ; to the end of the line.
local function parse(text)
  local stack = { {} }
  for token in text:gsub(";[^\n]*", ""):gsub("[()]", " %0 "):gmatch("%S+") do
    if token == "(" then
      stack[#stack + 1] = {}
    elseif token == ")" then
      assert(#stack > 1, "a bracket too many")
      local done = table.remove(stack)
      table.insert(stack[#stack], done)
    else
      table.insert(stack[#stack], token)
    end
  end
  assert(#stack == 1, "a bracket is not closed")
  return stack[1]
end

-- An SMT-LIB decimal; VNN-LIB's files write negative ones with a sign.
local function decimal(word)
  assert(type(word) == "string" and word:find("^%-?%d+%.%d+$"), "no decimal: " .. tostring(word))
  return tonumber(word)
end

local function variable(word, letter, declared)
  local index = tonumber(tostring(word):match("^" .. letter .. "_(%d+)$"))
  assert(index and index < declared, "no variable " .. letter .. ": " .. tostring(word))
  return index + 1
end

--- { inputs, outputs = how many, low, high = lists, counterexample = function(logits) → boolean } of a text.
function vnnlib.read(text)
  local p = { inputs = 0, outputs = 0, low = {}, high = {} }
  local any
  for _, e in ipairs(parse(text)) do
    if e[1] == "declare-const" then
      local letter, index = e[2]:match("^([XY])_(%d+)$")
      local key = letter == "X" and "inputs" or "outputs"
      assert(e[3] == "Real" and tonumber(index) == p[key] and #e == 3)
      p[key] = p[key] + 1
    else
      assert(e[1] == "assert" and #e == 2)
      local op = e[2][1]
      if op == "or" then
        assert(not any, "two disjunctions")
        any = { unpack(e[2], 2) }
      else
        local list = assert(({ [">="] = p.low, ["<="] = p.high })[op], op)
        local index = variable(e[2][2], "X", p.inputs)
        assert(not list[index] and #e[2] == 3)
        list[index] = decimal(e[2][3])
      end
    end
  end
  assert(#p.low == p.inputs and #p.high == p.inputs and any, "the box or the disjunction is missing")
  for _, clause in ipairs(any) do
    assert(clause[1] == "and" and #clause == 2 and clause[2][1] == ">=" and #clause[2] == 3)
  end
  p.counterexample = function(logits)
    for _, clause in ipairs(any) do
      local a, b = variable(clause[2][2], "Y", p.outputs), variable(clause[2][3], "Y", p.outputs)
      if logits[a] >= logits[b] then return true end
    end
    return false
  end
  return p
end

return vnnlib
