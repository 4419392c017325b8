/* content.c: what a file holds, unpacked when it is gzipped: its bytes, and their sha256, which is the same for every
 * way of packing it, so that one manifest entry serves a distribution's package and the authors' download. Called by
 * `lgelu data` and by the sources of text. */
#include "../core/memory.h"
#include "stream.h"
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

static lg_status hash_stream(char *hex, int64_t *bytes, lg_stream *s) {
  struct sha256_ctx ctx;
  sha256_init(&ctx);
  uint8_t block[64 << 10], digest[SHA256_DIGEST_SIZE];
  int64_t got;
  *bytes = 0;
  do {
    LG_TRY(lg_stream_read(&got, s, block, sizeof block));
    sha256_update(&ctx, (size_t)got, block);
    *bytes += got;
  } while (got == (int64_t)sizeof block);
  sha256_digest(&ctx, sizeof digest, digest);
  for (int i = 0; i < SHA256_DIGEST_SIZE; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
  return LG_OK;
}

lg_status lg_content_sha256(char *hex, int64_t *bytes, const char *path) {
  if (!hex || !bytes) return lg_fail(LG_EARG, "hex or bytes is NULL");
  lg_stream *s;
  LG_TRY(lg_stream_open(&s, path));
  lg_status status = hash_stream(hex, bytes, s);
  lg_stream_close(s);
  return status;
}

static lg_status read_all(char **text, int64_t *bytes, lg_stream *s, const char *path) {
  int64_t room = 1 << 16, got;
  for (;;) {
    char *grown = lg_alloc((size_t)room + 1);
    if (!grown) return lg_fail(LG_EMEM, "%s: cannot allocate %lld bytes", path, (long long)room);
    if (*text) memcpy(grown, *text, (size_t)*bytes);
    lg_release(*text);
    *text = grown;
    LG_TRY(lg_stream_read(&got, s, grown + *bytes, room - *bytes));
    *bytes += got;
    if (*bytes < room) break;
    if (room > INT64_MAX / 4) return lg_fail(LG_EMEM, "%s: is too large", path);
    room *= 2;
  }
  (*text)[*bytes] = 0;
  return LG_OK;
}

lg_status lg_content_read(char **text, int64_t *bytes, const char *path) {
  if (!text || !bytes) return lg_fail(LG_EARG, "text or bytes is NULL");
  *text = NULL;
  *bytes = 0;
  lg_stream *s;
  LG_TRY(lg_stream_open(&s, path));
  lg_status status = read_all(text, bytes, s, path);
  lg_stream_close(s);
  if (status != LG_OK) {
    lg_text_free(*text);
    *text = NULL;
    *bytes = 0;
  }
  return status;
}
