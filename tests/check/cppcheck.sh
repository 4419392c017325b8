#!/bin/sh
# cppcheck finds nothing in the engine, the program and the C tests. $1: the build folder (generated headers).
exec cppcheck --quiet --error-exitcode=1 --enable=warning,performance --inline-suppr --std=c11 \
  --suppress=missingIncludeSystem --suppress=constStatement -j 2 -DLG_ISA=base -I "$1/generated" src tests/c
