/* idx.c: the IDX format of MNIST and its kin: two zero bytes, a type code, the rank, the dimensions as big-endian
 * 32-bit numbers, then the elements, big-endian, last dimension contiguous (http://yann.lecun.com/exdb/mnist).
 * Does not know what images or labels are: that is the part of the data sources in Lua, which call it. */
#include "../core/memory.h"
#include "../tensor/tensor.h"
#include "stream.h"
#include <string.h>

/* code in the file, bytes in the file, dtype of the tensor */
#define IDX_TYPE_LIST(X)                                                                                               \
  X(0x08, 1, LG_U8)                                                                                                    \
  X(0x09, 1, LG_I32)                                                                                                   \
  X(0x0B, 2, LG_I32)                                                                                                   \
  X(0x0C, 4, LG_I32)                                                                                                   \
  X(0x0D, 4, LG_F32)                                                                                                   \
  X(0x0E, 8, LG_F64)
static const struct {
  int32_t code, width, dtype;
} types[] = {
#define X(code, width, dtype) {code, width, dtype},
    IDX_TYPE_LIST(X)
#undef X
};

typedef struct {
  int32_t code, width, dtype, rank;
  int64_t shape[LG_MAX_RANK];
  int64_t size;  /* elements */
  int64_t bytes; /* of the elements in the file */
} header;

