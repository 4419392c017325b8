#!/bin/sh
# Every Lua file is free of luacheck's warnings (.luacheckrc).
git ls-files -co --exclude-standard '*.lua' .busted .luacheckrc | xargs luacheck --quiet --no-color
