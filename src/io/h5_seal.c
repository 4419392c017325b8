/* h5_seal.c: the seal behind the HDF5 bytes of every file that we write: 64 bytes with length and SHA-256 of what is
 * before them. HDF5 1.10 has no checksums over version-0 metadata or data, so a flipped byte would be read as a wrong
 * number, or worse be followed as an address; the seal is checked before HDF5 sees the file. HDF5 itself ignores bytes
 * behind its end-of-file address, and cuts them off when another program changes the file: then it is unsealed, not
 * damaged. Not a signature: whoever changes a file on purpose can seal it again. */
#include "../core/memory.h"
#include "h5.h"
#include <errno.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const unsigned char mark[16] = "lgelu seal v1\r\n\x1a";
enum { LENGTH_AT = 16, DIGEST_AT = 24, BLOCK = 1 << 20 };

static void put_seal(unsigned char *seal, struct sha256_ctx *hash, uint64_t bytes) {
  memset(seal, 0, LG_SEAL_BYTES);
  memcpy(seal, mark, sizeof mark);
  for (int i = 0; i < 8; i++) seal[LENGTH_AT + i] = (unsigned char)(bytes >> (8 * i));
  sha256_digest(hash, SHA256_DIGEST_SIZE, seal + DIGEST_AT);
}

void lg_seal_make(unsigned char *seal, const void *image, size_t bytes) {
  struct sha256_ctx hash;
  sha256_init(&hash);
  sha256_update(&hash, bytes, image);
  put_seal(seal, &hash, bytes);
}

/* Hashes the first bytes of fd; a short read is an error, because the size was asked just before. */
static lg_status hash_file(struct sha256_ctx *hash, int fd, int64_t bytes, const char *path) {
  unsigned char *block = lg_alloc(BLOCK);
  if (!block) return lg_fail(LG_EMEM, "%s: no memory to check its seal", path);
  sha256_init(hash);
  lg_status status = LG_OK;
  for (int64_t at = 0; at < bytes && status == LG_OK;) {
    ssize_t n = pread(fd, block, bytes - at < BLOCK ? (size_t)(bytes - at) : BLOCK, at);
    if (n > 0) {
      sha256_update(hash, (size_t)n, block);
      at += n;
    } else if (n == 0 || errno != EINTR) {
      status =
          lg_fail(LG_EIO, "%s: cannot read byte %lld: %s", path, (long long)at, n ? strerror(errno) : "it got shorter");
    }
  }
  lg_release(block);
  return status;
}

lg_status lg_seal_check(int *sealed, int64_t *content, int fd, const char *path) {
  struct stat s;
  unsigned char seal[LG_SEAL_BYTES], right[LG_SEAL_BYTES];
  *sealed = 0;
  if (fstat(fd, &s) != 0) return lg_fail(LG_EIO, "%s: %s", path, strerror(errno));
  *content = s.st_size;
  if (s.st_size < LG_SEAL_BYTES) return LG_OK;
  if (pread(fd, seal, sizeof seal, s.st_size - LG_SEAL_BYTES) != LG_SEAL_BYTES)
    return lg_fail(LG_EIO, "%s: cannot read its last %d bytes: %s", path, LG_SEAL_BYTES, strerror(errno));
  if (memcmp(seal, mark, sizeof mark) != 0) return LG_OK;
  struct sha256_ctx hash;
  LG_TRY(hash_file(&hash, fd, s.st_size - LG_SEAL_BYTES, path));
  put_seal(right, &hash, (uint64_t)(s.st_size - LG_SEAL_BYTES));
  if (memcmp(seal, right, sizeof seal) != 0)
    return lg_fail(LG_EFORMAT, "%s: damaged: its contents (%lld bytes) do not fit the checksum they were written with",
                   path, (long long)(s.st_size - LG_SEAL_BYTES));
  *sealed = 1;
  *content = s.st_size - LG_SEAL_BYTES;
  return LG_OK;
}
