--- The files of a data set of the manifest on this machine: where they are, whether they are right, how they get here.
-- What it is not: a reader of their content (the sources) or a printer (lgelu.cli.data).
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local find = require("lgelu.data.find")

local ffi, lib, check = C.ffi, C.lib, C.check

local files = {}

--- The folder that holds all files of a set; nil and find.set's lines when there is none.
-- @param entry  of the manifest
function files.locate(entry)
  local names = {}
  for i, file in ipairs(entry.files) do names[i] = file.name end
  return find.set({ folders = entry.folders, files = names })
end

--- Bytes of a set's files, unpacked.
function files.bytes(entry)
  local sum = 0
  for _, file in ipairs(entry.files) do sum = sum + file.bytes end
  return sum
end

--- Compares one file's content, unpacked when it is gzipped, with the manifest.
-- @param path  the file
-- @param file  { bytes =, sha256 = }
-- @return nil when it is right, else what is wrong, without the file's name
local function problem_of(path, file)
  local hex, bytes = ffi.new("char[65]"), ffi.new("int64_t[1]")
  local ok, e = pcall(check, lib.lg_content_sha256(hex, bytes, path))
  if not ok then
    if not errors.is(e, "fail") then error(e, 0) end
    return (e.message:gsub("^" .. path:gsub("%p", "%%%0") .. ": ", ""))
  end
  local found = tonumber(bytes[0])
  if found ~= file.bytes then return ("found %d bytes unpacked, expected %d"):format(found, file.bytes) end
  if ffi.string(hex) ~= file.sha256 then
    return ("found sha256 %s, expected %s"):format(ffi.string(hex), file.sha256)
  end
end

--- Checks the files of a set in a folder.
-- @param entry   of the manifest
-- @param folder  where they are, plain or gzipped
-- @return list of { path =, problem = text or nil } in the manifest's order; true when no file has a problem
function files.check(entry, folder)
  local results, good = {}, true
  for i, file in ipairs(entry.files) do
    local path = find.packed(folder .. "/" .. file.name)
    local problem
    if path then problem = problem_of(path, file) else problem = "missing" end
    results[i] = { path = path or folder .. "/" .. file.name, problem = problem }
    good = good and problem == nil
  end
  return results, good
end

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- What to do by hand: lines.
-- @param folder  where the files are to be put
function files.by_hand(entry, folder)
  local lines = {}
  if entry.debian then lines[1] = "install Debian's package: apt-get install " .. entry.debian end
  lines[#lines + 1] = ("or put these files, plain or .gz, into %s (from %s):"):format(folder, entry.home)
  for _, file in ipairs(entry.files) do
    lines[#lines + 1] = ("  %s  %d bytes unpacked"):format(file.name, file.bytes)
  end
  return lines
end

--- Fetches url into path with curl; returns nil, or curl's message.
local function download(url, path)
  local curl = "curl --fail --location --silent --show-error --connect-timeout 20 --output %s %s 2>&1; echo $?"
  local pipe = io.popen(curl:format(quote(path), quote(url)))
  local said = pipe:read("*a")
  pipe:close()
  local message, status = said:match("^(.-)%s*(%d+)%s*$")
  if status == "0" then return nil end
  return message ~= "" and message or "curl ended with status " .. tostring(status)
end

--- Fetches one file: to a temporary name, checked, then renamed; a failure leaves nothing behind. Returns its path.
local function fetch(entry, file, folder, by_hand)
  local url = entry.download.base .. file.name .. entry.download.suffix
  local path = folder .. "/" .. file.name .. entry.download.suffix
  local part = path .. ".part"
  local problem = download(url, part) or problem_of(part, file)
  if problem then
    os.remove(part)
    errors.fail("%s: %s\nBy hand:\n  %s", url, problem, table.concat(by_hand, "\n  "))
  end
  check(lib.lg_file_commit(part, path))
  return path
end

--- Fetches the files of a set that are not in a folder already, right to the byte.
-- @param entry   of the manifest
-- @param folder  made when it is missing
-- @param say     function(line), told of each file
function files.get(entry, folder, say)
  check(lib.lg_dir_make(folder))
  local results = files.check(entry, folder)
  for i, file in ipairs(entry.files) do
    if results[i].problem then
      say(("%s: fetching from %s"):format(file.name, entry.home))
      local path = fetch(entry, file, folder, files.by_hand(entry, folder))
      if results[i].path ~= path then os.remove(results[i].path) end -- a wrong plain file would be found before the .gz
    end
    say(("%s: %d bytes, as in the manifest"):format(file.name, file.bytes))
  end
end

return files
