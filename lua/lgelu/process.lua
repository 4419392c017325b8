--- Child processes from Lua: start, wait, stop. Thin over src/core/process.c; called by lgelu.sweep.
-- What it is not: a shell: words are passed as they are, and output goes into a file.
local C = require("lgelu.C")
local ffi, lib, check = C.ffi, C.lib, C.check

local process = {}

--- Starts a program. It dies when this process does.
-- @param words  list: the program's path, then its arguments; no zero bytes
-- @param log    file for what it prints on either stream; emptied first
-- @return its process id
function process.start(words, log)
  local pid = ffi.new("int64_t[1]")
  check(lib.lg_process_start(pid, table.concat(words, "\0") .. "\0", #words, log))
  return tonumber(pid[0])
end

--- Waits until one of the children ends.
-- @param pids     list of process ids, not empty
-- @param seconds  the longest time to wait
-- @return its index and status (an exit status, or minus the signal that ended it); nil when time is up or after Ctrl-C
function process.wait(pids, seconds)
  local which, status = ffi.new("int32_t[1]"), ffi.new("int32_t[1]")
  check(lib.lg_process_wait(which, status, ffi.new("int64_t[?]", #pids, pids), #pids, seconds))
  if which[0] < 0 then return nil end
  return which[0] + 1, status[0]
end

--- Does nothing for that many seconds, or until Ctrl-C.
function process.sleep(seconds)
  check(lib.lg_process_sleep(seconds))
end

--- Sends Ctrl-C to a child; with force, ends it at once.
function process.stop(pid, force)
  check(lib.lg_process_stop(pid, force and 1 or 0))
end

return process
