#!/bin/sh
# Every function that src/lgelu.h declares is exported by the library. $1: the build folder.
declared=$(mktemp)
exported=$(mktemp)
trap 'rm -f "$declared" "$exported"' EXIT
sed 's://.*$::; s:/\*.*\*/::' src/lgelu.h | grep -oE '\blg_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$declared"
nm -D --defined-only "$1/liblgelu.so" | awk '$2 == "T" { print $3 }' | sort -u >"$exported"
[ "$(wc -l <"$declared")" -gt 100 ] || { echo "FAILED: only $(wc -l <"$declared") functions found in lgelu.h"; exit 1; }
lacking=$(comm -23 "$declared" "$exported")
if [ -n "$lacking" ]; then
  echo "FAILED: declared in src/lgelu.h, but not in the library:"
  echo "$lacking"
  exit 1
fi
