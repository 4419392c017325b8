/* sha.c: SHA-256 of memory and of files, through nettle. Called by data manifests, run stores and recipe hashes. */
#include "status.h"
#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void finish(char *hex, struct sha256_ctx *state) {
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_digest(state, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

lg_status lg_sha256(char *hex, const void *data, int64_t bytes) {
  if (!hex || bytes < 0 || (!data && bytes)) {
    return lg_fail(LG_EARG, "sha256: hex, data or bytes = %lld is not valid", (long long)bytes);
  }
  struct sha256_ctx state;
  sha256_init(&state);
  sha256_update(&state, (size_t)bytes, data);
  finish(hex, &state);
  return LG_OK;
}

lg_status lg_sha256_file(char *hex, int64_t *bytes, const char *path) {
  if (!hex || !bytes || !path) return lg_fail(LG_EARG, "sha256 of a file: hex, bytes or path is NULL");
  FILE *file = fopen(path, "rb");
  if (!file) return lg_fail(errno == ENOENT ? LG_EMISSING : LG_EIO, "%s: %s", path, strerror(errno));
  struct sha256_ctx state;
  sha256_init(&state);
  uint8_t buffer[1 << 16];
  size_t got;
  *bytes = 0;
  while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) {
    sha256_update(&state, got, buffer);
    *bytes += (int64_t)got;
  }
  int wrong = ferror(file) ? errno : 0; /* a folder opens, but does not read */
  fclose(file);
  if (wrong) return lg_fail(LG_EIO, "%s: %s", path, strerror(wrong));
  finish(hex, &state);
  return LG_OK;
}
