/* npy.c: NumPy's .npy files: reading versions 1 to 3 and writing version 1.
 * Source of the format: numpy.lib.format's documentation: magic, version, length of the header, the header (a Python
 * dictionary with 'descr', 'fortran_order' and 'shape'), then the elements.
 * Not here: .npz archives, structured and complex types, big-endian files: errors that say so. Called by Lua. */
#include "../core/memory.h"
#include "../kernels/elementwise.h"
#include "../tensor/walk.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  PREFIX = 12,
  HEADER_MAX = 65536,
  ALIGN = 64
}; /* magic, version and a length of 4 bytes; elements start aligned */
static const char MAGIC[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/* Types that are read; wide: 8-byte integers, kept as i32 when all of them fit. */
static const struct {
  const char *descr;
  int32_t dtype, wide;
} types[] = {{"<f4", LG_F32, 0}, {"<f8", LG_F64, 0}, {"<i4", LG_I32, 0},
             {"|u1", LG_U8, 0},  {"|b1", LG_U8, 0},  {"<i8", LG_I32, 1}};

typedef struct {
  const char *path;
  char *text; /* the header, ended by a zero byte */
  const char *at;
  int32_t type, fortran, rank; /* type: index into types */
  int64_t shape[LG_MAX_RANK];
} header;

/* -- the header's dictionary -----------------------------------------------------------------------------------------
 */

static lg_status malformed(const header *h, const char *expected) {
  return lg_fail(LG_EFORMAT, "%s: the .npy header is damaged at byte %lld: expected %s, found '%.20s'", h->path,
                 (long long)(h->at - h->text), expected, h->at);
}

static void skip_space(header *h) {
  while (isspace((unsigned char)*h->at)) h->at++;
}

/* Takes c, after white space, if it comes next. */
static int take(header *h, char c) {
  skip_space(h);
  if (*h->at != c) return 0;
  h->at++;
  return 1;
}

/* A string in quotes of either kind, without escapes. */
static lg_status read_string(header *h, char *out, size_t bytes) {
  skip_space(h);
  char quote = *h->at;
  const char *end = quote == '\'' || quote == '"' ? strchr(h->at + 1, quote) : NULL;
  if (!end || (size_t)(end - h->at) > bytes) return malformed(h, "a short string in quotes");
  size_t n = (size_t)(end - h->at - 1);
  memcpy(out, h->at + 1, n);
  out[n] = 0;
  h->at = end + 1;
  return LG_OK;
}

static lg_status read_descr(header *h) {
  char descr[16];
  skip_space(h);
  if (*h->at == '[') return lg_fail(LG_EFORMAT, "%s: structured arrays are not read, only plain numbers", h->path);
  LG_TRY(read_string(h, descr, sizeof descr));
  for (h->type = 0; h->type < (int32_t)(sizeof types / sizeof *types); h->type++)
    if (strcmp(descr, types[h->type].descr) == 0) return LG_OK;
  return lg_fail(LG_EFORMAT, "%s: elements of type '%s' are not read; expected <f4, <f8, <i4, <i8, |u1 or |b1", h->path,
                 descr);
}

static lg_status read_order(header *h) {
  skip_space(h);
  h->fortran = strncmp(h->at, "True", 4) == 0;
  if (!h->fortran && strncmp(h->at, "False", 5) != 0) return malformed(h, "True or False");
  h->at += h->fortran ? 4 : 5;
  return LG_OK;
}

static lg_status read_shape(header *h) {
  if (!take(h, '(')) return malformed(h, "a shape in parentheses");
  for (h->rank = 0; !take(h, ')'); h->rank++) {
    if (h->rank == LG_MAX_RANK)
      return lg_fail(LG_EFORMAT, "%s: more than %d dimensions are not read", h->path, LG_MAX_RANK);
    if (h->rank > 0 && !take(h, ',')) return malformed(h, "a comma between dimensions");
    if (h->rank > 0 && take(h, ')')) return LG_OK; /* (3,) */
    skip_space(h);
    if (!isdigit((unsigned char)*h->at)) return malformed(h, "a dimension");
    char *end;
    errno = 0;
    h->shape[h->rank] = strtoll(h->at, &end, 10);
    if (errno) return malformed(h, "a dimension of at most 2^63 - 1");
    h->at = end;
    take(h, 'L'); /* long integers, as Python 2 wrote them */
  }
  return LG_OK;
}

static lg_status read_dictionary(header *h) {
  enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
  int seen = 0;
  if (!take(h, '{')) return malformed(h, "'{'");
  while (!take(h, '}')) {
    char key[16];
    LG_TRY(read_string(h, key, sizeof key));
    if (!take(h, ':')) return malformed(h, "':'");
    if (strcmp(key, "descr") == 0) {
      LG_TRY(read_descr(h));
      seen |= DESCR;
    } else if (strcmp(key, "fortran_order") == 0) {
      LG_TRY(read_order(h));
      seen |= ORDER;
    } else if (strcmp(key, "shape") == 0) {
      LG_TRY(read_shape(h));
      seen |= SHAPE;
    } else {
      return lg_fail(LG_EFORMAT, "%s: unknown key '%s' in the .npy header", h->path, key);
    }
    if (!take(h, ',') && *h->at != '}') return malformed(h, "',' or '}'");
  }
  if (seen != (DESCR | ORDER | SHAPE))
    return lg_fail(LG_EFORMAT, "%s: the .npy header lacks %s", h->path,
                   !(seen & DESCR)   ? "descr"
                   : !(seen & ORDER) ? "fortran_order"
                                     : "shape");
  return LG_OK;
}

/* -- reading ----------------------------------------------------------------------------------------------------------
 */

static lg_status short_file(const char *path, const char *part, int64_t found, int64_t expected) {
  return lg_fail(LG_EFORMAT, "%s: %s has %lld bytes, expected %lld", path, part, (long long)found, (long long)expected);
}

/* Reads up to the first element. h->text is to be released by the caller, on failure too. */
static lg_status read_header(header *h, FILE *f) {
  unsigned char p[PREFIX];
  size_t got = fread(p, 1, 10, f);
  if (ferror(f)) return lg_fail(LG_EIO, "%s: cannot be read: %s", h->path, strerror(errno));
  if (got < 10 || memcmp(p, MAGIC, sizeof MAGIC) != 0)
    return lg_fail(LG_EFORMAT, "%s: not a .npy file: it does not start with the bytes '\\x93NUMPY' and a version",
                   h->path);
  int version = p[6];
  if (version < 1 || version > 3)
    return lg_fail(LG_EFORMAT, "%s: .npy version %d is not read; expected 1, 2 or 3", h->path, version);
  int64_t length = p[8] | p[9] << 8;
  if (version > 1) {
    if (fread(p + 10, 1, 2, f) < 2) return short_file(h->path, "the file", 10, PREFIX);
    length |= (int64_t)p[10] << 16 | (int64_t)p[11] << 24;
  }
  if (length > HEADER_MAX)
    return lg_fail(LG_EFORMAT, "%s: the .npy header claims %lld bytes; expected at most %d", h->path, (long long)length,
                   HEADER_MAX);
  h->text = lg_alloc((size_t)length + 1);
  if (!h->text) return lg_fail(LG_EMEM, "cannot allocate %lld bytes", (long long)length);
  got = fread(h->text, 1, (size_t)length, f);
  if ((int64_t)got < length) return short_file(h->path, "the header", (int64_t)got, length);
  h->at = h->text;
  return read_dictionary(h);
}

static void copy_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  (void)at;
  int32_t dtype = *(int32_t *)context;
  lg_k_convert(data[0], dtype, step[0], data[1], dtype, step[1], n);
}

