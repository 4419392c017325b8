/* test_h5.c: the HDF5 shim from C: round trips, chunking and growth, errors, ids left open, and files cut short, with
 * flipped bytes or made of garbage. Prints what failed; exit 0 = pass. */
#include "../../src/core/memory.h"
#include "../../src/core/status.h"
#include "../../src/io/h5.h"
#include "../../src/tensor/tensor.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static char folder[] = "/tmp/lgelu-h5-XXXXXX", path[64];

#define EXPECT(condition, ...)                                                                                         \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      failures++;                                                                                                      \
      printf("%s:%d: %s (last error: %s): ", __FILE__, __LINE__, #condition, lg_last_error());                         \
      printf(__VA_ARGS__);                                                                                             \
      printf("\n");                                                                                                    \
    }                                                                                                                  \
  } while (0)
#define OK(call) EXPECT((call) == LG_OK, "expected success")
#define FAILS(status, fragment, call)                                                                                  \
  do {                                                                                                                 \
    lg_status got_ = (call);                                                                                           \
    EXPECT(got_ == (status) && strstr(lg_last_error(), fragment), "status %s, expected %s with '%s'",                  \
           lg_status_name(got_), lg_status_name(status), fragment);                                                    \
  } while (0)

static lg_tensor *tensor(int32_t dtype, int32_t rank, const int64_t *shape) {
  lg_tensor *t = NULL;
  OK(lg_tensor_new(&t, dtype, rank, shape));
  return t;
}

/* A run-like file: a matrix, an extendable column, strings and attributes. */
static void make_file(void) {
  lg_h5 *f = NULL;
  OK(lg_h5_open(&f, path, "w"));
  lg_tensor *m = tensor(LG_F32, 2, (int64_t[]){3, 5}), *none = tensor(LG_F64, 1, (int64_t[]){0});
  float *x = lg_tensor_data(m);
  for (int i = 0; i < 15; i++) x[i] = (float)i - 7.5f;
  OK(lg_h5_write(f, "/deep/er/matrix", m));
  OK(lg_h5_write(f, "/column", none));
  OK(lg_h5_write_texts(f, "/names", "fc1\0größe", 2));
  OK(lg_h5_attr_set_text(f, "/", "name", "mlp, größer"));
  OK(lg_h5_attr_set_text(f, "/column", "units", ""));
  OK(lg_h5_attr_set_i64(f, "/", "seed", INT64_MIN));
  OK(lg_h5_attr_set_f64(f, "/deep", "t", 0.1));
  lg_tensor_free(m);
  lg_tensor_free(none);
  OK(lg_h5_close(f));
}

/* 0 when the file opens and everything in it is what make_file wrote; 1 when something failed with a message that names
 * the file; 2 when a wrong value came back without an error, or an error said nothing. */
static int read_file(void) {
  lg_h5 *f = NULL;
  lg_tensor *m = NULL, *c = NULL;
  char *names = NULL, *name = NULL;
  int64_t n = 0, seed = 0;
  double t = 0;
  lg_status s = lg_h5_open(&f, path, "r");
  if (s == LG_OK) s = lg_h5_read(&m, f, "/deep/er/matrix");
  if (s == LG_OK) s = lg_h5_read(&c, f, "/column");
  if (s == LG_OK) s = lg_h5_read_texts(&names, &n, f, "/names");
  if (s == LG_OK) s = lg_h5_attr_text(&name, f, "/", "name");
  if (s == LG_OK) s = lg_h5_attr_i64(&seed, f, "/", "seed");
  if (s == LG_OK) s = lg_h5_attr_f64(&t, f, "/deep", "t");
  int result = s == LG_OK ? 0 : strstr(lg_last_error(), path) ? 1 : 2;
  if (s == LG_OK) {
    const float *x = lg_tensor_data(m);
    for (int i = 0; i < 15; i++)
      if (x[i] != (float)i - 7.5f) result = 2;
    if (m->rank != 2 || m->shape[0] != 3 || m->shape[1] != 5 || c->rank != 1 || c->shape[0] != 0) result = 2;
    if (n != 2 || strcmp(names, "fc1") || strcmp(names + 4, "größe") || strcmp(name, "mlp, größer")) result = 2;
    if (seed != INT64_MIN || t != 0.1) result = 2;
  }
  lg_tensor_free(m);
  lg_tensor_free(c);
  lg_text_free(names);
  lg_text_free(name);
  if (f) lg_h5_close(f);
  return result;
}

