#!/bin/sh
# cmake --install gives a program that works from another folder, with an empty environment, without the checkout.
# $1: the build folder.
set -eu
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$1" --prefix "$prefix/p" >"$prefix/log" || { cat "$prefix/log"; exit 1; }
version=$(sed -n 's/^#define LG_VERSION "\(.*\)"/\1/p' "$1/generated/abi_hash.h")
cd /
found=$(env -i "$prefix/p/bin/lgelu" repl -e 'print(lg.version, require("lgelu.paths").root)')
expected=$(printf '%s\t%s' "$version" "$prefix/p/share/lgelu")
[ "$found" = "$expected" ] || { echo "FAILED: found '$found', expected '$expected'"; exit 1; }
