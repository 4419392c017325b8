#!/bin/sh
# Every C file has the form that .clang-format describes.
git ls-files -co --exclude-standard 'src/*.c' 'src/*.h' 'tests/*.c' 'tests/*.h' | xargs clang-format --dry-run --Werror