static void test_round_trip(void) {
  make_file();
  EXPECT(read_file() == 0, "what was written comes back");
  lg_h5 *f = NULL;
  OK(lg_h5_open(&f, path, "r"));
  EXPECT(lg_h5_sealed(f) == 1, "our own files are sealed");
  char *text = NULL;
  OK(lg_h5_list(&text, f, "/"));
  EXPECT(text && !strcmp(text, "column\ndeep\nnames\n"), "children are '%s'", text);
  lg_text_free(text);
  OK(lg_h5_attr_list(&text, f, "/"));
  EXPECT(text && !strcmp(text, "name\nseed\n"), "attributes are '%s'", text);
  lg_text_free(text);
  EXPECT(lg_h5_exists(f, "/deep/er") && !lg_h5_exists(f, "/deep/none/x") && !lg_h5_exists(f, "/column/x"), "exists");
  int32_t kind[3] = {-1, -1, -1};
  OK(lg_h5_attr_kind(&kind[0], f, "/", "none"));
  OK(lg_h5_attr_kind(&kind[1], f, "/", "name"));
  OK(lg_h5_attr_kind(&kind[2], f, "/deep", "t"));
  EXPECT(kind[0] == 0 && kind[1] == 1 && kind[2] == 3, "kinds %d %d %d", kind[0], kind[1], kind[2]);
  OK(lg_h5_close(f));
}

static void test_rows(void) {
  make_file();
  lg_tensor *v = tensor(LG_F64, 1, (int64_t[]){1}), *back = NULL;
  lg_h5 *f = NULL;
  for (int i = 0; i < 700; i += i < 3 ? 1 : 100) { /* across reopening and past the first chunk */
    OK(lg_h5_open(&f, path, "a"));
    for (int k = i; k < i + (i < 3 ? 1 : 100); k++) {
      *(double *)lg_tensor_data(v) = sqrt(k);
      OK(lg_h5_write_rows(f, "/column", k, v));
    }
    OK(lg_h5_close(f));
  }
  OK(lg_h5_open(&f, path, "a"));
  *(double *)lg_tensor_data(v) = -1;
  OK(lg_h5_write_rows(f, "/column", 2, v)); /* an earlier row is written over, later ones stay */
  FAILS(LG_EARG, "gap", lg_h5_write_rows(f, "/column", 704, v));
  FAILS(LG_EARG, "gap", lg_h5_write_rows(f, "/column", -1, v));
  lg_tensor *wide = tensor(LG_F64, 2, (int64_t[]){1, 1}), *f32 = tensor(LG_F32, 1, (int64_t[]){1});
  FAILS(LG_ESHAPE, "f64[1, 1]", lg_h5_write_rows(f, "/column", 0, wide));
  FAILS(LG_EDTYPE, "f32[1]", lg_h5_write_rows(f, "/column", 0, f32));
  FAILS(LG_EARG, "group", lg_h5_write_rows(f, "/deep", 0, v));
  FAILS(LG_EMISSING, "/none", lg_h5_write_rows(f, "/none", 0, v));
  OK(lg_h5_read(&back, f, "/column"));
  EXPECT(back->shape[0] == 703, "%lld rows", (long long)back->shape[0]);
  const double *x = lg_tensor_data(back);
  for (int k = 0; k < 703; k++) EXPECT(x[k] == (k == 2 ? -1 : sqrt(k)), "row %d is %g", k, x[k]);
  lg_tensor_free(back);
  lg_tensor_free(wide);
  lg_tensor_free(f32);
  lg_tensor_free(v);
  lg_h5_discard(f);
}

