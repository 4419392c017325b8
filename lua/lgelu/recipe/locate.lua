--- Where a key stands in a recipe's source: key path → line, by reading the text and not by running it.
-- What it is not: a Lua parser. It follows braces, keys and blocks, which is enough for tables written out as tables;
-- for anything else (a key set in a loop) the nearest enclosing key's line is given. Called by lgelu.recipe.

local locate = {}

local OPENS = { ["function"] = true, ["if"] = true, ["do"] = true, ["repeat"] = true }
local CLOSES = { ["end"] = true, ["until"] = true }

--- Splits Lua text into tokens {text=, kind="name|string|other", line=}; comments and white space are dropped.
local function tokenize(source)
  local tokens, at, line = {}, 1, 1
  local function push(kind, text, last)
    tokens[#tokens + 1] = { kind = kind, text = text, line = line }
    line = line + select(2, source:sub(at, last):gsub("\n", ""))
    at = last + 1
  end
  local function skip(last)
    line = line + select(2, source:sub(at, last):gsub("\n", ""))
    at = last + 1
  end
  while at <= #source do
    local dashes = source:match("^%-%-()", at)
    local level = source:match("^%[(=*)%[", dashes or at)
    if source:find("^%s", at) then
      skip(select(2, source:find("^%s+", at)))
    elseif level then
      local _, last = source:find("]" .. level .. "]", (dashes or at) + #level + 2, true)
      if dashes then skip(last or #source) else push("string", "", last or #source) end
    elseif dashes then
      skip((source:find("\n", at, true) or #source + 1) - 1)
    elseif source:find("^[%a_]", at) then
      local name, after = source:match("^([%w_]+)()", at)
      push("name", name, after - 1)
    elseif source:find("^[\"']", at) then
      local mark, last = source:sub(at, at), at + 1
      while last <= #source and source:sub(last, last) ~= mark do
        last = last + (source:sub(last, last) == "\\" and 2 or 1)
      end
      push("string", source:sub(at + 1, last - 1), math.min(last, #source))
    else
      local two = source:match("^[=~<>]=", at) or source:match("^%.%.", at)
      push("other", two or source:sub(at, at), at + (two and 1 or 0))
    end
  end
  return tokens
end

--- The key that ends just before token i (which is "="): its text and the dots' names before it, or nil.
local function key_before(tokens, i)
  local last = tokens[i - 1]
  if not last then return nil end
  if last.text == "]" and last.kind == "other" and tokens[i - 2] and tokens[i - 2].kind == "string"
    and tokens[i - 3] and tokens[i - 3].text == "[" then
    return tokens[i - 2].text, tokens[i - 2].line
  end
  if last.kind ~= "name" then return nil end
  local path, at = last.text, i - 1
  while tokens[at - 1] and tokens[at - 1].text == "." and tokens[at - 2] and tokens[at - 2].kind == "name" do
    path = tokens[at - 2].text .. "." .. path
    at = at - 2
  end
  return path, last.line
end

--- Reads the lines of all keys.
-- @param source  the recipe's text
-- @return table key path → line ("gate.t" → 7; the last one wins, as in Lua); table key path → place in the text, a
--   number that grows from key to key
function locate.lines(source)
  local lines, places, stack, blocks = {}, {}, { { path = nil, pending = nil } }, 0
  local tokens = tokenize(source)
  for i, token in ipairs(tokens) do
    local frame, text = stack[#stack], token.text
    if token.kind == "name" and OPENS[text] then
      blocks = blocks + 1
    elseif token.kind == "name" and CLOSES[text] then
      blocks = math.max(blocks - 1, 0)
    elseif token.kind == "name" and text == "return" and blocks == 0 then
      frame.pending = nil
      lines["return"] = token.line
    elseif token.kind == "other" and text == "{" then
      local path = frame.path
      if frame.pending then path = path and path .. "." .. frame.pending or frame.pending end
      stack[#stack + 1] = { path = path, blocks = blocks }
    elseif token.kind == "other" and text == "}" then
      if #stack > 1 then stack[#stack] = nil end
    elseif token.kind == "other" and (text == "," or text == ";") and #stack > 1 and blocks == frame.blocks then
      frame.pending = nil
    elseif token.kind == "other" and text == "=" and (#stack == 1 or blocks == frame.blocks) then
      local key, line = key_before(tokens, i)
      if key then
        frame.pending = key
        local path = frame.path and frame.path .. "." .. key or key
        lines[path], places[path] = line, i
      end
    end
  end
  return lines, places
end

--- The line of one key, or of the nearest thing that encloses it.
-- @param lines  from locate.lines
-- @param key    full path, "gate.t"
-- @return line number, exact (boolean: the key itself stands there)
function locate.find(lines, key)
  if lines[key] then return lines[key], true end
  local enclosing = key:match("^(.*)%.[^.]*$")
  if not enclosing then return lines["return"] or 1, false end
  -- A section may be a field of something else (recipe.gate = { t = … }): the path's end decides then.
  local suffix, found = "." .. key, nil
  for path, line in pairs(lines) do
    if path:sub(-#suffix) == suffix and not path:find("^budgets%.") then found = math.max(found or 0, line) end
  end
  if found then return found, true end
  return (locate.find(lines, enclosing)), false
end

return locate
