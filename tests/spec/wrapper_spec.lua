-- wrapper_spec.lua: the wrapper ./lgelu: what it installs, asks, builds and passes on.
-- It runs in a checkout of its own, made of the wrapper alone, with dpkg-query, apt-get, id and cmake replaced by
-- scripts that write down how they were called.
local folder

local function execute(command)
  assert.are.equal(0, os.execute(command), command)
end

local function script(path, text)
  local f = assert(io.open(folder .. "/" .. path, "w"))
  f:write("#!/bin/sh\n", text, "\n")
  f:close()
  execute(("chmod +x '%s/%s'"):format(folder, path))
end

-- Runs the wrapper with words, at a terminal when there is something to answer; returns its status, what it printed and
-- the calls that the tools have written down.
local function run(words, answer)
  local terminal = answer and ("python3 tests/spec/support/at_terminal.py '[Y/n] =%s' --"):format(answer) or ""
  local p = io.popen(("(PATH='%s/bin':$PATH; %s '%s/lgelu' %s) 2>&1 %s; echo status=$?"):format(
    folder, terminal, folder, words, answer and "" or "</dev/null"))
  local output, status = p:read("*a"):match("^(.*)status=(%d+)\n$")
  p:close()
  local calls = ""
  local f = io.open(folder .. "/calls")
  if f then
    calls = f:read("*a")
    f:close()
    os.remove(folder .. "/calls")
  end
  return tonumber(status), output, calls
end

