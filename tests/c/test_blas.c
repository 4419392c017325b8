/* test_blas.c: which OpenBLAS kernel is chosen, what happens when it computes wrong values, and that wrong values are
 * found. Each choice is made in a child process, as the library is loaded once a process. */
#include "../../src/core/blas.h"
#include "../../src/core/cpu.h"
#include "../../src/kernels/gemm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static void expect(int yes, const char *what) {
  if (!yes)
    failures++, printf("FAILED: %s (%s; kernel %s, %s)\n", what, lg_last_error(), lg_blas_core(), lg_blas_origin());
}

/* Starts the engine in a child with these variables (NULL: unset); core, origin: what must come of it (NULL: any). */
static void choose(const char *what, const char *coretype, const char *fail, const char *core, const char *origin) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    failures = 0;
    unsetenv("OPENBLAS_CORETYPE");
    if (coretype) setenv("OPENBLAS_CORETYPE", coretype, 1);
    if (fail) setenv("LGELU_TEST_BLAS_FAIL", fail, 1);
    expect(lg_init(1) == LG_OK, what);
    if (core) expect(strcmp(lg_blas_core(), core) == 0, what);
    expect(strcmp(lg_blas_origin(), origin) == 0, what);
    expect(strncmp(lg_blas_name(), "OpenBLAS 0.", 11) == 0, "the library's name");
    float a[2] = {2, 3}, b[2] = {5, 7}, c = 1;
    lg_k_gemm_f32(&c, a, b, 1, 1, 2, 2, 1, 1, 0, 0, 1, 1);
    expect(c == 32, "and it multiplies");
    const char *after = getenv("OPENBLAS_CORETYPE");
    expect(coretype ? after && !strcmp(after, coretype) : !after, "the environment is as it was");
    fflush(stdout);
    _exit(failures != 0);
  }
  int how;
  waitpid(child, &how, 0);
  if (!WIFEXITED(how) || WEXITSTATUS(how)) failures++, printf("FAILED: %s\n", what);
}

static void none_works(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    failures = 0;
    setenv("LGELU_TEST_BLAS_FAIL", "SkylakeX Haswell Sandybridge Cooperlake Zen Prescott Nehalem", 1);
    expect(lg_init(1) == LG_EBLAS, "no kernel works");
    expect(strstr(lg_last_error(), "self-test") && strstr(lg_last_error(), "Haswell"),
           "and the error says what was tried");
    expect(lg_blas.sgemm == NULL, "then there is no BLAS");
    setenv("LGELU_TEST_BLAS_FAIL", "", 1);
    expect(lg_init(1) == LG_OK, "a later start may do better");
    fflush(stdout);
    _exit(failures != 0);
  }
  int how;
  waitpid(child, &how, 0);
  expect(WIFEXITED(how) && WEXITSTATUS(how) == 0, "no kernel works");
}

/* Libraries with one fault each, around the right one. */
static lg_blas_fns right;
static int fault;
enum { FAULT_K0, FAULT_NAN, FAULT_ONE_ROW, FAULT_LARGE, FAULT_PADDING, FAULT_TRANSPOSE, FAULT_DOUBLE, FAULTS };

static void faulty_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                         const float *b, int ldb, float beta, float *c, int ldc) {
  if (fault == FAULT_K0 && k == 0) return;
  if (fault == FAULT_TRANSPOSE && tb == LG_BLAS_TRANSPOSED && ta == tb && m > 1) b++;
  float before = c[0];
  right.sgemm(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (fault == FAULT_NAN && beta == 0) c[0] += 0 * before;
  if (fault == FAULT_ONE_ROW && m == 1) c[n - 1] *= 1.000001f;
  if (fault == FAULT_LARGE && m == 65) c[64 * (int64_t)ldc + 66] += 1;
  if (fault == FAULT_PADDING && ldc > n && m > 1) c[n] = 0;
}

static void faulty_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                         const double *b, int ldb, double beta, double *c, int ldc) {
  right.dgemm(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (fault == FAULT_DOUBLE && n == 1) c[0] *= 1 + 1e-15;
}

static void faults_are_found(void) {
  expect(lg_init(1) == LG_OK, "start");
  right = lg_blas;
  expect(lg_blas_selftest(&right) == NULL, "the right library passes");
  lg_blas_fns faulty = {faulty_sgemm, faulty_dgemm};
  for (fault = 0; fault <= FAULTS; fault++) {
    const char *wrong = lg_blas_selftest(&faulty);
    if ((wrong == NULL) != (fault == FAULTS))
      failures++, printf("FAILED: fault %d: %s\n", fault, wrong ? wrong : "passed");
  }
  double best = 1;
  for (int i = 0; i < 10; i++) {
    double t = lg_clock();
    lg_blas_selftest(&right);
    t = lg_clock() - t;
    if (t < best) best = t;
  }
  printf("self-test: %.2f ms\n", best * 1e3);
}

int main(void) {
  const char *const *cores = lg_cpu_blas_cores();
  choose("the user's kernel", "Prescott", NULL, "Prescott", "environment");
  choose("a kernel that does not exist", "Pentium9", NULL, NULL, "OpenBLAS's own choice");
  if (cores[0]) {
    choose("by CPUID", NULL, NULL, cores[0], "cpuid");
    choose("an empty variable is none", "", NULL, cores[0], "cpuid");
    choose("the user's kernel is wrong", "Prescott", "prescott", cores[0], "fallback after a failed self-test");
  } else {
    choose("left to OpenBLAS", NULL, NULL, NULL, "OpenBLAS's own choice");
  }
  if (cores[0] && cores[1]) {
    choose("the best kernel is wrong", NULL, cores[0], cores[1], "fallback after a failed self-test");
  }
  none_works();
  faults_are_found();
  return failures != 0;
}