static void test_shapes(void) {
  static const struct {
    int32_t rank;
    int64_t shape[8];
  } cases[] = {
      {0, {0}}, {1, {1}}, {1, {700000}}, {2, {0, 3}}, {2, {3, 0}}, {2, {2, 400000}}, {8, {1, 2, 1, 3, 1, 2, 1, 2}}};
  for (int32_t dtype = 0; dtype < LG_DTYPE_COUNT; dtype++) {
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      lg_tensor *t = tensor(dtype, cases[c].rank, cases[c].shape), *back = NULL;
      size_t bytes = (size_t)lg_tensor_size(t) * (size_t)lg_dtype_bytes(dtype);
      for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)lg_tensor_data(t))[i] = (unsigned char)(i * 7 + i / 256) & 0x3F;
      lg_h5 *f = NULL;
      OK(lg_h5_open(&f, path, "w"));
      OK(lg_h5_write(f, "/a/b", t));
      OK(lg_h5_write(f, "/a/b", t)); /* replaces */
      OK(lg_h5_close(f));
      OK(lg_h5_open(&f, path, "r"));
      OK(lg_h5_read(&back, f, "/a/b"));
      EXPECT(back && back->dtype == dtype && back->rank == t->rank, "dtype %d case %zu", dtype, c);
      for (int i = 0; i < t->rank; i++) EXPECT(back->shape[i] == t->shape[i], "dtype %d case %zu axis %d", dtype, c, i);
      EXPECT(!memcmp(lg_tensor_data(back), lg_tensor_data(t), bytes), "dtype %d case %zu bytes", dtype, c);
      lg_tensor_free(t);
      lg_tensor_free(back);
      OK(lg_h5_close(f));
    }
  }
}

static void test_views(void) {
  lg_tensor *m = tensor(LG_F64, 2, (int64_t[]){3, 4}), *turned = NULL, *back = NULL;
  for (int i = 0; i < 12; i++) ((double *)lg_tensor_data(m))[i] = i;
  OK(lg_tensor_view(&turned, m, 2, (int64_t[]){4, 3}, (int64_t[]){1, 4}, 0));
  lg_h5 *f = NULL;
  OK(lg_h5_open(&f, path, "w"));
  OK(lg_h5_write(f, "/turned", turned));
  OK(lg_h5_write_rows(f, "/turned", 4, turned));
  OK(lg_h5_read(&back, f, "/turned"));
  for (int i = 0; i < 24; i++) {
    double want = i / 3 % 4 + 4 * (i % 3), got = ((double *)lg_tensor_data(back))[i];
    EXPECT(got == want, "element %d is %g, expected %g", i, got, want);
  }
  lg_h5_discard(f);
  lg_tensor_free(back);
  lg_tensor_free(turned);
  lg_tensor_free(m);
}

static void test_arguments(void) {
  lg_h5 *f = NULL;
  lg_tensor *t = NULL;
  char *text = NULL;
  int64_t n;
  make_file();
  FAILS(LG_EARG, "NULL", lg_h5_open(NULL, path, "r"));
  FAILS(LG_EARG, "NULL", lg_h5_open(&f, NULL, "r"));
  FAILS(LG_EARG, "mode", lg_h5_open(&f, path, "rw"));
  FAILS(LG_EARG, "mode", lg_h5_open(&f, path, ""));
  FAILS(LG_EMISSING, "no.h5", lg_h5_open(&f, "/tmp/lgelu-there-is-no.h5", "r"));
  FAILS(LG_EMISSING, "no.h5", lg_h5_open(&f, "/tmp/lgelu-there-is-no.h5", "a"));
  FAILS(LG_EIO, "folder", lg_h5_open(&f, folder, "r"));
  FAILS(LG_EIO, "not a file", lg_h5_open(&f, "/dev/zero", "r"));
  FAILS(LG_EARG, "NULL", lg_h5_close(NULL));
  FAILS(LG_EARG, "NULL", lg_h5_read(&t, NULL, "/column"));
  OK(lg_h5_open(&f, path, "r"));
  FAILS(LG_EARG, "NULL", lg_h5_read(NULL, f, "/column"));
  FAILS(LG_EARG, "NULL", lg_h5_read(&t, f, NULL));
  FAILS(LG_EARG, "'/'", lg_h5_read(&t, f, "column"));
  FAILS(LG_EARG, "empty", lg_h5_read(&t, f, "/deep//er"));
  FAILS(LG_EARG, "'.'", lg_h5_read(&t, f, "/deep/./er"));
  FAILS(LG_EARG, "group", lg_h5_read(&t, f, "/deep"));
  FAILS(LG_EMISSING, "/deeper", lg_h5_read(&t, f, "/deeper"));
  FAILS(LG_EDTYPE, "strings", lg_h5_read(&t, f, "/names"));
  FAILS(LG_EDTYPE, "numbers", lg_h5_read_texts(&text, &n, f, "/column"));
  FAILS(LG_EMISSING, "'none'", lg_h5_attr_text(&text, f, "/", "none"));
  FAILS(LG_EDTYPE, "an integer, expected text", lg_h5_attr_text(&text, f, "/", "seed"));
  FAILS(LG_EDTYPE, "text, expected an integer", lg_h5_attr_i64(&n, f, "/", "name"));
  FAILS(LG_EMISSING, "/none", lg_h5_attr_text(&text, f, "/none", "x"));
  FAILS(LG_ESTATE, "reading only", lg_h5_attr_set_text(f, "/", "x", "y"));
  FAILS(LG_ESTATE, "reading only", lg_h5_group(f, "/x"));
  FAILS(LG_EARG, "data set", lg_h5_list(&text, f, "/column"));
  OK(lg_h5_close(f));
  OK(lg_h5_open(&f, path, "a"));
  FAILS(LG_EARG, "UTF-8 at byte 3", lg_h5_attr_set_text(f, "/", "x", "gr\xF6\xDF"));
  FAILS(LG_EARG, "string 2 is not UTF-8 at byte 1", lg_h5_write_texts(f, "/x", "a\0\xED\xA0\x80", 2)); /* a surrogate */
  FAILS(LG_EEXISTS, "group", lg_h5_write_texts(f, "/deep", "a", 1));
  FAILS(LG_EEXISTS, "data set", lg_h5_group(f, "/column"));
  FAILS(LG_EARG, "NULL", lg_h5_write(f, "/x", NULL));
  OK(lg_h5_group(f, "/deep"));
  lg_h5_discard(f);
  EXPECT(read_file() == 0, "discarded changes leave the file as it was");
}