/* t holds the elements of a Fortran-ordered array in file order: *out gets them in C order. */
static lg_status from_fortran(lg_tensor **out, lg_tensor *t, const header *h) {
  lg_tensor view = *t; /* on the stack; the storage is t's */
  int64_t step = 1;
  for (int32_t i = 0; i < h->rank; i++) {
    view.shape[i] = h->shape[i];
    view.stride[i] = step;
    step *= h->shape[i];
  }
  LG_TRY(lg_tensor_new(out, t->dtype, h->rank, h->shape));
  const lg_tensor *both[] = {*out, &view};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 2, both));
  lg_walk_part(&w, 0, w.size, copy_run, &view.dtype);
  return LG_OK;
}

/* n integers of 8 bytes into i32. */
static lg_status narrow(int32_t *out, const int64_t *in, int64_t n, const char *path) {
  for (int64_t i = 0; i < n; i++) {
    if (in[i] < INT32_MIN || in[i] > INT32_MAX)
      return lg_fail(LG_EFORMAT, "%s: element %lld is %lld, which does not fit i32", path, (long long)i + 1,
                     (long long)in[i]);
    out[i] = (int32_t)in[i];
  }
  return LG_OK;
}

/* The elements into t, which is contiguous; the file's rest must be just them. */
static lg_status read_elements(lg_tensor *t, const header *h, FILE *f) {
  int64_t n = lg_tensor_size(t), width = types[h->type].wide ? 8 : lg_dtype_bytes(t->dtype);
  if (!types[h->type].wide) {
    size_t got = n ? fread(lg_tensor_data(t), (size_t)width, (size_t)n, f) : 0;
    return (int64_t)got < n ? short_file(h->path, "the data", (int64_t)got * width, n * width) : LG_OK;
  }
  int64_t *wide = lg_alloc((size_t)(n * width));
  if (!wide) return lg_fail(LG_EMEM, "cannot allocate %lld bytes", (long long)(n * width));
  size_t got = fread(wide, (size_t)width, (size_t)n, f);
  lg_status status = (int64_t)got < n ? short_file(h->path, "the data", (int64_t)got * width, n * width)
                                      : narrow(lg_tensor_data(t), wide, n, h->path);
  lg_release(wide);
  return status;
}

