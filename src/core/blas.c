/* blas.c: loads OpenBLAS with a kernel that is fast on this CPU and computes right. Called by core/init.c.
 *
 * Why it is loaded by hand: OpenBLAS picks its kernel when it is loaded, from a list of CPU models, and takes its
 * slowest for a model that is newer than itself. OPENBLAS_CORETYPE overrides that, but only when it is set before the
 * load, so the library must not be a link-time dependency. Unloading it and loading it again gives another kernel.
 * Why one thread: the engine's own team calls it from every tile (core/threads.h); a second team would fight the first.
 * What it is not: the matrix product that kernels call (kernels/gemm.h). */
#define _GNU_SOURCE
#include "blas.h"
#include "cpu.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char LIBRARY[] = "libopenblas.so.0";
static const char CORE_VARIABLE[] = "OPENBLAS_CORETYPE";

lg_blas_fns lg_blas;
static char name[64] = "none", core[64] = "none";
static const char *origin = "not loaded";

const char *lg_blas_name(void) { return name; }
const char *lg_blas_core(void) { return core; }
const char *lg_blas_origin(void) { return origin; }

/* A loaded library, not yet trusted. */
typedef struct {
  void *handle;
  lg_blas_fns fns;
  const char *core, *config;
} candidate;

/* Sets a variable for the time of a load, or removes it (value NULL); *kept gets a copy of the old value or NULL. The
 * environment is put back afterwards, so that child processes see what the user set and nothing else. */
static lg_status set_variable(char **kept, const char *variable, const char *value) {
  const char *old = getenv(variable);
  *kept = old ? strdup(old) : NULL;
  if (old && !*kept) return lg_fail(LG_EMEM, "no memory to load %s", LIBRARY);
  if (value ? setenv(variable, value, 1) : unsetenv(variable)) {
    return lg_fail(LG_EMEM, "cannot set %s to load %s", variable, LIBRARY);
  }
  return LG_OK;
}

static void put_back(const char *variable, char *kept) {
  if (kept) {
    setenv(variable, kept, 1);
  } else {
    unsetenv(variable);
  }
  free(kept);
}

static lg_status open_library(candidate *c) {
  c->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!c->handle) {
    return lg_fail(LG_EBLAS, "cannot load %s: %s; on Debian: apt-get install libopenblas0-pthread", LIBRARY, dlerror());
  }
  /* A data pointer from dlsym is a function pointer in POSIX, though not in ISO C: hence the copies through memcpy. */
  char *(*get_core)(void), *(*get_config)(void);
  void (*set_threads)(int);
  const struct {
    void *to;
    const char *symbol;
  } wanted[] = {{&c->fns.sgemm, "cblas_sgemm"},
                {&c->fns.dgemm, "cblas_dgemm"},
                {&get_core, "openblas_get_corename"},
                {&get_config, "openblas_get_config"},
                {&set_threads, "openblas_set_num_threads"}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *symbol = dlsym(c->handle, wanted[i].symbol);
    if (!symbol) {
      dlclose(c->handle);
      return lg_fail(LG_EBLAS, "%s has no function %s, expected OpenBLAS 0.3 or later", LIBRARY, wanted[i].symbol);
    }
    memcpy(wanted[i].to, &symbol, sizeof symbol);
  }
  set_threads(1);
  c->core = get_core();
  c->config = get_config();
  return LG_OK;
}

/* Loads the library asking for a kernel; wish NULL: as the environment says. */
static lg_status load(candidate *c, const char *wish) {
  char *kept_threads, *kept_core = NULL;
  LG_TRY(set_variable(&kept_threads, "OPENBLAS_NUM_THREADS", "1"));
  lg_status status = wish ? set_variable(&kept_core, CORE_VARIABLE, wish) : LG_OK;
  if (status == LG_OK) status = open_library(c);
  put_back("OPENBLAS_NUM_THREADS", kept_threads);
  if (wish) put_back(CORE_VARIABLE, kept_core);
  return status;
}

/* NULL when the candidate computes right. LGELU_TEST_BLAS_FAIL names kernels that shall be found wrong (for tests). */
static const char *judge(const candidate *c) {
  const char *fail = getenv("LGELU_TEST_BLAS_FAIL");
  if (fail && strcasestr(fail, c->core)) return "LGELU_TEST_BLAS_FAIL says so";
  return lg_blas_selftest(&c->fns);
}

static void accept(const candidate *c, const char *why) {
  char version[32] = "";
  sscanf(c->config, "OpenBLAS %31s", version);
  snprintf(name, sizeof name, "OpenBLAS %s", version);
  snprintf(core, sizeof core, "%s", c->core);
  origin = why;
  lg_blas = c->fns;
}

/* Why this kernel: wish is what was asked for at first (NULL: nothing), from where. */
static const char *reason(const char *wish, const char *from, const char *got, int failed_before) {
  if (failed_before) return "fallback after a failed self-test";
  return wish && strcasecmp(wish, got) == 0 ? from : "OpenBLAS's own choice";
}

lg_status lg_blas_start(void) {
  const char *const *cores = lg_cpu_blas_cores();
  const char *user = getenv(CORE_VARIABLE);
  if (user && !*user) user = NULL;
  const char *wish = user ? user : cores[0], *from = user ? "environment" : "cpuid";
  char tried[256] = "";
  for (int next = user ? 0 : 1;; next++) {
    candidate c;
    LG_TRY(load(&c, wish));
    const char *wrong = judge(&c);
    if (!wrong) {
      accept(&c, reason(wish, from, c.core, *tried));
      return LG_OK;
    }
    size_t used = strlen(tried);
    snprintf(tried + used, sizeof tried - used, "%s%s (%s)", used ? "; " : "", c.core, wrong);
    dlclose(c.handle);
    wish = cores[0] ? cores[next] : NULL;
    if (!wish) return lg_fail(LG_EBLAS, "%s fails the start-up self-test with every kernel: %s", LIBRARY, tried);
  }
}