static long file_bytes(const char *name) {
  struct stat s;
  return stat(name, &s) == 0 ? (long)s.st_size : -1;
}
static int entries(void) {
  char command[96];
  snprintf(command, sizeof command, "exit $(ls -A %s | wc -l)", folder);
  return WEXITSTATUS(system(command));
}

/* A file that may not grow past 2 KiB stands for a full disk. */
static void test_full_disk(void) {
  make_file();
  struct rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 2048;
  signal(SIGXFSZ, SIG_IGN);
  lg_h5 *f = NULL;
  OK(lg_h5_open(&f, path, "a"));
  OK(lg_h5_attr_set_text(f, "/", "name", "lost"));
  setrlimit(RLIMIT_FSIZE, &small);
  FAILS(LG_EIO, "File too large", lg_h5_close(f));
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT(strstr(lg_last_error(), path), "the message names the file");
  EXPECT(read_file() == 0, "the old file is whole");
  EXPECT(entries() == 1, "nothing is left beside it: %d entries", entries());
  OK(lg_h5_open(&f, "/tmp/lgelu-no-folder/x.h5", "w"));
  FAILS(LG_EIO, "/tmp/lgelu-no-folder/x.h5", lg_h5_close(f));
}

static unsigned char *slurp(long *bytes) {
  *bytes = file_bytes(path);
  unsigned char *data = malloc((size_t)*bytes);
  FILE *in = fopen(path, "rb");
  EXPECT(data && in && fread(data, 1, (size_t)*bytes, in) == (size_t)*bytes, "reading %s", path);
  if (in) fclose(in);
  return data;
}
static void spit(const unsigned char *data, long bytes) {
  FILE *out = fopen(path, "wb");
  EXPECT(out && fwrite(data, 1, (size_t)bytes, out) == (size_t)bytes, "writing %s", path);
  if (out) fclose(out);
}

enum { FLIPS = 300, CUTS = 200, NOISE = 40, CASES = FLIPS + CUTS + NOISE };

