/* test_data_idx.c: lg_idx_read and lg_content_sha256 on files right and wrong, plain and gzipped. */
#include "../../src/core/status.h"
#include "../../src/tensor/tensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static int failures;
static char folder[] = "/tmp/lgelu-idx-XXXXXX", path[64];

static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s (last error: %s)\n", what, lg_last_error());
}

static void put(const void *data, size_t bytes) {
  FILE *f = fopen(path, "wb");
  expect(f && fwrite(data, 1, bytes, f) == bytes, "write a test file");
  if (f) fclose(f);
}

/* data gzipped into out; returns its size */
static size_t pack(unsigned char *out, size_t room, const void *data, size_t bytes) {
  z_stream z = {0};
  expect(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "deflateInit2");
  z.next_in = (unsigned char *)data;
  z.avail_in = (uInt)bytes;
  z.next_out = out;
  z.avail_out = (uInt)room;
  expect(deflate(&z, Z_FINISH) == Z_STREAM_END, "deflate");
  deflateEnd(&z);
  return z.total_out;
}

/* The file at path must fail with this status and a message that holds every one of the texts. */
static void refuse(const char *what, lg_status status, const char *text1, const char *text2) {
  lg_tensor *t = NULL;
  lg_status got = lg_idx_read(&t, path);
  char message[256];
  snprintf(message, sizeof message, "%s: status %s, expected %s", what, lg_status_name(got), lg_status_name(status));
  expect(got == status && t == NULL, message);
  snprintf(message, sizeof message, "%s: the message lacks '%s' or '%s' or the path", what, text1, text2);
  expect(strstr(lg_last_error(), text1) && strstr(lg_last_error(), text2) && strstr(lg_last_error(), path), message);
  lg_tensor_free(t);
}

static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2,   0, 0, 0, 2, 0,  0,
                                       0, 3, 0, 1, 2, 3, 4, 255, 6, 7, 8, 9, 10, 11};

static void accept_images(const char *what) {
  lg_tensor *t = NULL;
  expect(lg_idx_read(&t, path) == LG_OK, what);
  if (!t) return;
  expect(t->dtype == LG_U8 && t->rank == 3 && t->shape[0] == 2 && t->shape[1] == 2 && t->shape[2] == 3, what);
  expect(memcmp(lg_tensor_data(t), images + 16, 12) == 0, what);
  lg_tensor_free(t);
}

static void test_good(void) {
  unsigned char gz[256];
  put(images, sizeof images);
  accept_images("plain images");
  size_t n = pack(gz, sizeof gz, images, sizeof images);
  put(gz, n);
  accept_images("gzipped images under a name without .gz");
  size_t first = pack(gz, sizeof gz, images, 10); /* RFC 1952: members one after another are one content */
  n = first + pack(gz + first, sizeof gz - first, images + 10, sizeof images - 10);
  put(gz, n);
  accept_images("gzip of two members");
  const unsigned char empty[] = {0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 5};
  put(empty, sizeof empty);
  lg_tensor *t = NULL;
  expect(lg_idx_read(&t, path) == LG_OK && t->shape[0] == 0 && t->shape[1] == 5, "no rows");
  lg_tensor_free(t);
}

