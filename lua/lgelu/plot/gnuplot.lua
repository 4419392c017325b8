--- Draws one picture from one table with one gnuplot process, and checks the picture.
--
-- What it is: quoting, the call, its errors, and a look at the file that came out: gnuplot's exit status is 0 for empty
-- plots too, so it proves nothing (the data were checked before, by lgelu.plot.tsv).
-- What it is not: it knows no figure; plots/*.gp do.
-- Called by lgelu.plot.

local errors = require("lgelu.errors")

local gnuplot = {}

-- A picture smaller than this holds no axes; the emptiest real figure has several thousand bytes.
local LEAST_BYTES = 1000

-- Of what gnuplot says, so much of the end is shown.
local MOST_SAID = 400

--- A word for the shell, quoted only where that is needed, and legibly where that is enough.
function gnuplot.shell_word(text)
  if text:find("^[%w_./:=+-]+$") then return text end
  if not text:find('[$`"\\!]') then return '"' .. text .. '"' end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- A gnuplot string. A name that begins with '<' or '|' would be run as a command: "./" before it forbids that.
local function gnuplot_path(path)
  if path:sub(1, 1) ~= "/" then path = "./" .. path end
  return "'" .. path:gsub("'", "''") .. "'"
end

local function big_endian(bytes, at)
  local a, b, c, d = bytes:byte(at, at + 3)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

-- Per extension: what is wrong with the bytes, or nil.
local WRONG = {
  png = function(bytes)
    if bytes:sub(1, 8) ~= "\137PNG\r\n\26\n" or bytes:sub(13, 16) ~= "IHDR" then return "has no PNG header" end
    if bytes:sub(-8, -5) ~= "IEND" then return "is cut short: no IEND at its end" end
    local width, height = big_endian(bytes, 17), big_endian(bytes, 21)
    if width < 100 or height < 100 then return ("is only %d × %d pixels"):format(width, height) end
  end,
  svg = function(bytes)
    if not bytes:find("<svg", 1, true) then return "has no <svg> element" end
    if not bytes:find("</svg>%s*$") then return "is cut short: no </svg> at its end" end
    if not bytes:find("<path", 1, true) then return "holds no line" end
  end,
  pdf = function(bytes)
    if bytes:sub(1, 5) ~= "%PDF-" then return "has no PDF header" end
    if not bytes:find("%%%%EOF%s*$") then return "is cut short: no %%EOF at its end" end
  end,
}

--- The extensions that pictures may have, in the order of messages.
gnuplot.EXTENSIONS = { "png", "svg", "pdf" }

--- Checks a picture file by its bytes.
-- @tparam string path ends in .png, .svg or .pdf
-- @raise the work failed: the file is missing, too small, cut short or of another kind
function gnuplot.check_picture(path)
  local file = io.open(path, "rb")
  if not file then errors.fail("%s: gnuplot wrote no picture", path) end
  local bytes = file:read("*a")
  file:close()
  if #bytes < LEAST_BYTES then errors.fail("%s: the picture has %d bytes; it is empty", path, #bytes) end
  local wrong = WRONG[path:match("%.(%a+)$")](bytes)
  if wrong then errors.fail("%s: the picture %s", path, wrong) end
end

--- The shell command that draws out from table with script.
function gnuplot.command(script, table_path, out)
  return ("gnuplot -d -e %s %s"):format(
    gnuplot.shell_word(("tsv=%s; out=%s"):format(gnuplot_path(table_path), gnuplot_path(out))),
    gnuplot.shell_word(script))
end

-- What a command of gnuplot prints; the work failed when it does not end well.
local function run(command, script)
  local pipe = io.popen(command .. " 2>&1; echo \"status $?\"", "r")
  local text = pipe:read("*a")
  pipe:close()
  local said, status = text:match("^(.-)%s*status (%d+)%s*$")
  if status == "127" then
    errors.fail("gnuplot is not installed; on Debian: apt-get install gnuplot-nox")
  elseif status ~= "0" then
    errors.fail("%s: gnuplot failed: %s", script, said and said:gsub("%s+", " "):sub(-MOST_SAID) or "it was stopped")
  end
  return said
end

--- Runs a script of plots/ and checks what it made.
-- @tparam string script path of the .gp file
-- @tparam string table_path the table
-- @tparam string out the picture to be made
-- @raise the work failed: gnuplot is missing, reports an error, or makes no sound picture
function gnuplot.draw(script, table_path, out)
  run(gnuplot.command(script, table_path, out), script)
  gnuplot.check_picture(out)
end

--- Runs a script of plots/ for a picture of characters (plots/style.gp: out is empty).
-- @tparam number columns  @tparam number lines  its size
-- @treturn string the lines
-- @raise as draw
function gnuplot.text(script, table_path, columns, lines)
  local text = run(("gnuplot -d -e %s %s"):format(gnuplot.shell_word(("tsv=%s; out=''; columns=%d; lines=%d"):format(
    gnuplot_path(table_path), columns, lines)), gnuplot.shell_word(script)), script)
  return (text:gsub("\f", ""):gsub("[ \t]+\n", "\n"):gsub("^\n+", ""))
end

return gnuplot
