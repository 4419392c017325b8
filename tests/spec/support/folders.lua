--- folders: a fresh folder and the files in it, for specs that make their own input. The spec removes what it made.
local folders = {}

--- An empty folder of a new name.
function folders.temporary()
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute(("mkdir -p '%s'"):format(folder)) == 0)
  return folder
end

--- Writes bytes to the file path, over what it held.
function folders.write(path, bytes)
  local f = assert(io.open(path, "wb"))
  f:write(bytes)
  f:close()
end

return folders
