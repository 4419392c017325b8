/* process.c: children of this process: started, waited for, stopped. Called by sweeps (lua/lgelu/process.lua).
 * What it is not: pipes or shells; a child's output goes into a file. A child dies with its parent, however that ends,
 * so that a sweep that is killed leaves nothing behind that still trains. Signals of the terminal reach the parent
 * alone, which passes on what it wants: a child has a process group of its own. */
#define _GNU_SOURCE
#include "../lgelu.h"
#include "status.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_NS = 5000000 };

/* Between fork and exec: only calls that are safe there. Tells errno through the pipe when it cannot go on. */
static void become(char *const *argv, int log, int tell, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0 && dup2(null, 0) >= 0 && dup2(log, 1) >= 0 && dup2(log, 2) >= 0 && setpgid(0, 0) == 0 &&
      prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) {
    if (getppid() != parent) _exit(1); /* it died in between */
    execv(argv[0], argv);
  }
  int wrong = errno;
  if (write(tell, &wrong, sizeof wrong) < 0) _exit(126);
  _exit(127);
}

/* argv out of n words, one after another; NULL when there is no memory. */
static char **split(const char *words, int32_t n) {
  char **argv = calloc((size_t)n + 1, sizeof *argv);
  for (int32_t i = 0; argv && i < n; i++) {
    argv[i] = (char *)words; /* execv takes them so, and changes nothing */
    words += strlen(words) + 1;
  }
  return argv;
}

/* Forks; the child becomes argv or says why not. */
static lg_status start(int64_t *pid, char *const *argv, int log) {
  int tell[2];
  if (pipe2(tell, O_CLOEXEC)) return lg_fail(LG_EIO, "cannot make a pipe: %s", strerror(errno));
  pid_t parent = getpid(), child = fork();
  if (child == 0) become(argv, log, tell[1], parent);
  int wrong = child < 0 ? errno : 0;
  close(tell[1]);
  ssize_t told = 0;
  while (child > 0 && (told = read(tell[0], &wrong, sizeof wrong)) < 0 && errno == EINTR) continue;
  close(tell[0]);
  if (child < 0) return lg_fail(LG_EIO, "%s: cannot start a process: %s", argv[0], strerror(wrong));
  if (told > 0) {
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    return lg_fail(LG_EIO, "%s: cannot be run: %s", argv[0], strerror(wrong));
  }
  *pid = child;
  return LG_OK;
}

lg_status lg_process_start(int64_t *pid, const char *words, int32_t n, const char *log) {
  if (!pid || !words || !log || n < 1) return lg_fail(LG_EARG, "process_start: pid, words, n or log is not valid");
  *pid = 0;
  int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return lg_fail(LG_EIO, "%s: cannot be written: %s", log, strerror(errno));
  char **argv = split(words, n);
  lg_status status = argv ? start(pid, argv, fd) : lg_fail(LG_EMEM, "process_start: no memory for %d words", n);
  free(argv);
  close(fd);
  return status;
}

static int is_child(int64_t pid) {
  siginfo_t info;
  return pid > 0 && pid <= INT_MAX && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

lg_status lg_process_sleep(double seconds) {
  if (!(seconds >= 0 && seconds <= 1e6)) return lg_fail(LG_EARG, "process_sleep: seconds = %g is not 0..1e6", seconds);
  for (double until = now() + seconds; now() < until && !lg_interrupted();) {
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
  }
  return LG_OK;
}

lg_status lg_process_wait(int32_t *which, int32_t *status, const int64_t *pids, int32_t n, double seconds) {
  if (!which || !status || !pids || n < 1) {
    return lg_fail(LG_EARG, "process_wait: which, status, pids or n is not valid");
  }
  if (!(seconds >= 0 && seconds <= 1e6)) return lg_fail(LG_EARG, "process_wait: seconds = %g is not 0..1e6", seconds);
  *which = -1;
  *status = 0;
  for (int32_t i = 0; i < n; i++) {
    if (!is_child(pids[i])) return lg_fail(LG_EARG, "process_wait: %lld is no child", (long long)pids[i]);
  }
  for (double until = now() + seconds;;) {
    for (int32_t i = 0; i < n; i++) {
      int ended;
      if (waitpid((pid_t)pids[i], &ended, WNOHANG) <= 0) continue;
      *which = i;
      *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended);
      return LG_OK;
    }
    if (now() >= until || lg_interrupted()) return LG_OK;
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
  }
}

lg_status lg_process_stop(int64_t pid, int32_t force) {
  if (!is_child(pid)) return lg_fail(LG_EARG, "process_stop: %lld is no child", (long long)pid);
  if (kill((pid_t)pid, force ? SIGKILL : SIGINT) && errno != ESRCH) {
    return lg_fail(LG_EIO, "process %lld cannot be stopped: %s", (long long)pid, strerror(errno));
  }
  return LG_OK;
}
