/* file.c: durable whole-file writes, and folders. Called by run stores, checkpoints and exports.
 * What it is not: formats. A file appears under its name complete and on the disk, or not at all. */
#define _GNU_SOURCE
#include "../core/status.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static lg_status fail_at(const char *what, const char *path) {
  int wrong = errno;
  lg_status status = wrong == EEXIST ? LG_EEXISTS : wrong == ENOENT ? LG_EMISSING : LG_EIO;
  return lg_fail(status, "%s: cannot %s: %s", path, what, strerror(wrong));
}

/* After a rename: the folder's own entry must reach the disk too. */
static lg_status sync_folder_of(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  int length = slash ? (int)(slash - path) : 1;
  snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : length, slash ? path : ".");
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail_at("open the folder", folder);
  int wrong = fsync(fd) && errno != EINVAL && errno != EROFS; /* some file systems cannot: they need not */
  lg_status status = wrong ? fail_at("flush the folder", folder) : LG_OK;
  close(fd);
  return status;
}

static lg_status write_all(int fd, const char *data, int64_t bytes, const char *path) {
  while (bytes > 0) {
    ssize_t done = write(fd, data, (size_t)(bytes < 1 << 30 ? bytes : 1 << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail_at("write", path);
    data += done;
    bytes -= done;
  }
  return LG_OK;
}

/* Opens a new temporary file beside path with the permissions that open() would give; its name goes to tmp.
 * Errors name path here and below: nobody asked for the other. */
static lg_status open_beside(int *fd, char tmp[PATH_MAX], const char *path) {
  for (int i = 0; i < 100; i++) {
    if (snprintf(tmp, PATH_MAX, "%s.tmp%ld-%d", path, (long)getpid(), i) >= PATH_MAX) {
      errno = ENAMETOOLONG;
      return fail_at("write", path);
    }
    *fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd >= 0) return LG_OK;
    if (errno != EEXIST) break;
  }
  return fail_at("create", path);
}

/* Flushes and closes fd, then gives tmp its name; removes tmp when anything failed, status included. */
static lg_status finish(lg_status status, int fd, const char *tmp, const char *path) {
  if (status == LG_OK && fsync(fd)) status = fail_at("flush", path);
  if (close(fd) && status == LG_OK) status = fail_at("close", path);
  if (status == LG_OK && rename(tmp, path)) status = fail_at("rename to it", path);
  if (status != LG_OK) {
    unlink(tmp);
    return status;
  }
  return sync_folder_of(path);
}

lg_status lg_file_replace(const char *path, const void *data, int64_t bytes) {
  if (!path || bytes < 0 || (!data && bytes)) return lg_fail(LG_EARG, "file_replace: path, data or bytes is not valid");
  char tmp[PATH_MAX];
  int fd = -1;
  LG_TRY(open_beside(&fd, tmp, path));
  return finish(write_all(fd, data, bytes, path), fd, tmp, path);
}

lg_status lg_file_commit(const char *tmp, const char *path) {
  if (!tmp || !path) return lg_fail(LG_EARG, "file_commit: tmp or path is NULL");
  int fd = open(tmp, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_at("open", tmp);
  return finish(LG_OK, fd, tmp, path);
}

lg_status lg_dir_make(const char *path) {
  if (!path || !*path) return lg_fail(LG_EARG, "dir_make: path is %s", path ? "empty" : "NULL");
  char part[PATH_MAX];
  if (snprintf(part, sizeof part, "%s", path) >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return fail_at("make the folder", path);
  }
  for (char *at = part + 1;; at++) {
    char ended_by = *at;
    if (ended_by != '/' && ended_by != '\0') continue;
    *at = '\0';
    struct stat found;
    if (mkdir(part, 0777)) {
      int wrong = errno; /* whatever it is, a folder that is there is all that was asked for */
      int there = stat(part, &found) == 0;
      if (there && !S_ISDIR(found.st_mode)) {
        return lg_fail(LG_EIO, "%s: found something that is not a folder, expected a folder", part);
      }
      errno = wrong;
      if (!there) return fail_at("make the folder", part);
    }
    *at = ended_by;
    if (!ended_by) return LG_OK;
  }
}
