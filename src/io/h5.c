/* h5.c: opening and closing HDF5 files, and the errors of all h5*.c. Not data sets (h5_data.c, h5_texts.c), not groups
 * (h5_tree.c), not attributes (h5_attr.c). Called by lua/lgelu/h5.lua through lgelu.h. */
#include "h5.h"
#include "../core/memory.h"
#include "lock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REASON = 400, GROWTH = 1 << 20 };

/* -- errors ------------------------------------------------------------------------------------------------------ */

static herr_t first_reason(unsigned n, const H5E_error2_t *e, void *context) {
  if (n == 0 && e->desc) snprintf(context, REASON, "%s", e->desc);
  return 0;
}

static lg_status fail_at(lg_status status, const lg_h5 *f, const char *object, const char *text, const char *more) {
  return lg_fail(status, "%s: %s%s%s%s", f->path, object ? object : "", object ? ": " : "", text, more);
}

lg_status lg_h5_fail(lg_status status, const lg_h5 *f, const char *object, const char *format, ...) {
  char text[REASON];
  va_list ap;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  return fail_at(status, f, object, text, "");
}

/* reason: HDF5's message, or "". */
static lg_status fail_locked(const lg_h5 *f, const char *reason) {
  char holder[128];
  lg_lock_holder(holder, sizeof holder, f->path);
  return lg_fail(LG_EIO, "%s: another program has it open for writing%s%s%s; close it there%s%s%s%s", f->path,
                 holder[0] ? " (" : "", holder, holder[0] ? ")" : "",
                 f->mode == 'r' ? ", or set HDF5_USE_FILE_LOCKING=FALSE to read it all the same" : "",
                 reason[0] ? " (HDF5: " : "", reason, reason[0] ? ")" : "");
}

lg_status lg_h5_fail_reason(lg_status status, const lg_h5 *f, const char *object, const char *format, ...) {
  char reason[REASON] = "", text[REASON], more[REASON + 16] = "";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_reason, reason);
  H5Eclear2(H5E_DEFAULT);
  if (strstr(reason, "lock file")) return fail_locked(f, reason);
  va_list ap;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  if (reason[0]) snprintf(more, sizeof more, " (HDF5: %s)", reason);
  return fail_at(status, f, object, text, more);
}

lg_status lg_h5_check(const lg_h5 *f, const char *object, int writing) {
  if (!f) return lg_fail(LG_EARG, "the HDF5 handle is NULL");
  if (!object) return lg_h5_fail(LG_EARG, f, NULL, "the object's name is NULL");
  if (writing && f->mode == 'r') return lg_h5_fail(LG_ESTATE, f, object, "the file is open for reading only");
  if (object[0] != '/') return lg_h5_fail(LG_EARG, f, object, "a name inside a file starts with '/'");
  if (lg_utf8_invalid(object) >= 0) return lg_h5_fail(LG_EARG, f, NULL, "an object's name is not UTF-8");
  if (!object[1]) return LG_OK;
  for (const char *p = object; *p; p += 1 + strcspn(p + 1, "/")) {
    size_t n = strcspn(p + 1, "/");
    if (n == 0 || (n == 1 && p[1] == '.'))
      return lg_h5_fail(LG_EARG, f, object, "a part of the name is %s", n ? "'.'" : "empty");
  }
  return LG_OK;
}

int64_t lg_utf8_invalid(const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  for (int64_t i = 0; s[i];) {
    unsigned char c = s[i];
    int n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (n == 0) return i;
    for (int k = 1; k < n; k++)
      if ((s[i + k] & 0xC0) != 0x80) return i; /* also stops at the end's zero */
    /* overlong forms, surrogates and code points past U+10FFFF (RFC 3629) */
    if ((c == 0xE0 && s[i + 1] < 0xA0) || (c == 0xED && s[i + 1] > 0x9F) || (c == 0xF0 && s[i + 1] < 0x90) ||
        (c == 0xF4 && s[i + 1] > 0x8F))
      return i;
    i += n;
  }
  return -1;
}

lg_status lg_text_add(lg_text *t, const char *bytes, size_t n) {
  if (t->length + n + 1 > t->room) {
    size_t room = 2 * (t->length + n + 1);
    char *data = lg_alloc(room);
    if (data && t->length) memcpy(data, t->data, t->length);
    lg_release(t->data);
    t->data = data;
    t->room = room;
    if (!data) return lg_fail(LG_EMEM, "no memory for a text of %zu bytes", t->length + n);
  }
  memcpy(t->data + t->length, bytes, n);
  t->length += n;
  t->data[t->length] = 0;
  return LG_OK;
}