/* Bytes from here to the end of the file. */
static lg_status bytes_left(int64_t *bytes, FILE *f, const char *path) {
  long here = ftell(f);
  if (here < 0 || fseek(f, 0, SEEK_END) || (*bytes = ftell(f)) < 0 || fseek(f, here, SEEK_SET))
    return lg_fail(LG_EIO, "%s: cannot be read: %s", path, strerror(errno));
  *bytes -= here;
  return LG_OK;
}

static lg_status read_open(lg_tensor **out, header *h, FILE *f) {
  LG_TRY(read_header(h, f));
  int64_t found = 0, n = lg_shape_size(h->rank, h->shape), expected;
  int64_t width = types[h->type].wide ? 8 : lg_dtype_bytes(types[h->type].dtype);
  if (n < 0 || __builtin_mul_overflow(n, width, &expected))
    return lg_fail(LG_EFORMAT, "%s: the shape in the .npy header is too large", h->path);
  LG_TRY(bytes_left(&found, f, h->path)); /* before memory is asked for on a damaged header's word */
  if (found != expected) return short_file(h->path, "the data", found, expected);
  LG_TRY(lg_tensor_new(out, types[h->type].dtype, h->rank, h->shape));
  LG_TRY(read_elements(*out, h, f));
  if (!h->fortran || h->rank < 2) return LG_OK;
  lg_tensor *ordered = NULL;
  lg_status status = from_fortran(&ordered, *out, h);
  lg_tensor_free(*out);
  *out = ordered;
  return status;
}

lg_status lg_npy_read(lg_tensor **out, const char *path) {
  if (!out || !path) return lg_fail(LG_EARG, "out or path is NULL");
  *out = NULL;
  FILE *f = fopen(path, "rb");
  if (!f) return lg_fail(errno == ENOENT ? LG_EMISSING : LG_EIO, "%s: cannot be opened: %s", path, strerror(errno));
  header h = {.path = path};
  lg_status status = read_open(out, &h, f);
  lg_release(h.text);
  fclose(f);
  if (status != LG_OK) {
    lg_tensor_free(*out);
    *out = NULL;
  }
  return status;
}

/* -- writing ----------------------------------------------------------------------------------------------------------
 */

/* Header of version 1 into text[1024], padded so that the elements start at a multiple of ALIGN; returns its bytes. */
static int64_t write_header(char *text, const lg_tensor *t) {
  char *p = text + 10;
  const char *descr = "";
  for (size_t i = sizeof types / sizeof *types; i-- > 0;) /* the first of a dtype is its own */
    if (types[i].dtype == t->dtype) descr = types[i].descr;
  p += sprintf(p, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (int32_t i = 0; i < t->rank; i++)
    p += sprintf(p, t->rank == 1 ? "%lld," : i ? ", %lld" : "%lld", (long long)t->shape[i]);
  p += sprintf(p, "), }");
  while ((p + 1 - text) % ALIGN) *p++ = ' ';
  *p++ = '\n';
  int64_t length = p - text - 10;
  memcpy(text, MAGIC, sizeof MAGIC);
  text[6] = 1, text[7] = 0, text[8] = (char)(length & 255), text[9] = (char)(length >> 8);
  return p - text;
}

typedef struct {
  char *out;
  int32_t dtype;
} pack_job;

static void pack_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  pack_job *j = context;
  int64_t width = lg_dtype_bytes(j->dtype);
  lg_k_convert(j->out + at * width, j->dtype, width, data[0], j->dtype, step[0], n);
}

lg_status lg_npy_write(const lg_tensor *t, const char *path) {
  if (!path) return lg_fail(LG_EARG, "path is NULL");
  LG_TRY(lg_tensor_check(t, "the tensor"));
  const lg_tensor *one[] = {t};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 1, one));
  int64_t bytes = w.size * lg_dtype_bytes(t->dtype);
  char *file = lg_alloc((size_t)bytes + 1024);
  if (!file) return lg_fail(LG_EMEM, "%s: cannot allocate %lld bytes", path, (long long)bytes);
  int64_t start = write_header(file, t);
  pack_job job = {file + start, t->dtype};
  lg_walk_part(&w, 0, w.size, pack_run, &job);
  lg_status status = lg_file_replace(path, file, start + bytes);
  lg_release(file);
  return status;
}