static unsigned draw(unsigned *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

/* Writes the n-th damaged file: flipped bits, cuts, noise with and without HDF5's signature before it. Returns where it
 * was damaged. */
static long damage(int n, const unsigned char *good, unsigned char *bad, long bytes) {
  unsigned state = (unsigned)n;
  draw(&state);
  memcpy(bad, good, (size_t)bytes);
  long at = 0;
  if (n < FLIPS) {
    at = n < 128 ? n : (long)draw(&state) % bytes;
    bad[at] ^= (unsigned char)(1 << (draw(&state) & 7));
    spit(bad, bytes);
  } else if (n < FLIPS + CUTS) {
    int cut = n - FLIPS;
    at = cut < 100 ? cut * bytes / 100 : bytes - 1 - (cut - 100);
    spit(good, at);
  } else {
    for (long k = n % 2 ? 8 + n % 40 : 0; k < bytes; k++) bad[k] = (unsigned char)draw(&state);
    spit(bad, bytes);
  }
  return at;
}

/* Reads damaged files in a child with a time limit, so that a crash or a hang is one failure with its place and not the
 * end of the test: result[n] keeps its first value when the child does not come back from the n-th. */
static void test_damage(void) {
  make_file();
  long bytes, at;
  unsigned char *good = slurp(&bytes), *bad = malloc((size_t)bytes);
  signed char *result = mmap(NULL, CASES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT(bytes > 2048 && bytes < 65536 && result != MAP_FAILED, "%ld bytes", bytes);
  memset(result, -1, CASES);
  for (int from = 0; from < CASES;) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
      for (int n = from; n < CASES; n++) {
        alarm(20);
        damage(n, good, bad, bytes);
        result[n] = (signed char)read_file();
      }
      _exit(0);
    }
    waitpid(pid, NULL, 0);
    while (from < CASES && result[from] >= 0) from++;
    from++; /* past the one it did not come back from, if any */
  }
  for (int n = 0; n < CASES; n++) {
    at = damage(n, good, bad, bytes);
    /* Damage to the seal's mark alone leaves the contents right, and whoever does not ask for a seal may read them. */
    int contents = n < FLIPS          ? at >= bytes - LG_SEAL_BYTES && at < bytes - LG_SEAL_BYTES + 16
                   : n < FLIPS + CUTS ? at >= bytes - LG_SEAL_BYTES
                                      : 0;
    EXPECT(result[n] == 1 || (result[n] == 0 && contents), "case %d: damage at %ld of %ld gives %d", n, at, bytes,
           result[n]);
  }
  spit(good, bytes);
  EXPECT(read_file() == 0, "the undamaged file opens");
  munmap(result, CASES);
  free(good);
  free(bad);
}

/* Every allocation of a write and a read fails once: an error, no leak, and the file as it was or as it should be. */
static void test_memory(void) {
  make_file();
  lg_h5 *f;
  for (int n = 1; n < 40; n++) {
    int64_t before = lg_mem_live();
    lg_mem_fail_at(n);
    lg_status s = lg_h5_open(&f, path, "a");
    if (s == LG_OK) {
      s = lg_h5_write_texts(f, "/more", "x\0y", 2);
      lg_status closed = lg_h5_close(f);
      if (s == LG_OK) s = closed;
    }
    lg_mem_fail_at(0);
    EXPECT(s == LG_OK || s == LG_EMEM || s == LG_EMISSING, "allocation %d: %s", n, lg_status_name(s));
    EXPECT(lg_mem_live() == before, "allocation %d leaks %lld bytes", n, (long long)(lg_mem_live() - before));
    EXPECT(read_file() == 0, "allocation %d harms the file", n);
    lg_mem_fail_at(n);
    int result = read_file();
    lg_mem_fail_at(0);
    EXPECT(result < 2 || strstr(lg_last_error(), "memory"), "reading, allocation %d", n);
    EXPECT(lg_mem_live() == before, "reading, allocation %d leaks", n);
  }
}

int main(void) {
  if (!mkdtemp(folder)) return perror(folder), 1;
  snprintf(path, sizeof path, "%s/run.h5", folder);
  test_round_trip();
  test_rows();
  test_shapes();
  test_views();
  test_arguments();
  test_full_disk();
  test_damage();
  test_memory();
  EXPECT(lg_mem_live() == 0, "%lld bytes are left", (long long)lg_mem_live());
  /* Every id was given back: an open one would keep a file, and its lock, open. Property lists of HDF5's own count. */
  EXPECT(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0, "%ld objects are open",
         (long)H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL));
  static const H5I_type_t kinds[] = {H5I_FILE, H5I_GROUP, H5I_DATASPACE, H5I_DATASET, H5I_ATTR};
  hsize_t left = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    H5Inmembers(kinds[i], &left);
    EXPECT(left == 0, "%d ids of kind %d are left", (int)left, (int)kinds[i]);
  }
  unlink(path);
  rmdir(folder);
  printf(failures ? "test_h5: %d failed\n" : "test_h5: passed\n", failures);
  return failures != 0;
}
