/* lock.c: a lock on a run's folder, so that two processes never train one run. Not HDF5's locks on its files.
 * flock on the folder itself: nothing is written, and the system lifts it when the process ends, however it ends. */
#include "lock.h"
#include "../core/status.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

void lg_lock_holder(char *text, size_t bytes, const char *path) {
  text[0] = 0;
  struct stat s;
  FILE *locks = stat(path, &s) == 0 ? fopen("/proc/locks", "re") : NULL;
  if (!locks) return;
  char line[256];
  while (fgets(line, sizeof line, locks)) {
    long pid;
    unsigned major, minor;
    unsigned long long inode;
    if (sscanf(line, "%*s %*s %*s %*s %ld %x:%x:%llu", &pid, &major, &minor, &inode) != 4) continue;
    if (inode != s.st_ino || major != major(s.st_dev) || minor != minor(s.st_dev)) continue;
    char name[64] = "", file[64];
    snprintf(file, sizeof file, "/proc/%ld/comm", pid);
    FILE *comm = fopen(file, "re");
    if (comm) {
      if (fgets(name, sizeof name, comm)) name[strcspn(name, "\n")] = 0;
      fclose(comm);
    }
    snprintf(text, bytes, "process %ld%s%s", pid, name[0] ? ", " : "", name);
    break;
  }
  fclose(locks);
}

lg_status lg_lock_take(int32_t *lock, const char *folder) {
  if (!lock) return lg_fail(LG_EARG, "lock is NULL");
  *lock = -1;
  if (!folder) return lg_fail(LG_EARG, "the folder to lock is NULL");
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return lg_fail(errno == ENOENT ? LG_EMISSING : LG_EIO, "%s: %s", folder, strerror(errno));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(fd);
    char holder[128];
    lg_lock_holder(holder, sizeof holder, folder);
    return lg_fail(LG_ESTATE, "%s: in use by %s", folder, holder[0] ? holder : "another process");
  }
  *lock = fd; /* also where the file system has no locks: then there is none */
  return LG_OK;
}

void lg_lock_release(int32_t lock) {
  if (lock >= 0) close(lock);
}

int32_t lg_lock_taken(const char *folder) {
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  int taken = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return taken;
}
