/* cifar.c: the binary version of CIFAR-10 and CIFAR-100 (https://www.cs.toronto.edu/~kriz/cifar.html): records one
 * after another, each its label bytes and then 32×32 pixels as planes of red, green, blue, row by row. CIFAR-10 has one
 * label byte, CIFAR-100 two: coarse, fine. No header, so that size and labels are all that can tell a wrong file.
 * Does not know which files make a set: that is the part of the data sources in Lua, which call it. */
#include "../core/memory.h"
#include "../tensor/tensor.h"
#include "stream.h"
#include <string.h>

enum { CHANNELS = 3, SIDE = 32, PIXELS = CHANNELS * SIDE * SIDE, BLOCK = 32 /* records read at once */ };

/* name, classes of each label byte in the file's order (0: no such byte), what the label bytes are called */
#define CIFAR_LIST(X)                                                                                                  \
  X("CIFAR-10", 10, 0, "label", "")                                                                                    \
  X("CIFAR-100", 20, 100, "coarse label", "fine label")
typedef struct {
  const char *name;
  int32_t classes[2];
  const char *label[2];
} format;
static const format formats[] = {
#define X(name, first, second, label_1, label_2) {name, {first, second}, {label_1, label_2}},
    CIFAR_LIST(X)
#undef X
};
enum { FORMATS = sizeof formats / sizeof *formats };

static int64_t label_bytes(const format *f) { return f->classes[1] ? 2 : 1; }
static int64_t record_bytes(const format *f) { return label_bytes(f) + PIXELS; }

/* Bytes of the file's content, unpacked; a gzipped file is read through for it. */
static lg_status content_bytes(int64_t *bytes, const char *path) {
  lg_stream *s;
  LG_TRY(lg_stream_open(&s, path));
  lg_status status = LG_OK;
  *bytes = lg_stream_most(s);
  if (lg_stream_gzipped(s)) {
    char scratch[4096];
    int64_t got;
    *bytes = 0;
    do {
      status = lg_stream_read(&got, s, scratch, sizeof scratch);
      if (status == LG_OK) *bytes += got;
    } while (status == LG_OK && got == (int64_t)sizeof scratch);
  }
  lg_stream_close(s);
  return status;
}

static lg_status check_size(const format *f, int64_t bytes, const char *path) {
  long long record = record_bytes(f);
  if (bytes == 0) return lg_fail(LG_EFORMAT, "%s: is empty, expected %s records of %lld bytes", path, f->name, record);
  if (bytes % record == 0) return LG_OK;
  for (int i = 0; i < FORMATS; i++) {
    long long other = record_bytes(&formats[i]);
    if (bytes % other == 0)
      return lg_fail(LG_EFORMAT,
                     "%s: %lld bytes are %lld of %s's records of %lld bytes, expected %s, whose records have %lld",
                     path, (long long)bytes, bytes / other, formats[i].name, other, f->name, record);
  }
  return lg_fail(LG_EFORMAT,
                 "%s: %lld bytes are %lld of %s's records of %lld bytes with %lld left over: the file is cut "
                 "short or not of this format",
                 path, (long long)bytes, bytes / record, f->name, record, bytes % record);
}

/* One record to its row; row counts from 0. */
static lg_status take_record(uint8_t *pixels, int32_t *label, const uint8_t *record, const format *f, int32_t column,
                             int64_t row, const char *path) {
  for (int64_t i = 0; i < label_bytes(f); i++)
    if (record[i] >= f->classes[i])
      return lg_fail(LG_EFORMAT, "%s: %s %d of record %lld (at byte %lld) is outside 0..%d of %s", path, f->label[i],
                     record[i], (long long)row + 1, (long long)(row * record_bytes(f) + i), f->classes[i] - 1, f->name);
  *label = record[column];
  memcpy(pixels, record + label_bytes(f), PIXELS);
  return LG_OK;
}

static lg_status read_records(uint8_t *pixels, int32_t *labels, int64_t n, lg_stream *s, const format *f,
                              int32_t column, const char *path) {
  int64_t record = record_bytes(f), got = 0;
  uint8_t *block = lg_alloc((size_t)(BLOCK * record));
  if (!block) return lg_fail(LG_EMEM, "%s: cannot allocate %d records", path, BLOCK);
  lg_status status = LG_OK;
  for (int64_t first = 0; status == LG_OK && first < n; first += BLOCK) {
    int64_t rows = n - first < BLOCK ? n - first : BLOCK;
    status = lg_stream_read(&got, s, block, rows * record);
    if (status == LG_OK && got < rows * record) status = lg_fail(LG_EIO, "%s: became shorter while it was read", path);
    for (int64_t i = 0; status == LG_OK && i < rows; i++)
      status = take_record(pixels + (first + i) * PIXELS, labels + first + i, block + i * record, f, column, first + i,
                           path);
  }
  lg_release(block);
  return status;
}

static lg_status read_file(lg_tensor **images, lg_tensor **labels, const char *path, const format *f, int32_t column) {
  int64_t bytes;
  LG_TRY(content_bytes(&bytes, path));
  LG_TRY(check_size(f, bytes, path));
  const int64_t shape[] = {bytes / record_bytes(f), CHANNELS, SIDE, SIDE};
  LG_TRY(lg_tensor_new(images, LG_U8, 4, shape));
  LG_TRY(lg_tensor_new(labels, LG_I32, 1, shape));
  lg_stream *s;
  LG_TRY(lg_stream_open(&s, path));
  lg_status status = read_records(lg_tensor_data(*images), lg_tensor_data(*labels), shape[0], s, f, column, path);
  lg_stream_close(s);
  return status;
}

lg_status lg_cifar_read(lg_tensor **images, lg_tensor **labels, const char *path, int32_t classes, int32_t column) {
  if (!images || !labels) return lg_fail(LG_EARG, "images or labels is NULL");
  *images = *labels = NULL;
  const format *f = NULL;
  for (int i = 0; i < FORMATS; i++)
    if (formats[i].classes[label_bytes(&formats[i]) - 1] == classes) f = &formats[i];
  if (!f) return lg_fail(LG_EARG, "classes = %d, expected 10 (CIFAR-10) or 100 (CIFAR-100)", classes);
  if (column < 0 || column >= label_bytes(f))
    return lg_fail(LG_EARG, "column = %d, expected one of %s's %lld label bytes", column, f->name,
                   (long long)label_bytes(f));
  lg_status status = read_file(images, labels, path, f, column);
  if (status != LG_OK) {
    lg_tensor_free(*images);
    lg_tensor_free(*labels);
    *images = *labels = NULL;
  }
  return status;
}
