#!/bin/sh
# cppcheck finds nothing in the engine, the program and the C tests. $1: the build folder (generated headers).
# Left out, as cppcheck 2.10 is wrong about them here: constStatement (declarations of function pointers), uninitvar and
# legacyUninitvar (assignments in a comma expression; buffers of which only the filled part is read: the compiler's own
# warnings cover it), nullPointerRedundantCheck (tests go on after a
# failed check), invalidFunctionArg (a sum of exponentials taken for its initial 0), and what protobuf-c makes of ONNX's
# schema.
exec cppcheck --quiet --error-exitcode=1 --enable=warning,performance --inline-suppr --std=c11 \
  --suppress=missingIncludeSystem --suppress=constStatement --suppress=uninitvar --suppress=legacyUninitvar \
  --suppress=nullPointerRedundantCheck --suppress=invalidFunctionArg -j 2 --suppress="*:*/generated/onnx.pb-c.h" \
  -DLG_ISA=base -I "$1/generated" src tests/c
