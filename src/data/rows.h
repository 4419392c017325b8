/* rows.h: how the rows (axis 0) of a data tensor lie in memory. Called by loader.c and stats.c. */
#ifndef LG_ROWS_H
#define LG_ROWS_H
#include "../tensor/tensor.h"

typedef struct {
  const char *data;
  int32_t dtype;
  int64_t rows;      /* N */
  int64_t width;     /* elements of a row, contiguous */
  int64_t stride;    /* elements from one row to the next */
  int64_t row_bytes; /* width in bytes */
  int64_t stride_bytes;
  int32_t channels;     /* of equal size one after another in a row; 0 and 1: the row is one */
  int64_t channel_size; /* elements of a channel in a row */
} lg_rows;

/* what: the tensor's name in messages. Checks rank ≥ 1, rows contiguous inside, channels = axis 1 when channels > 1. */
lg_status lg_rows_of(lg_rows *out, const lg_tensor *t, int32_t channels, const char *what);
/* Checks that index[n] is not empty and lies in 0..rows-1. */
lg_status lg_rows_check_index(const int64_t *index, int64_t n, int64_t rows);
#endif
