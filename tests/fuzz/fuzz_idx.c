/* fuzz_idx.c: seeded, bounded fuzzing of lg_idx_read: files that are right, then cut, stretched, with bytes changed, in
 * and around gzip. Every read must give a whole tensor or an error, take no more memory than the file can justify, and
 * leak nothing. Runs in the test suite; under ASan and UBSan it also checks every access. Argument: rounds (4000). */
#define _GNU_SOURCE /* memfd_create */
#include "../../src/core/rng.h"
#include "../../src/core/status.h"
#include "../../src/tensor/tensor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { ROOM = 4096 };
static uint64_t drawn;
static uint32_t draw(uint32_t below) { return (uint32_t)(lg_rng_uniform(20, 1, drawn++) * below); }

static size_t pack(unsigned char *out, const unsigned char *data, size_t bytes) {
  z_stream z = {0};
  if (deflateInit2(&z, (int)draw(10), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
  z.next_in = (unsigned char *)data;
  z.avail_in = (uInt)bytes;
  z.next_out = out;
  z.avail_out = ROOM;
  deflate(&z, Z_FINISH);
  deflateEnd(&z);
  return z.total_out;
}

static size_t right_file(unsigned char *out) {
  static const unsigned char codes[] = {0x08, 0x09, 0x0B, 0x0C, 0x0D, 0x0E}, widths[] = {1, 1, 2, 4, 4, 8};
  uint32_t type = draw(6), rank = 1 + draw(4);
  size_t size = widths[type], at = 4 + 4 * (size_t)rank;
  memset(out, 0, at);
  out[2] = codes[type];
  out[3] = (unsigned char)rank;
  for (uint32_t i = 0; i < rank; i++) {
    out[7 + 4 * i] = (unsigned char)draw(4);
    size *= out[7 + 4 * i];
  }
  for (size_t i = 0; i < size; i++) out[at + i] = (unsigned char)draw(256);
  return at + size;
}

/* Changes bytes, mostly near the front where the header is, or the length. */
static size_t mutate(unsigned char *file, size_t bytes) {
  for (uint32_t k = draw(4); k > 0 && bytes > 0; k--) {
    size_t at = draw(3) ? draw(bytes < 24 ? (uint32_t)bytes : 24) : draw((uint32_t)bytes);
    file[at] = draw(2) ? (unsigned char)draw(256) : (unsigned char)(file[at] ^ 1u << draw(8));
  }
  if (draw(3) == 0) bytes = draw((uint32_t)bytes + 1);
  if (draw(4) == 0)
    for (uint32_t k = draw(40); k > 0 && bytes < ROOM; k--) file[bytes++] = (unsigned char)draw(256);
  return bytes;
}

int main(int argc, char **argv) {
  static unsigned char plain[ROOM], file[2 * ROOM];
  char path[64];
  int fd = memfd_create("lgelu-fuzz", MFD_CLOEXEC), rounds = argc > 1 ? atoi(argv[1]) : 4000, failures = 0, good = 0,
      refused = 0;
  if (fd < 0) return 1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  for (int round = 0; round < rounds && failures < 10; round++) {
    size_t bytes = right_file(plain);
    int broken = draw(8) != 0, layers = (int)draw(3);
    if (broken) bytes = mutate(plain, bytes);
    memcpy(file, plain, bytes);
    if (layers > 0) bytes = pack(file, plain, bytes);
    if (broken && draw(2)) bytes = mutate(file, bytes);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, file, bytes, 0) != (ssize_t)bytes) return 1;
    lg_tensor *t = NULL;
    int64_t live = lg_mem_live();
    lg_mem_reset_peak();
    lg_status status = lg_idx_read(&t, path);
    const char *wrong = (status == LG_OK) != (t != NULL)                         ? "status and tensor disagree"
                        : status != LG_OK && status != LG_EFORMAT                ? "an unexpected status"
                        : status == LG_EFORMAT && !strstr(lg_last_error(), path) ? "the message does not name the file"
                        : !broken && status != LG_OK                             ? "a right file is refused"
                        : lg_mem_peak() - live > (8 << 20) + 8 * 1032 * (int64_t)bytes ? "too much memory"
                                                                                       : NULL;
    good += status == LG_OK;
    refused += status != LG_OK;
    lg_tensor_free(t);
    if (!wrong && lg_mem_live() != live) wrong = "memory is lost";
    if (wrong)
      failures++,
          printf("FAILED: round %d: %s (status %s: %s)\n", round, wrong, lg_status_name(status), lg_last_error());
  }
  if (good < rounds / 20 || refused < rounds / 4)
    failures++, printf("FAILED: %d read, %d refused: the mutations miss\n", good, refused);
  close(fd);
  printf("%d files read, %d refused\n", good, refused);
  return failures != 0;
}