void lg_text_free(char *text) { lg_release(text); }

/* -- open -------------------------------------------------------------------------------------------------------- */

/* File access: locks are asked for where the file system has them (the user's HDF5_USE_FILE_LOCKING goes first), and
 * whatever is still open inside goes with the file. Files are written for the oldest readers. */
static hid_t access_plist(void) {
  hid_t p = H5Pcreate(H5P_FILE_ACCESS);
  if (p < 0) return p;
  if (H5Pset_fclose_degree(p, H5F_CLOSE_STRONG) < 0 ||
      H5Pset_libver_bounds(p, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0) {
    H5Pclose(p);
    return H5I_INVALID_HID;
  }
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(p, 1, 1);
#endif
  return p;
}

/* Opens path for reading by the system, refusing what is not a plain file (a FIFO would wait for ever). */
static lg_status open_plain(int *fd, const char *path) {
  struct stat s;
  if (stat(path, &s) != 0) return lg_fail(errno == ENOENT ? LG_EMISSING : LG_EIO, "%s: %s", path, strerror(errno));
  if (!S_ISREG(s.st_mode)) return lg_fail(LG_EIO, "%s: not a file%s", path, S_ISDIR(s.st_mode) ? " but a folder" : "");
  *fd = open(path, O_RDONLY | O_CLOEXEC);
  if (*fd < 0) return lg_fail(LG_EIO, "%s: %s", path, strerror(errno));
  return LG_OK;
}

static lg_status open_image(lg_h5 *f, hid_t access, const void *image, size_t bytes) {
  /* The name of an image need not be the path, but must be its own: HDF5 takes two images of one name for one file. */
  static unsigned serial;
  char name[32];
  snprintf(name, sizeof name, "image-%u", ++serial);
  if (H5Pset_fapl_core(access, GROWTH, 0) < 0 || (bytes && H5Pset_file_image(access, (void *)image, bytes) < 0))
    return lg_h5_fail_reason(LG_EMEM, f, NULL, "cannot hold it in memory");
  f->file = image ? H5Fopen(name, H5F_ACC_RDWR, access) : H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (f->file < 0) return lg_h5_fail_reason(LG_EFORMAT, f, NULL, "not a complete HDF5 file");
  return LG_OK;
}

static lg_status read_image(void **image, int fd, int64_t bytes, const char *path) {
  char *data = lg_alloc((size_t)bytes);
  if (!data) return lg_fail(LG_EMEM, "%s: no memory for its %lld bytes", path, (long long)bytes);
  for (int64_t at = 0; at < bytes;) {
    ssize_t n = pread(fd, data + at, (size_t)(bytes - at), at);
    if (n > 0)
      at += n;
    else if (n == 0 || errno != EINTR) {
      lg_release(data);
      return lg_fail(LG_EIO, "%s: cannot read byte %lld: %s", path, (long long)at,
                     n ? strerror(errno) : "it got shorter");
    }
  }
  *image = data;
  return LG_OK;
}

/* Whether another program has it open for writing, by HDF5's convention of locks; its bytes may then be on the move. */
static int is_being_written(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return 0;
}

/* Opens what is there, for reading or changing; fd stays the caller's. */
static lg_status open_existing(lg_h5 *f, hid_t access, int fd) {
  int64_t bytes;
  int busy = is_being_written(fd);
  if (busy && f->mode == 'a') return fail_locked(f, "");
  lg_status status = lg_seal_check(&f->sealed, &bytes, fd, f->path);
  /* HDF5 changes a file in place and cuts our seal off only when it closes it: let its own lock decide. */
  if (status != LG_OK && !(status == LG_EFORMAT && busy)) return status;
  if (bytes == 0) return lg_h5_fail(LG_EFORMAT, f, NULL, "the file is empty");
  if (f->mode == 'r') {
    if (H5Fis_hdf5(f->path) <= 0)
      return lg_h5_fail(LG_EFORMAT, f, NULL, "not an HDF5 file (%lld bytes)", (long long)bytes);
    f->file = H5Fopen(f->path, H5F_ACC_RDONLY, access);
    if (f->file < 0) return lg_h5_fail_reason(LG_EFORMAT, f, NULL, "cannot be opened");
    return LG_OK;
  }
  void *image = NULL;
  LG_TRY(read_image(&image, fd, bytes, f->path));
  status = open_image(f, access, image, (size_t)bytes);
  lg_release(image);
  return status;
}

lg_status lg_h5_open(lg_h5 **out, const char *path, const char *mode) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  if (!path || !path[0]) return lg_fail(LG_EARG, "the path of an HDF5 file is %s", path ? "empty" : "NULL");
  if (!mode || !strchr("rwa", mode[0]) || !mode[0] || mode[1])
    return lg_fail(LG_EARG, "%s: mode '%s' is none of r, w, a", path, mode ? mode : "NULL");
  if (H5open() < 0) return lg_fail(LG_EINTERNAL, "%s: the HDF5 library does not start", path);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  lg_h5 *f = lg_alloc(sizeof *f + strlen(path) + 1);
  if (!f) return lg_fail(LG_EMEM, "%s: no memory for its handle", path);
  strcpy(f->path, path);
  f->mode = mode[0];
  f->file = H5I_INVALID_HID;
  LG_H5_ID access = access_plist();
  lg_status status = LG_OK;
  if (access < 0) {
    status = lg_h5_fail_reason(LG_EMEM, f, NULL, "no property list");
  } else if (f->mode == 'w') {
    status = open_image(f, access, NULL, 0);
  } else {
    int fd = -1;
    status = open_plain(&fd, path);
    if (status == LG_OK) {
      status = open_existing(f, access, fd);
      close(fd);
    }
  }
  if (status != LG_OK) {
    lg_release(f);
    return status;
  }
  *out = f;
  return LG_OK;
}

