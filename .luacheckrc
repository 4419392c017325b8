-- Checked by the test check.luacheck.
std = "luajit"
max_line_length = 120
exclude_files = { "build*/**" }
files["tests/spec"] = { std = "+busted" }
files["recipes"] = { read_globals = { "lg" } }