describe("the wrapper", function()
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    execute(("mkdir -p '%s'/bin '%s'/src '%s'/lua '%s'/cmake '%s'/tests '%s'/build"):format(
      folder, folder, folder, folder, folder, folder))
    execute(("cp lgelu '%s'/lgelu"):format(folder))
    execute(("cd '%s' && touch CMakeLists.txt CMakePresets.json tests/CMakeLists.txt"):format(folder))
    script("packages.txt", "[run]\npackage-a\n[build]\npackage-b\n[test]\npackage-c")
    script("bin/dpkg-query", ([[
      for p; do case $p in package-*) [ ! -f '%s'/installed-$p ] || echo "installed $p"; esac; done]]):format(folder))
    script("bin/apt-get", ([[
      cd '%s' && echo "apt-get $*" >>calls
      case $* in *install*) [ ! -f broken ] || exit 100; touch installed-package-a installed-package-b;; esac]]):format(
      folder))
    script("bin/id", "echo 0")
    script("bin/cmake", ([[
      cd '%s' && echo "cmake $*" >>calls
      case $* in *--build*) [ ! -f broken ] || { echo 'error: no semicolon'; exit 1; }
      printf '#!/bin/sh\necho "program:$#:$*"\nexit 5\n' >build/lgelu
      chmod +x build/lgelu; touch build/build.ninja;;
      esac]]):format(folder))
    execute(("touch '%s'/installed-package-a '%s'/installed-package-b"):format(folder, folder))
  end)
  after_each(function()
    execute(("rm -r '%s'"):format(folder))
  end)

  it("builds first, then only what has changed, and passes arguments and status on", function()
    local status, output, calls = run("verb 'two words'")
    assert.are.equal(5, status)
    assert.are.equal("lgelu: building into build/ …\nprogram:2:verb two words\n", output)
    assert.are.equal("cmake --preset release\ncmake --build build\n", calls)
    status, output, calls = run("verb")
    assert.are.same({ 5, "program:1:verb\n", "" }, { status, output, calls })
    for _, change in ipairs({ "touch src/new.c", "rm src/new.c", "touch packages.txt CMakeLists.txt" }) do
      execute(("sleep 0.01; cd '%s' && %s"):format(folder, change))
      status, output, calls = run("verb")
      assert.are.same({ 5, "program:1:verb\n", "cmake --build build\n" }, { status, output, calls }, change)
    end
  end)

  it("configures again where an earlier configuration did not come to its end", function()
    execute(("touch '%s/build/CMakeCache.txt'"):format(folder)) -- written before CMake finds that a library is missing
    local _, _, calls = run("verb")
    assert.are.equal("cmake --preset release\ncmake --build build\n", calls)
  end)

  it("shows what the build says when it fails, and runs nothing", function()
    execute(("touch '%s'/broken"):format(folder))
    local status, output = run("verb")
    assert.are.equal(1, status)
    assert.truthy(output:find("error: no semicolon\nlgelu: the build failed (build/build.log)\n", 1, true), output)
    os.remove(folder .. "/broken")
    assert.are.equal(5, (run("verb")))
  end)

  it("installs what is missing without asking when there is no terminal", function()
    os.remove(folder .. "/installed-package-b")
    local status, output, calls = run("verb")
    assert.are.equal(5, status)
    assert.truthy(output:find("these Debian packages are missing: package-b\n", 1, true), output)
    assert.truthy(calls:match("^apt%-get install .*%-%-no%-install%-recommends.* package%-b\n"), calls)
    assert.is_nil(calls:find("package-a", 1, true))
    assert.is_nil(calls:find("package-c", 1, true))
    local _, _, later = run("verb")
    assert.are.equal("", later)
  end)

  it("asks at a terminal, and takes no for an answer", function()
    os.remove(folder .. "/installed-package-b")
    local status, output, calls = run("verb", "n\\n")
    assert.are.equal(1, status, output)
    assert.truthy(output:find("nothing was installed; by hand: apt-get install package-b", 1, true), output)
    assert.are.equal("", calls)
    status, output, calls = run("verb", "\\n")
    assert.are.equal(5, status, output)
    assert.truthy(calls:match("^apt%-get install"), calls)
  end)

  it("fetches package lists when the installation fails, and says what to do when it fails again", function()
    os.remove(folder .. "/installed-package-a")
    execute(("touch '%s'/broken"):format(folder))
    local status, output, calls = run("verb")
    assert.are.equal(1, status)
    assert.truthy(output:find("install by hand: apt-get install package-a", 1, true), output)
    assert.truthy(calls:match("^apt%-get install [^\n]+\napt%-get update [^\n]+\napt%-get install [^\n]+\n$"), calls)
  end)

  it("says that only root can install when there is no sudo", function()
    os.remove(folder .. "/installed-package-a")
    script("bin/id", "echo 1000")
    local only = ("PATH='%s/bin'"):format(folder)
    for _, tool in ipairs({ "sh", "awk", "cat", "sed", "tr", "readlink", "find", "grep", "env" }) do
      execute(("ln -s $(command -v %s) '%s/bin/%s'"):format(tool, folder, tool))
    end
    local p = io.popen(("%s '%s/lgelu' verb 2>&1; echo status=$?"):format(only, folder))
    local output = p:read("*a")
    p:close()
    assert.truthy(output:find("only root can install them: apt-get install package-a\nstatus=1", 1, true), output)
  end)

  it("goes straight to the build on a system without dpkg", function()
    os.remove(folder .. "/bin/dpkg-query")
    os.remove(folder .. "/installed-package-a")
    for _, tool in ipairs({ "sh", "awk", "cat", "sed", "tr", "readlink", "find", "mkdir", "flock", "mv", "touch",
      "chmod" }) do
      execute(("ln -s $(command -v %s) '%s/bin/%s'"):format(tool, folder, tool))
    end
    local function alone()
      local p = io.popen(("PATH='%s/bin' '%s/lgelu' verb 2>&1; echo status=$?"):format(folder, folder))
      local output = p:read("*a")
      p:close()
      return output
    end
    execute(("touch '%s'/broken"):format(folder))
    local output = alone()
    assert.truthy(output:find("no Debian system; install what stands for these packages: package-a package-b", 1, true),
      output)
    os.remove(folder .. "/broken")
    assert.truthy(alone():find("program:1:verb\nstatus=5", 1, true))
  end)
end)