/* One vector file of each type, with the values it must give. */
static void test_types(void) {
  const struct {
    unsigned char code, width, dtype, bytes[24];
    double values[3];
  } cases[] = {
      {0x08, 1, LG_U8, {0, 128, 255}, {0, 128, 255}},
      {0x09, 1, LG_I32, {0, 0x80, 0xFF}, {0, -128, -1}},
      {0x0B, 2, LG_I32, {0x80, 0, 0xFF, 0xFE, 0x12, 0x34}, {-32768, -2, 0x1234}},
      {0x0C,
       4,
       LG_I32,
       {0x80, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x12, 0x34, 0x56, 0x78},
       {-2147483648.0, -1, 0x12345678}},
      {0x0D, 4, LG_F32, {0x3F, 0x80, 0, 0, 0xC0, 0x49, 0x0F, 0xDB, 0, 0, 0, 0}, {1, -3.1415927410125732, 0}},
      {0x0E,
       8,
       LG_F64,
       {0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0xC0, 0x09, 0x21, 0xFB, 0x54, 0x44, 0x2D, 0x18},
       {1, -3.141592653589793, 0}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char file[8 + 24] = {0, 0, cases[i].code, 1, 0, 0, 0, 3};
    memcpy(file + 8, cases[i].bytes, 24);
    put(file, 8 + 3 * (size_t)cases[i].width);
    lg_tensor *t = NULL;
    expect(lg_idx_read(&t, path) == LG_OK && t->dtype == cases[i].dtype, "type");
    for (int k = 0; t && k < 3; k++) {
      const void *p = lg_tensor_data(t);
      double v = t->dtype == LG_U8    ? ((const uint8_t *)p)[k]
                 : t->dtype == LG_I32 ? ((const int32_t *)p)[k]
                 : t->dtype == LG_F32 ? (double)((const float *)p)[k]
                                      : ((const double *)p)[k];
      expect(v == cases[i].values[k], "value of a type");
    }
    lg_tensor_free(t);
  }
}

static void test_wrong_magic(void) {
  unsigned char gz[256], twice[256];
  size_t n = pack(gz, sizeof gz, images, sizeof images);
  put(twice, pack(twice, sizeof twice, gz, n));
  refuse("gzip in gzip", LG_EFORMAT, "0x1F8B0800", "gzip data inside gzip data");
  gz[3] = 8; /* with the name of the file inside, as gzip writes it: 529205256, the number that users see */
  put(twice, pack(twice, sizeof twice, gz, n));
  refuse("gzip in gzip with a name", LG_EFORMAT, "529205256", "0x1F8B0808");
  put("PK\3\4aaaaaaaaaaaa", 16);
  refuse("zip", LG_EFORMAT, "zip archive", "is not IDX");
  put("<!DOCTYPE html>....", 19);
  refuse("web page", LG_EFORMAT, "web page", "is not IDX");
  put("\3\10\0\0\2\0\0\0", 8);
  refuse("little-endian", LG_EFORMAT, "little-endian", "is not IDX");
  put("\0\0\7\1\0\0\0\0", 8);
  refuse("unknown type", LG_EFORMAT, "magic number 1793 (0x00000701)", "expected");
  put("\0\0\10\0", 4);
  refuse("rank 0", LG_EFORMAT, "rank 0", "1 to 8");
  put("\0\0\10\11", 4);
  refuse("rank 9", LG_EFORMAT, "rank 9", "1 to 8");
  put("\0\0", 2);
  refuse("two bytes", LG_EFORMAT, "after 2 of the 4 bytes", "magic");
  put("", 0);
  refuse("no bytes", LG_EFORMAT, "after 0 of the 4 bytes", "magic");
  put(images, 9);
  refuse("cut in the dimensions", LG_EFORMAT, "after 5 of the 12 bytes", "dimensions");
}

static void test_wrong_size(void) {
  unsigned char file[64], gz[256];
  memcpy(file, images, sizeof images);
  put(images, sizeof images - 1);
  refuse("one byte short", LG_EFORMAT, "[2, 2, 3] of 1 byte = 12 bytes", "found 11 bytes");
  file[sizeof images] = 0;
  put(file, sizeof images + 1);
  refuse("one byte over", LG_EFORMAT, "= 12 bytes", "found 13 bytes");
  size_t n = pack(gz, sizeof gz, images, sizeof images - 1);
  put(gz, n);
  refuse("gzip, one byte short", LG_EFORMAT, "= 12 bytes", "found 11 bytes");
  n = pack(gz, sizeof gz, file, sizeof images + 1);
  put(gz, n);
  refuse("gzip, one byte over", LG_EFORMAT, "= 12 bytes", "found 13 bytes");
  memset(file + 4, 0x7F, 12); /* 2^93 elements */
  put(file, sizeof images);
  refuse("overflow", LG_EFORMAT, "overflow", "2139062143");
  memcpy(file + 4, "\0\x7F\xFF\xFF\0\0\xFF\xFF\0\0\0\1", 12); /* 550 GB: must not be allocated */
  put(file, sizeof images);
  int64_t live = lg_mem_live();
  lg_mem_reset_peak();
  refuse("huge", LG_EFORMAT, "found 12 bytes", "549747359745 bytes");
  put(gz, pack(gz, sizeof gz, file, sizeof images));
  refuse("huge, gzip", LG_EFORMAT, "found 12 bytes", "549747359745 bytes");
  expect(lg_mem_peak() - live < 2 << 20, "memory was taken for a file that cannot hold it");
}

static void test_damaged_gzip(void) {
  enum { ROWS = 40000 };
  static unsigned char file[8 + ROWS], gz[2 * ROWS];
  memcpy(file, "\0\0\10\1\0\0\x9C\x40", 8);
  uint32_t state = 1;
  for (int i = 0; i < ROWS; i++) file[8 + i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 27);
  size_t n = pack(gz, sizeof gz, file, sizeof file);
  char size[32];
  for (size_t cut = 3; cut < n; cut += cut < 40 || cut + 20 > n ? 1 : 997) { /* also inside header and trailer */
    put(gz, cut);
    snprintf(size, sizeof size, "of %zu bytes", cut);
    refuse("truncated gzip", LG_EFORMAT, "is cut short", size);
  }
  put(gz, n / 2);
  refuse("both byte counts", LG_EFORMAT, "reading 40000 bytes of elements", "is cut short after ");
  gz[n - 6] ^= 1; /* of the CRC */
  put(gz, n);
  refuse("checksum", LG_EFORMAT, "fails its checksum", "40008 bytes unpacked");
  gz[n - 6] ^= 1;
  gz[n] = 'x';
  put(gz, n + 1);
  refuse("bytes behind gzip data", LG_EFORMAT, "followed by other bytes", "40008 bytes unpacked");
  gz[n / 2] ^= 0xFF;
  put(gz, n);
  lg_tensor *t = NULL;
  expect(lg_idx_read(&t, path) == LG_EFORMAT && t == NULL, "a flipped byte inside gzip data");
}

static void test_not_a_file(void) {
  lg_tensor *t = NULL;
  expect(lg_idx_read(&t, NULL) == LG_EARG && lg_idx_read(NULL, path) == LG_EARG && lg_idx_read(&t, "") == LG_EARG,
         "NULL arguments");
  unlink(path);
  refuse("missing", LG_EMISSING, "No such file", "cannot open");
  mkdir(path, 0700);
  refuse("folder", LG_EIO, "is a folder", "expected a regular file");
  rmdir(path);
  mkfifo(path, 0600);
  refuse("pipe without a writer: no waiting", LG_EIO, "pipe", "expected a regular file");
  unlink(path);
  char longer[1000];
  memset(longer, 'a', sizeof longer - 1);
  longer[sizeof longer - 1] = 0;
  expect(lg_idx_read(&t, longer) == LG_EARG && strstr(lg_last_error(), "too long"), "a path too long");
}

static void test_memory(void) {
  unsigned char gz[256];
  put(gz, pack(gz, sizeof gz, images, sizeof images));
  int64_t live = lg_mem_live();
  for (int64_t k = 1; k < 10; k++) { /* allocations of the reader itself and of the tensor, each failing once */
    lg_tensor *t = NULL;
    lg_mem_fail_at(k);
    lg_status status = lg_idx_read(&t, path);
    lg_mem_fail_at(0);
    expect((status == LG_OK) == (t != NULL) && (status == LG_OK || status == LG_EMEM), "a failing allocation");
    expect((k <= 4) == (status == LG_EMEM), "number of allocations of a read");
    lg_tensor_free(t);
    expect(lg_mem_live() == live, "nothing leaks when an allocation fails");
  }
}

static void test_content(void) {
  char plain[65], packed[65];
  int64_t bytes = 0, bytes2 = 0;
  unsigned char gz[256];
  put("abc", 3);
  expect(lg_content_sha256(plain, &bytes, path) == LG_OK && bytes == 3, "sha256 of a plain file");
  expect(!strcmp(plain, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), "FIPS 180-2, B.1");
  put(gz, pack(gz, sizeof gz, "abc", 3));
  expect(lg_content_sha256(packed, &bytes2, path) == LG_OK && bytes2 == 3 && !strcmp(plain, packed), "and gzipped");
  put(gz, 20);
  expect(lg_content_sha256(packed, &bytes2, path) == LG_EFORMAT, "cut short");
  expect(lg_content_sha256(NULL, &bytes2, path) == LG_EARG, "NULL");
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/file", folder);
  test_good();
  test_types();
  test_wrong_magic();
  test_wrong_size();
  test_damaged_gzip();
  test_not_a_file();
  test_memory();
  test_content();
  unlink(path);
  rmdir(folder);
  return failures != 0;
}
