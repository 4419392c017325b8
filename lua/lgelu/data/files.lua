--- The files of a data set of the manifest on this machine: where they are, whether they are right, how they get here.
-- What it is not: a reader of their content (the sources) or a printer (lgelu.cli.data).
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local find = require("lgelu.data.find")
local manifest = require("lgelu.data.manifest")

local ffi, lib, check = C.ffi, C.lib, C.check

local files = {}

--- The folder that holds all files of a set; nil and find.set's lines when there is none.
-- @param entry  of the manifest
-- @param path   the only folder to look at, or the one above it; nil: the data folders
function files.locate(entry, path)
  local names = {}
  for i, file in ipairs(entry.files) do names[i] = file.name end
  return find.set({ folders = entry.folders, files = names, path = path })
end

--- The folder that holds all files of a set; where there is none, an error that says where it looked and names the
-- ways on.
-- @param name  the set's, in the manifest
-- @param path  as in files.locate
function files.demand(name, path)
  local entry = manifest.get(name)
  local folder, tried = files.locate(entry, path)
  if not folder then
    local package = entry.debian and ", or Debian's package: apt-get install " .. entry.debian or ""
    find.missing(name, tried, {
      entry.download and ("lgelu data get %s%s"):format(name, package)
        or table.concat(files.by_hand(entry, "a folder " .. entry.folders[1]), "\n  "),
      path and "data.path = another folder, or none: then the data folders are searched"
        or ("LGELU_DATA = the folder that holds %s/"):format(entry.folders[1]),
      "data.source=" .. (entry.synthetic or "synthetic"),
    })
  end
  return folder
end

--- Bytes of a set's files, unpacked.
function files.bytes(entry)
  local sum = 0
  for _, file in ipairs(entry.files) do sum = sum + file.bytes end
  return sum
end

--- Compares one file's content, unpacked when it is gzipped, with the manifest.
-- @param path  the file
-- @param file  { bytes =, sha256 =, copies = nil or list of { sha256 =, note = } }
-- @return nil when it is right, else what is wrong, without the file's name; the note when it is one of the copies
local function problem_of(path, file)
  local hex, bytes = ffi.new("char[65]"), ffi.new("int64_t[1]")
  local ok, e = pcall(check, lib.lg_content_sha256(hex, bytes, path))
  if not ok then
    if not errors.is(e, "fail") then error(e, 0) end
    return (e.message:gsub("^" .. path:gsub("%p", "%%%0") .. ": ", ""))
  end
  local found = tonumber(bytes[0])
  if found ~= file.bytes then return ("found %d bytes unpacked, expected %d"):format(found, file.bytes) end
  local sha256 = ffi.string(hex)
  for _, copy in ipairs(file.copies or {}) do
    if sha256 == copy.sha256 then return nil, copy.note end
  end
  if sha256 ~= file.sha256 then return ("found sha256 %s, expected %s"):format(sha256, file.sha256) end
end