static uint32_t big32(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* What a wrong first word looks like, in words. */
static const char *magic_hint(uint32_t magic, int32_t gzipped) {
  if (magic >> 16 == 0x1F8B)
    return gzipped ? ": gzip data inside gzip data, unpack it once by hand" : ": this is still gzipped";
  if (magic >> 16 == 0x504B) return ": this is a zip archive, unpack it";
  if (magic >> 16 == 0x425A) return ": this is bzip2 data, unpack it";
  if (magic >> 24 == 0x3C) return ": this looks like a web page, not like data";
  if ((magic & 0xFFFF) == 0 && (magic >> 24) > 0 && (magic >> 24) <= LG_MAX_RANK)
    return ": the bytes stand in little-endian order";
  return "";
}

static lg_status read_exactly(lg_stream *s, void *to, int64_t bytes, const char *path, const char *what) {
  int64_t got;
  LG_TRY(lg_stream_read(&got, s, to, bytes));
  if (got < bytes)
    return lg_fail(LG_EFORMAT, "%s: ends after %lld of the %lld bytes of %s", path, (long long)got, (long long)bytes,
                   what);
  return LG_OK;
}

static lg_status read_header(header *h, lg_stream *s, const char *path) {
  unsigned char word[4];
  LG_TRY(read_exactly(s, word, 4, path, "the IDX magic number"));
  uint32_t magic = big32(word);
  memset(h, 0, sizeof *h);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (word[0] == 0 && word[1] == 0 && types[i].code == word[2]) {
      h->code = types[i].code;
      h->width = types[i].width;
      h->dtype = types[i].dtype;
    }
  if (!h->width)
    return lg_fail(LG_EFORMAT,
                   "%s: magic number %u (0x%08X) is not IDX%s; expected 0x00000TRR with type TT of 08 09 0B 0C 0D 0E "
                   "and rank RR (0x00000803 for images, 0x00000801 for labels)",
                   path, magic, magic, magic_hint(magic, lg_stream_gzipped(s)));
  h->rank = word[3];
  if (h->rank < 1 || h->rank > LG_MAX_RANK)
    return lg_fail(LG_EFORMAT, "%s: magic number 0x%08X says rank %d, expected 1 to %d", path, magic, h->rank,
                   LG_MAX_RANK);
  unsigned char dims[4 * LG_MAX_RANK];
  LG_TRY(read_exactly(s, dims, 4 * h->rank, path, "the IDX dimensions"));
  for (int32_t i = 0; i < h->rank; i++) h->shape[i] = big32(dims + 4 * i);
  h->size = lg_shape_size(h->rank, h->shape);
  if (h->size < 0 || __builtin_mul_overflow(h->size, (int64_t)h->width, &h->bytes) || h->bytes > INT64_MAX / 8) {
    char text[256];
    return lg_fail(LG_EFORMAT, "%s: dimensions %s overflow", path,
                   lg_shape_text(text, sizeof text, -1, h->rank, h->shape));
  }
  return LG_OK;
}

/* Elements as they stand in the file, at the end of the tensor's memory, to host order and the tensor's dtype in
 * place: element i is read at or behind the place where it is written, and before any later one. */
static void convert(char *to, const char *from, const header *h) {
  if (h->dtype == LG_U8) return; /* bytes are right where they are */
  for (int64_t i = 0; i < h->size; i++) {
    const unsigned char *p = (const unsigned char *)from + i * h->width;
    int32_t narrow;
    uint32_t word;
    uint64_t wide;
    switch (h->code) {
    case 0x09:
      narrow = (int8_t)p[0];
      memcpy(to + 4 * i, &narrow, 4);
      break;
    case 0x0B:
      narrow = (int16_t)(p[0] << 8 | p[1]);
      memcpy(to + 4 * i, &narrow, 4);
      break;
    case 0x0C:
    case 0x0D:
      word = big32(p);
      memcpy(to + 4 * i, &word, 4);
      break;
    case 0x0E:
      wide = (uint64_t)big32(p) << 32 | big32(p + 4);
      memcpy(to + 8 * i, &wide, 8);
      break;
    }
  }
}

/* Counts what is left of the content, for the message of a size mismatch. */
static lg_status count_rest(int64_t *rest, lg_stream *s) {
  char scratch[4096];
  int64_t got;
  *rest = 0;
  do {
    LG_TRY(lg_stream_read(&got, s, scratch, sizeof scratch));
    *rest += got;
  } while (got == (int64_t)sizeof scratch);
  return LG_OK;
}

static lg_status size_mismatch(const header *h, int64_t found, const char *path) {
  char text[256];
  return lg_fail(LG_EFORMAT, "%s: the header says %s of %d byte%s = %lld bytes, found %lld bytes", path,
                 lg_shape_text(text, sizeof text, -1, h->rank, h->shape), h->width, h->width > 1 ? "s" : "",
                 (long long)h->bytes, (long long)found);
}

static lg_status read_elements(lg_tensor *t, const header *h, lg_stream *s, const char *path) {
  char *to = lg_tensor_data(t);
  char *from = to + h->size * lg_dtype_bytes(h->dtype) - h->bytes;
  int64_t got = 0, rest = 0;
  lg_status status = lg_stream_read(&got, s, from, h->bytes);
  if (status == LG_OK) status = count_rest(&rest, s); /* also what verifies a gzip file's checksum */
  if (status != LG_OK) return lg_fail_context(status, "reading %lld bytes of elements", (long long)h->bytes);
  if (got + rest != h->bytes) return size_mismatch(h, got + rest, path);
  convert(to, from, h);
  return LG_OK;
}

static lg_status read_stream(lg_tensor **out, lg_stream *s, const char *path) {
  header h;
  LG_TRY(read_header(&h, s, path));
  if (h.bytes > lg_stream_most(s)) { /* found out before memory is taken for it */
    int64_t found;
    LG_TRY(count_rest(&found, s));
    return size_mismatch(&h, found, path);
  }
  lg_tensor *t;
  LG_TRY(lg_tensor_new(&t, h.dtype, h.rank, h.shape));
  lg_status status = read_elements(t, &h, s, path);
  if (status == LG_OK)
    *out = t;
  else
    lg_tensor_free(t);
  return status;
}

lg_status lg_idx_read(lg_tensor **out, const char *path) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  lg_stream *s;
  LG_TRY(lg_stream_open(&s, path));
  lg_status status = read_stream(out, s, path);
  lg_stream_close(s);
  return status;
}
