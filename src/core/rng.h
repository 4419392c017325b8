/* rng.h: Philox4x32-10 for C callers: random values as pure functions of (seed, stream, index). */
#ifndef LG_RNG_H
#define LG_RNG_H
#include <stdint.h>

/* Streams are numbered by what draws from them, so that no two uses ever share numbers. The low 32 bits are free for
 * the use itself (an epoch, a parameter's number). */
enum { LG_STREAM_INIT = 1, LG_STREAM_ORDER, LG_STREAM_DROPOUT, LG_STREAM_SPLIT, LG_STREAM_DATA, LG_STREAM_AUGMENT, LG_STREAM_USER };
static inline uint64_t lg_stream(uint32_t use, uint32_t number) { return (uint64_t)use << 32 | number; }

/* Four 32-bit words for counter (index, stream) under key seed. */
void lg_philox(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t index);
#endif
