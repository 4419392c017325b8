-- data_files_spec.lua: the manifest, lgelu data list, check and get.
local C = require("lgelu.C")
local cli = require("lgelu.cli.data")
local errors = require("lgelu.errors")
local files = require("lgelu.data.files")
local manifest = require("lgelu.data.manifest")
local folders = require("tests.spec.support.folders")
local temporary_folder, write = folders.temporary, folders.write

local function read(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local bytes = f:read("*a")
  f:close()
  return bytes
end

local function sha256(text)
  local hex = C.ffi.new("char[65]")
  C.check(C.lib.lg_sha256(hex, text, #text))
  return C.ffi.string(hex)
end

-- A manifest entry of two files, and the folder that serves them, gzipped.
local function entry_and_home()
  local home = temporary_folder()
  local one, two = ("one"):rep(1000), "two"
  write(home .. "/one", one)
  write(home .. "/two", two)
  assert(os.execute(("gzip '%s/one' '%s/two'"):format(home, home)) == 0)
  return {
    folders = { "set" }, home = "https://example.org/set", debian = "dataset-example", licence = "MIT",
    download = { base = "file://" .. home .. "/", suffix = ".gz" },
    files = { { name = "one", bytes = 3000, sha256 = sha256(one) }, { name = "two", bytes = 3, sha256 = sha256(two) } },
  }, home
end

-- Runs the verb; returns its status and what it wrote.
local function run(action, name)
  local out, before = {}, io.write
  io.write = function(...) -- luacheck: ignore
    for i = 1, select("#", ...) do out[#out + 1] = tostring((select(i, ...))) end
  end
  local ok, status = pcall(cli.run, { action = action, name = name })
  io.write = before -- luacheck: ignore
  if not ok then error(status, 0) end
  return status, table.concat(out)
end

local function refused(kind, text, ...)
  local ok, e = pcall(...)
  assert.is_false(ok)
  assert(errors.is(e, kind), tostring(e))
  assert.matches(text, e.message, 1, true)
  return e.message
end

describe("the manifest", function()
  it("has what lgelu data needs of every set", function()
    local data = require("lgelu.data")
    local sources = {}
    for _, name in ipairs(data.sources()) do sources[data.source(name).manifest or name] = true end
    for name, entry in pairs(manifest.all()) do
      assert.is_true(sources[name]) -- only sets that the program reads
      assert.is_string(entry.title)
      assert.is_string(entry.licence)
      assert.matches("^https://", entry.home)
      local download = entry.download
      if download then assert.matches("^https://", download.archive or download.base) else
        assert.is_string(entry.by_hand)
      end
      if download and download.archive then assert.matches("^" .. ("%x"):rep(64) .. "$", download.sha256) end
      assert.is_true(#entry.folders > 0 and #entry.files > 0)
      for _, file in ipairs(entry.files) do
        assert.matches("^" .. ("%x"):rep(64) .. "$", file.sha256)
        for _, copy in ipairs(file.copies or {}) do
          assert.matches("^" .. ("%x"):rep(64) .. "$", copy.sha256)
          assert.is_string(copy.note)
        end
        assert.is_true(file.bytes > 0)
      end
    end
    assert.are.equal(47040016 + 60008 + 7840016 + 10008, files.bytes(manifest.get("fashion_mnist")))
  end)
end)

describe("lgelu data", function()
  it("lists every source with its size and place", function()
    local status, text = run()
    assert.are.equal(0, status)
    for _, name in ipairs(require("lgelu.data").sources()) do assert.matches("\n" .. name .. " ", text) end
    assert.matches("fashion_mnist +files +55.0 MB +MIT", text)
    assert.matches("cifar100 +files +184.4 MB +none stated", text)
    assert.matches("moons +generated +%- +%- +needs no files", text)
  end)

  it("refuses wrong words", function()
    refused("usage", "no action 'chek': expected list, check or get, did you mean 'check'?", run, "chek")
    refused("usage", "did you mean 'fashion_mnist'?", run, "check", "fashion_mnits")
    refused("usage", "data get: which data set?", run, "get")
    refused("usage", "takes no name", run, "list", "moons")
  end)

  it("checks the real Fashion-MNIST", function()
    if not files.locate(manifest.get("fashion_mnist")) then
      print("SKIPPED: dataset-fashion-mnist is not installed")
      return
    end
    local status, text = run("check", "fashion_mnist")
    assert.are.equal(0, status)
    assert.are.equal(4, select(2, text:gsub(": as in the manifest\n", "")))
    status, text = run("get", "fashion_mnist")
    assert.are.equal(0, status)
    assert.matches("is there and as in the manifest", text)
  end)
end)

describe("checking files", function()
  it("names the file and what is wrong with it", function()
    local entry, home = entry_and_home()
    local results, good = files.check(entry, home)
    assert.is_true(good)
    assert.are.same({ { path = home .. "/one.gz" }, { path = home .. "/two.gz" } }, results)
    write(home .. "/one", "a plain file comes before the gzipped one")
    write(home .. "/two", "owt")
    results, good = files.check(entry, home)
    assert.is_false(good)
    assert.are.equal(home .. "/one", results[1].path)
    assert.are.equal("found 41 bytes unpacked, expected 3000", results[1].problem)
    assert.matches("found sha256 " .. sha256("owt"), results[2].problem, 1, true)
    os.remove(home .. "/one")
    local packed = read(home .. "/one.gz")
    write(home .. "/one.gz", packed:sub(1, -9))
    results = files.check(entry, home)
    assert.matches("^gzip data is cut short", results[1].problem)
    os.remove(home .. "/one.gz")
    assert.are.equal("missing", files.check(entry, home)[1].problem)
  end)

  it("makes lgelu data check end with status 1", function()
    local entry, home = entry_and_home()
    local parent = temporary_folder()
    assert(os.execute(("cp -r '%s' '%s/set'"):format(home, parent)) == 0)
    write(parent .. "/set/two", "owt")
    local get, locate = manifest.get, files.locate
    manifest.get = function() return entry end
    files.locate = function() return parent .. "/set" end
    local ok, status, text = pcall(run, "check", "set")
    manifest.get, files.locate = get, locate
    assert.is_true(ok)
    assert.are.equal(1, status)
    assert.matches("/set/one.gz: as in the manifest\n", text, 1, true)
    assert.matches("/set/two: found sha256", text, 1, true)
  end)
end)

describe("getting files", function()
  local function silent() end

  it("fetches what is missing or wrong, checked and renamed", function()
    local entry = entry_and_home()
    local folder = temporary_folder() .. "/deep/set"
    local said = {}
    files.get(entry, folder, function(line) said[#said + 1] = line end)
    assert.is_true(select(2, files.check(entry, folder)))
    assert.are.equal("one: fetching from https://example.org/set", said[1])
    assert.are.equal("two: 3 bytes, as in the manifest", said[4])
    write(folder .. "/two", "owt") -- a wrong plain file would be found before the right .gz
    local one = read(folder .. "/one.gz")
    write(folder .. "/one.gz", one .. "x")
    files.get(entry, folder, silent)
    assert.is_true(select(2, files.check(entry, folder)))
    assert.is_nil(read(folder .. "/two"))
    said = {}
    files.get(entry, folder, function(line) said[#said + 1] = line end)
    assert.are.equal(2, #said) -- nothing fetched
  end)

  it("leaves nothing behind when the home serves something else, and says what to do by hand", function()
    local entry, home = entry_and_home()
    local folder = temporary_folder()
    write(home .. "/one.gz", "<html>moved</html>")
    local message = refused("fail", "one.gz: found 18 bytes unpacked, expected 3000", files.get, entry, folder, silent)
    assert.matches("apt-get install dataset-example", message, 1, true)
    assert.matches("into " .. folder .. " (from https://example.org/set)", message, 1, true)
    assert.matches("one  3000 bytes", message, 1, true)
    assert.are.equal("", io.popen(("ls -A '%s'"):format(folder)):read("*a"))
    os.remove(home .. "/one.gz")
    refused("fail", "curl: (37)", files.get, entry, folder, silent) -- curl's own words: couldn't open the file
    assert.are.equal("", io.popen(("ls -A '%s'"):format(folder)):read("*a"))
  end)

  -- An entry whose files come as one archive, and the archive's path.
  local function archive_entry()
    local entry, home = entry_and_home()
    local pack = "cd '%s' && gunzip *.gz && mkdir top && mv one two top/ && touch top/other && tar -czf a.tar.gz top"
    assert(os.execute(pack:format(home)) == 0)
    local archive = home .. "/a.tar.gz"
    entry.download = { archive = "file://" .. archive, top = "top", sha256 = sha256(read(archive)) }
    entry.debian = nil
    return entry, archive
  end

  it("unpacks an archive that is right, and nothing of it that is not wanted", function()
    local entry = archive_entry()
    local folder, said = temporary_folder() .. "/it's/set", {}
    files.get(entry, folder, function(line) said[#said + 1] = line end)
    assert.are.equal("fetching " .. entry.download.archive, said[1])
    assert.are.equal("two: 3 bytes, as in the manifest", said[3])
    assert.is_true(select(2, files.check(entry, folder)))
    assert.are.equal("one\ntwo\n", io.popen(("ls -A \"%s\""):format(folder)):read("*a"))
    said = {}
    files.get(entry, folder, function(line) said[#said + 1] = line end)
    assert.are.equal(2, #said) -- nothing fetched
    write(folder .. "/two", "owt")
    files.get(entry, folder, silent)
    assert.are.equal("two", read(folder .. "/two"))
  end)

  it("leaves nothing of an archive behind that is wrong or lacks a file", function()
    local entry, archive = archive_entry()
    local folder = temporary_folder()
    local function nothing() assert.are.equal("", io.popen(("ls -A '%s'"):format(folder)):read("*a")) end
    entry.files[2].sha256 = sha256("owt")
    local message = refused("fail", "two: found sha256 " .. sha256("two"), files.get, entry, folder, silent)
    assert.matches("By hand:\n  put these files, plain or .gz, into " .. folder .. " (from file://", message, 1, true)
    nothing()
    entry.files[2].sha256 = sha256("two")
    entry.files[3] = { name = "three", bytes = 1, sha256 = sha256("3") }
    refused("fail", "top/three: Not found in archive", files.get, entry, folder, silent)
    nothing()
    entry.files[3] = nil
    write(archive, read(archive) .. "x")
    refused("fail", "expected sha256 " .. entry.download.sha256, files.get, entry, folder, silent)
    nothing()
    os.remove(archive)
    refused("fail", "curl: (37)", files.get, entry, folder, silent)
    nothing()
  end)

  it("takes a known copy for right, with its note", function()
    local entry, home = entry_and_home()
    entry.files[2].copies = { { sha256 = sha256("owt"), note = "turned around" } }
    write(home .. "/two", "owt")
    local results, good = files.check(entry, home)
    assert.is_true(good)
    assert.are.equal("turned around", results[2].note)
    write(home .. "/two", "tow")
    results, good = files.check(entry, home)
    assert.is_false(good)
    assert.matches("found sha256", results[2].problem, 1, true)
  end)

  it("fails cleanly where it cannot write", function()
    local entry = entry_and_home()
    write("/tmp/lgelu-no-folder", "")
    refused("fail", "/tmp/lgelu-no-folder", files.get, entry, "/tmp/lgelu-no-folder/set", silent)
    os.remove("/tmp/lgelu-no-folder")
  end)
end)
