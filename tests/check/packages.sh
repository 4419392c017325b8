#!/bin/sh
# packages.txt is complete: every shared library that the program, the engine and the Lua modules load, every Lua module
# that is required and every tool that is called belongs to a package of packages.txt, to one that those depend on, or
# to Debian's required base. $1: the build folder. Skipped where there is no dpkg.
set -eu
command -v dpkg-query >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# covered: packages.txt and the base, with all that they depend on.
grep -E '^[a-z0-9]' packages.txt >"$work/wanted"
# shellcheck disable=SC2016 # dpkg-query's own names
fields='${Package}\t${Essential}\t${Priority}\t${Pre-Depends}, ${Depends}\t${Provides}\t${db:Status-Status}\n'
dpkg-query -W -f "$fields" |
  awk -F '\t' -v wanted="$work/wanted" '
    function names(list, out,   n, i, parts) {
      gsub(/\([^)]*\)|:any|[ ]/, "", list)
      n = split(list, parts, /[,|]+/)
      for (i = 1; i <= n; i++) out[i] = parts[i]
      return n
    }
    function visit(p,   n, i, out) {
      if (p in provided && !(p in depends)) p = provided[p]
      if ((p in seen) || !(p in depends)) return
      seen[p] = 1
      n = names(depends[p], out)
      for (i = 1; i <= n; i++) visit(out[i])
    }
    $6 == "installed" {
      depends[$1] = $4
      if ($2 == "yes" || $3 == "required") base[$1] = 1
      n = names($5, out)
      for (i = 1; i <= n; i++) provided[out[i]] = $1
    }
    END {
      while ((getline line < wanted) > 0) {
        if (!(line in depends)) print "not installed: " line > "/dev/stderr"
        visit(line)
      }
      for (p in base) visit(p)
      for (p in seen) print p
    }' >"$work/covered"

# need WHAT FILE: notes down that something uses FILE.
need() {
  printf '%s\t%s\n' "$1" "$2" >>"$work/needed"
}

libraries() {
  resolved=$(ldd "$1")
  for name in $(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    file=$(echo "$resolved" | awk -v name="$name" '$1 == name && $2 == "=>" { print $3 }')
    [ -z "$file" ] || need "library of $1" "$file"
  done
}

libraries "$1/lgelu"
libraries "$1/liblgelu.so"
need "library that the engine opens" "$(ldconfig -p | awk '$1 == "libopenblas.so.0" { print $NF; exit }')"

# Lua modules: those of the program, and what the specs and their runner use.
modules=$(grep -rhoE "require *\(?[\"'][a-zA-Z0-9_.]+[\"']" lua tests/spec tests/run_spec.lua |
  sed "s/.*[\"']\(.*\)[\"']/\1/" | grep -vE '^(lgelu|ffi$|bit$|jit|string\.buffer|table\.|tests\.)' | sort -u)
for module in $modules; do
  # A C library may hold several modules: then the first part of the name finds it, as Lua's own loader does.
  file=$(luajit -e "local name, root = '$module', ('$module'):match('^[^.]+')
    print(package.searchpath(name, package.path) or package.searchpath(name, package.cpath)
      or package.searchpath(root, package.cpath) or '')")
  need "Lua module $module" "${file:-$module}"
  case $file in *.so) libraries "$file" ;; esac
done

# Tools: first words of commands in Lua, command words of the shell scripts.
{
  grep -rhoE "(popen|execute)\(+[\"'][a-z][a-z0-9_.-]*" lua tests/spec | sed "s/.*[\"']//"
  sed 's/^ *#.*//' lgelu tests/check/*.sh |
    grep -oE '(^|[|;&({]|\bexec|\bif|\bthen|\bdo|\bxargs|\bcommand -v) *[a-z][a-z0-9_.-]+([[:space:];)"]|$)' |
    sed 's/[^a-z0-9_.-]*$//; s/.*[^a-z0-9_.-]//'
} | sort -u | while read -r tool; do
  file=$(command -v "$tool" || true)
  case $tool in sudo | apt-get) continue ;; esac # the wrapper says what to do without them
  case $file in /*) need "tool $tool" "$file" ;; esac
done

# Owners of all files in one query, which reads dpkg's whole database. A file may be known by its name, by the name
# behind its links, or, as /lib is a link into /usr on newer systems, without or with /usr.
cut -f 2 "$work/needed" | sort -u | while read -r file; do
  real=$(readlink -f "$file" || true)
  printf '%s\t%s\n' "$file" "$file" "$file" "/usr$file" "$file" "${file#/usr}" "$file" "$real" "$file" "${real#/usr}"
done >"$work/names"
cut -f 2 "$work/names" | grep '^/' | sort -u | xargs dpkg-query -S >"$work/owners" 2>/dev/null || true
awk -F '\t' -v owners="$work/owners" -v names="$work/names" -v covered="$work/covered" '
  BEGIN {
    while ((getline line < owners) > 0) {
      place = line
      sub(/^.*: /, "", place)
      sub(/[:,].*/, "", line)
      owner[place] = line
    }
    while ((getline < names) > 0) if ($2 in owner && !($1 in package)) package[$1] = owner[$2]
    while ((getline line < covered) > 0) ok[line] = 1
    FS = "\t"
  }
  !($2 in package) { print "FAILED: " $1 ": " $2 " belongs to no package"; bad = 1; next }
  !(package[$2] in ok) {
    print "FAILED: " $1 ": " $2 " belongs to " package[$2] ", which packages.txt does not bring"
    bad = 1
  }
  END {
    if (NR < 20) { print "FAILED: only " NR " uses were found"; bad = 1 }
    exit bad
  }' "$work/needed"