--- Checks the files of a set in a folder.
-- @param entry   of the manifest
-- @param folder  where they are, plain or gzipped
-- @return list of { path =, problem = text or nil, note = text or nil } in the manifest's order; true when no file has
--   a problem
function files.check(entry, folder)
  local results, good = {}, true
  for i, file in ipairs(entry.files) do
    local path = find.packed(folder .. "/" .. file.name)
    local problem, note = "missing", nil
    if path then problem, note = problem_of(path, file) end
    results[i] = { path = path or folder .. "/" .. file.name, problem = problem, note = note }
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
  lines[#lines + 1] = ("%sput these files, plain or .gz, into %s (from %s):"):format(entry.debian and "or " or "",
    folder, entry.download and entry.download.archive or entry.home)
  for _, file in ipairs(entry.files) do
    lines[#lines + 1] = ("  %s  %d bytes unpacked"):format(file.name, file.bytes)
  end
  if entry.by_hand then lines[#lines + 1] = "  " .. entry.by_hand end
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

local function fetch_failed(entry, folder, url, problem)
  errors.fail("%s: %s\nBy hand:\n  %s", url, problem, table.concat(files.by_hand(entry, folder), "\n  "))
end

--- Fetches one file: to a temporary name, checked, then renamed; a failure leaves nothing behind. Returns its path.
local function fetch(entry, file, folder)
  local url = entry.download.base .. file.name .. entry.download.suffix
  local path = folder .. "/" .. file.name .. entry.download.suffix
  local part = path .. ".part"
  local problem = download(url, part) or problem_of(part, file)
  if problem then
    os.remove(part)
    fetch_failed(entry, folder, url, problem)
  end
  check(lib.lg_file_commit(part, path))
  return path
end

--- Compares a downloaded archive with the manifest; returns what is wrong, or nil.
local function archive_problem(path, download_entry)
  local hex, bytes = ffi.new("char[65]"), ffi.new("int64_t[1]")
  check(lib.lg_sha256_file(hex, bytes, path))
  if ffi.string(hex) ~= download_entry.sha256 then
    return ("found %d bytes with sha256 %s, expected sha256 %s"):format(tonumber(bytes[0]), ffi.string(hex),
      download_entry.sha256)
  end
end

--- Unpacks the wanted files of an archive into a folder of its own; returns tar's message, or nil.
local function unpack_archive(archive, entry, into)
  local names = {}
  for i, file in ipairs(entry.files) do names[i] = quote(entry.download.top .. "/" .. file.name) end
  local tar = io.popen(("tar --extract --gzip --file %s --directory %s --strip-components=1 %s 2>&1; echo $?"):format(
    quote(archive), quote(into), table.concat(names, " ")))
  local said = tar:read("*a")
  tar:close()
  local message, status = said:match("^(.-)%s*(%d+)%s*$")
  if status ~= "0" then return "tar: " .. (message ~= "" and message or "status " .. tostring(status)) end
end

--- Fetches a set that comes as one archive. Everything happens in the folder `fetch.part`, which goes in the end; the
-- files get their names when all are right.
local function fetch_archive(entry, folder, say)
  local work, url = folder .. "/fetch.part", entry.download.archive
  local archive = work .. "/archive.tar.gz"
  local function clear() os.execute("rm -rf " .. quote(work)) end
  clear() -- what a fetch that was killed has left
  check(lib.lg_dir_make(work))
  say(("fetching %s"):format(url))
  local ok, e = pcall(function()
    local problem = download(url, archive) or archive_problem(archive, entry.download)
      or unpack_archive(archive, entry, work)
    for _, file in ipairs(problem and {} or entry.files) do
      local wrong = problem_of(work .. "/" .. file.name, file)
      problem = problem or wrong and file.name .. ": " .. wrong
    end
    if problem then fetch_failed(entry, folder, url, problem) end
    for _, file in ipairs(entry.files) do
      check(lib.lg_file_commit(work .. "/" .. file.name, folder .. "/" .. file.name))
    end
  end)
  clear()
  if not ok then error(e, 0) end
end

--- Fetches the files of a set that are not in a folder already, right to the byte.
-- @param entry   of the manifest
-- @param folder  made when it is missing
-- @param say     function(line), told of each file
function files.get(entry, folder, say)
  if not entry.download then
    errors.fail("%s cannot be fetched: nobody offers these very files. By hand:\n  %s", entry.title,
      table.concat(files.by_hand(entry, folder), "\n  "))
  end
  check(lib.lg_dir_make(folder))
  local results, good = files.check(entry, folder)
  if entry.download.archive and not good then fetch_archive(entry, folder, say) end
  for i, file in ipairs(entry.files) do
    if results[i].problem and not entry.download.archive then
      say(("%s: fetching from %s"):format(file.name, entry.home))
      local path = fetch(entry, file, folder)
      if results[i].path ~= path then os.remove(results[i].path) end -- a wrong plain file would be found before the .gz
    end
    say(("%s: %d bytes, as in the manifest"):format(file.name, file.bytes))
  end
end

return files