int32_t lg_h5_sealed(const lg_h5 *f) { return f ? f->sealed : 0; }

/* -- commit and close
 * ------------------------------------------------------------------------------------------------------- */

static int write_all(int fd, const void *data, size_t bytes) {
  const char *p = data;
  while (bytes) {
    ssize_t n = write(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return -1;
    p += n;
    bytes -= (size_t)n;
  }
  return 0;
}

/* Image and seal to a file beside path, then to its name at one instant; nothing is left beside it on failure. */
static lg_status save_image(const lg_h5 *f, const void *image, size_t bytes) {
  unsigned char seal[LG_SEAL_BYTES];
  size_t room = strlen(f->path) + 32;
  char *tmp = lg_alloc(room);
  if (!tmp) return lg_h5_fail(LG_EMEM, f, NULL, "no memory to save it");
  snprintf(tmp, room, "%s.%ld.tmp", f->path, (long)getpid());
  lg_status status = LG_OK;
  int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    status = lg_h5_fail(LG_EIO, f, NULL, "cannot be written: %s", strerror(errno));
  } else {
    lg_seal_make(seal, image, bytes);
    if (write_all(fd, image, bytes) != 0 || write_all(fd, seal, sizeof seal) != 0)
      status =
          lg_h5_fail(LG_EIO, f, NULL, "cannot be written (%zu bytes): %s; an earlier file of that name is unchanged",
                     bytes, strerror(errno));
    if (close(fd) != 0 && status == LG_OK)
      status = lg_h5_fail(LG_EIO, f, NULL, "cannot be written: %s", strerror(errno));
    if (status == LG_OK) status = lg_file_commit(tmp, f->path);
    if (status != LG_OK) unlink(tmp);
  }
  lg_release(tmp);
  return status;
}

lg_status lg_h5_commit(lg_h5 *f) {
  if (!f) return lg_fail(LG_EARG, "the HDF5 handle is NULL");
  if (f->mode == 'r') return lg_h5_fail(LG_ESTATE, f, NULL, "the file is open for reading only");
  void **memory = NULL;
  if (H5Fflush(f->file, H5F_SCOPE_GLOBAL) < 0)
    return lg_h5_fail_reason(LG_EMEM, f, NULL, "cannot complete it in memory");
  ssize_t bytes = H5Fget_file_image(f->file, NULL, 0);
  if (bytes <= 0 || H5Fget_vfd_handle(f->file, H5P_DEFAULT, (void **)&memory) < 0)
    return lg_h5_fail_reason(LG_EINTERNAL, f, NULL, "no image of it in memory");
  return save_image(f, *memory, (size_t)bytes);
}

void lg_h5_discard(lg_h5 *f) {
  if (!f) return;
  H5Fclose(f->file);
  lg_release(f);
}

lg_status lg_h5_close(lg_h5 *f) {
  if (!f) return lg_fail(LG_EARG, "the HDF5 handle is NULL");
  lg_status status = f->mode == 'r' ? LG_OK : lg_h5_commit(f);
  lg_h5_discard(f);
  return status;
}
