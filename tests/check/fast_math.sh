#!/bin/sh
# No compiler option may change what arithmetic means: it breaks gradients without a word.
if git grep -nE -e '-ff''ast-math|-O''fast|-fassociative-math|-freciprocal-math|-ffinite-math-only|-funsafe-math' \
  -- ':!*.md' ':!tests/check/fast_math.sh'; then
  echo 'FAILED: the lines above ask for inexact mathematics'
  exit 1
fi
