/* rng.h: Philox4x32-10 for C callers: random values as pure functions of (seed, stream, index).
 * What it is not: a generator with a hidden state. Whoever needs a sequence counts the index. */
#ifndef LG_RNG_H
#define LG_RNG_H
#include <stdint.h>

/* Streams are numbered by what draws from them, so that no two uses ever share numbers. The low 32 bits are free for
 * the use itself (an epoch, a parameter's number). */
enum {
  LG_STREAM_INIT = 1,
  LG_STREAM_ORDER,
  LG_STREAM_DROPOUT,
  LG_STREAM_SPLIT,
  LG_STREAM_DATA,
  LG_STREAM_AUGMENT,
  LG_STREAM_USER,
  LG_STREAM_ERASE,
  LG_STREAM_NOISE,
  LG_STREAM_MIX
};
static inline uint64_t lg_stream(uint32_t use, uint32_t number) { return (uint64_t)use << 32 | number; }

/* Four 32-bit words for counter (index, stream) under key seed. */
void lg_philox(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t index);

/* The values of indices 2·pair and 2·pair+1 from their common counter block: what lg_rng_uniform and lg_rng_normal
 * (lgelu.h) give one by one, at half the cost. Uniform and normal draw on the same blocks: give each its own stream. */
void lg_rng_uniform_pair(double out[2], uint64_t seed, uint64_t stream, uint64_t pair);
void lg_rng_normal_pair(double out[2], uint64_t seed, uint64_t stream, uint64_t pair);

/* A whole number in [0, bound), each equally likely; bound ≥ 1. *cursor is the position in the stream: start at 0,
 * it moves by one a draw and by one a rejected draw. */
uint64_t lg_rng_below(uint64_t *cursor, uint64_t bound, uint64_t seed, uint64_t stream);
#endif
