/* stream.c: reads a plain or gzipped file. inflate is driven here instead of through gzread, because gzread treats a
 * file cut short as a file that ends, ignores what follows the last member, and cannot say how far it came.
 * Called by idx.c and content.c. */
#include "stream.h"
#include "../core/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 64 << 10, DEFLATE_RATIO = 1032, GZIP_WINDOW = 15 + 16 };

struct lg_stream {
  int fd;
  bool gzipped, inflating; /* inflating: z is initialized */
  bool member_done;        /* the last gzip member ended well */
  int64_t size;            /* bytes of the file */
  int64_t read, given;     /* bytes taken from the file; bytes handed out */
  z_stream z;
  char path[512]; /* for messages; a longer path is cut */
  unsigned char buffer[CHUNK];
};

static lg_status io_error(const lg_stream *s, const char *doing) {
  return lg_fail(LG_EIO, "%s: cannot %s: %s", s->path, doing, strerror(errno));
}

/* Up to bytes bytes of the file itself; *got is less only at its end. */
static lg_status read_raw(int64_t *got, lg_stream *s, unsigned char *to, int64_t bytes) {
  *got = 0;
  while (*got < bytes) {
    ssize_t n = read(s->fd, to + *got, (size_t)(bytes - *got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(s, "read");
    if (n == 0) break;
    *got += n;
  }
  s->read += *got;
  return LG_OK;
}

static lg_status refill(lg_stream *s) {
  int64_t got;
  LG_TRY(read_raw(&got, s, s->buffer, CHUNK));
  s->z.next_in = s->buffer;
  s->z.avail_in = (uInt)got;
  return LG_OK;
}

static lg_status open_checked(lg_stream *s) {
  s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe would wait for its writer */
  if (s->fd < 0)
    return lg_fail(errno == ENOENT ? LG_EMISSING : LG_EIO, "%s: cannot open: %s", s->path, strerror(errno));
  struct stat st;
  if (fstat(s->fd, &st) != 0) return io_error(s, "stat");
  if (!S_ISREG(st.st_mode))
    return lg_fail(LG_EIO, "%s: is %s, expected a regular file", s->path,
                   S_ISDIR(st.st_mode) ? "a folder" : "a device or pipe");
  s->size = st.st_size;
  LG_TRY(refill(s));
  s->gzipped = s->z.avail_in >= 2 && s->buffer[0] == 0x1F && s->buffer[1] == 0x8B;
  if (s->gzipped) {
    if (inflateInit2(&s->z, GZIP_WINDOW) != Z_OK) return lg_fail(LG_EMEM, "%s: cannot start zlib", s->path);
    s->inflating = true;
  }
  return LG_OK;
}

lg_status lg_stream_open(lg_stream **out, const char *path) {
  *out = NULL;
  if (!path || !*path) return lg_fail(LG_EARG, "the path of a file is missing");
  lg_stream *s = lg_alloc(sizeof *s);
  if (!s) return lg_fail(LG_EMEM, "%s: cannot allocate a read buffer", path);
  s->fd = -1;
  size_t length = strlen(path);
  if (length >= sizeof s->path) {
    lg_release(s);
    return lg_fail(LG_EARG, "a path of %zu bytes is too long, at most %zu: %.60s…", length, sizeof s->path - 1, path);
  }
  memcpy(s->path, path, length + 1);
  lg_status status = open_checked(s);
  if (status != LG_OK) {
    lg_stream_close(s);
    return status;
  }
  *out = s;
  return LG_OK;
}

void lg_stream_close(lg_stream *s) {
  if (!s) return;
  if (s->inflating) inflateEnd(&s->z);
  if (s->fd >= 0) close(s->fd);
  lg_release(s);
}

static lg_status read_plain(int64_t *got, lg_stream *s, unsigned char *to, int64_t bytes) {
  int64_t held = s->z.avail_in < bytes ? s->z.avail_in : bytes, more = 0;
  memcpy(to, s->z.next_in, (size_t)held);
  s->z.next_in += held;
  s->z.avail_in -= (uInt)held;
  if (held < bytes) LG_TRY(read_raw(&more, s, to + held, bytes - held));
  *got = held + more;
  s->given += *got;
  return LG_OK;
}

static lg_status damaged(const lg_stream *s, const char *how) {
  return lg_fail(LG_EFORMAT, "%s: gzip data %s after %lld bytes unpacked from a file of %lld bytes", s->path, how,
                 (long long)s->given, (long long)s->size);
}

/* Between members: another one may follow (RFC 1952, 2.2); anything else is not gzip's. *end is set at the end of file.
 */
static lg_status next_member(bool *end, lg_stream *s) {
  if (s->z.avail_in == 0) LG_TRY(refill(s));
  *end = s->z.avail_in == 0;
  if (*end) return LG_OK;
  if (s->z.next_in[0] != 0x1F) return damaged(s, "is followed by other bytes");
  s->member_done = false;
  return inflateReset(&s->z) == Z_OK ? LG_OK : lg_fail(LG_EINTERNAL, "%s: zlib cannot start again", s->path);
}

static lg_status read_gzip(int64_t *got, lg_stream *s, unsigned char *to, int64_t bytes) {
  *got = 0;
  /* The checksum behind the last byte is verified when the next one is asked for: readers ask once past the end. */
  while (*got < bytes) {
    if (s->member_done) {
      bool end;
      LG_TRY(next_member(&end, s));
      if (end) break;
    }
    if (s->z.avail_in == 0) LG_TRY(refill(s));
    if (s->z.avail_in == 0) return damaged(s, "is cut short");
    uInt room = bytes - *got < (1 << 30) ? (uInt)(bytes - *got) : 1u << 30;
    s->z.next_out = to + *got;
    s->z.avail_out = room;
    int rc = inflate(&s->z, Z_NO_FLUSH);
    *got += room - s->z.avail_out;
    s->given += room - s->z.avail_out;
    if (rc == Z_STREAM_END)
      s->member_done = true;
    else if (rc == Z_MEM_ERROR)
      return lg_fail(LG_EMEM, "%s: zlib is out of memory", s->path);
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
      return damaged(s, rc == Z_DATA_ERROR && strstr(s->z.msg ? s->z.msg : "", "check") ? "fails its checksum"
                                                                                        : "is damaged");
  }
  return LG_OK;
}

lg_status lg_stream_read(int64_t *got, lg_stream *s, void *to, int64_t bytes) {
  return s->gzipped ? read_gzip(got, s, to, bytes) : read_plain(got, s, to, bytes);
}

int64_t lg_stream_most(const lg_stream *s) {
  int64_t left = s->size - s->read + s->z.avail_in;
  return s->gzipped ? left * DEFLATE_RATIO + CHUNK : left;
}

int32_t lg_stream_gzipped(const lg_stream *s) { return s->gzipped; }
