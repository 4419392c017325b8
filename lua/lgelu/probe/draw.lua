--- Bars and histograms in block characters: plain text, the same on a terminal, in a pipe and in a file.
-- What it is not: figures (lgelu.plot) or tables (lgelu.table). Called by lgelu.probe.report.

local draw = {}

local EIGHTHS_ACROSS = { [0] = "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" }
local EIGHTHS_UP = { [0] = " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

--- A bar that grows to the right.
-- @tparam number part of the full width, 0 to 1; what is beyond is drawn as the nearer end
-- @tparam number width in columns
-- @treturn string at most `width` characters, no blanks behind it; a part above 0 leaves a trace
function draw.bar(part, width)
  part = math.max(0, math.min(1, part))
  local eighths = math.floor(part * width * 8 + 0.5)
  if part > 0 then eighths = math.max(1, eighths) end
  return ("█"):rep(math.floor(eighths / 8)) .. EIGHTHS_ACROSS[eighths % 8]
end

-- Eighths of a character that each column is high; a count above 0 leaves a trace.
local function heights(counts, rows)
  local most = 0
  for _, count in ipairs(counts) do most = math.max(most, count) end
  local list = {}
  for i, count in ipairs(counts) do
    list[i] = count > 0 and math.max(1, math.floor(count / most * rows * 8 + 0.5)) or 0
  end
  return list
end

-- The axis: heavy inside the band, a cross at 0.
local function axis(columns, low, high, band)
  local cells = {}
  for i = 1, columns do
    local from = low + (high - low) * (i - 1) / columns
    local to = low + (high - low) * i / columns
    local heavy = band and from < band and to > -band
    local zero = from <= 0 and 0 < to
    cells[i] = heavy and (zero and "╋" or "━") or (zero and "┼" or "─")
  end
  return table.concat(cells)
end

-- Numbers under the axis: both ends, and 0 where it does not touch them.
local function labels(columns, low, high)
  local left, right = ("%.4g"):format(low), ("%.4g"):format(high)
  local zero = math.floor(-low / (high - low) * columns)
  if zero > #left and zero < columns - #right - 1 then
    left = left .. (" "):rep(zero - #left) .. "0"
  end
  return left .. (" "):rep(math.max(1, columns - #left - #right)) .. right
end

--- A histogram with its axis.
-- @tparam table counts of equal bins over [low, high), one a column
-- @tparam number low  @tparam number high
-- @tparam number rows of characters for the highest column
-- @tparam ?number band draws the axis heavy where |x| < band
-- @treturn table lines
function draw.histogram(counts, low, high, rows, band)
  local high_of, lines = heights(counts, rows), {}
  for row = rows, 1, -1 do
    local cells = {}
    for i, height in ipairs(high_of) do cells[i] = EIGHTHS_UP[math.max(0, math.min(8, height - 8 * (row - 1)))] end
    lines[#lines + 1] = (table.concat(cells):gsub(" +$", ""))
  end
  lines[#lines + 1] = axis(#counts, low, high, band)
  lines[#lines + 1] = labels(#counts, low, high)
  return lines
end

return draw
