/* test_probe.c: the probes give finite, positive figures, refuse senseless requests, and leave the team as it was. */
#include "../../src/core/cpu.h"
#include "../../src/core/memory.h"
#include "../../src/core/threads.h"
#include "../../src/kernels/probe.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures;
static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s (%s)\n", what, lg_last_error());
}

static void copies(void) {
  float x[100], y[102];
  for (int i = 0; i < 100; i++) x[i] = (float)i + 1;
  for (int n = 0; n < 100; n++) {
    memset(y, 0, sizeof y);
    lg_k_copy(y + 1, x, n);
    int right = y[0] == 0 && y[n + 1] == 0;
    for (int i = 0; i < n; i++) right &= y[i + 1] == x[i];
    if (!right) expect(0, "a copy of every length, and no more");
  }
}

static void instruction_sets(void) {
  expect(lg_isa_index() >= 0 && lg_isa_index() <= lg_isa_best() && lg_isa_best() < LG_ISA_COUNT, "instruction set");
  size_t name = strlen(lg_cpu_name()), isa = strlen(lg_isa());
  expect(name > isa + 3 && strncmp(lg_cpu_name() + name - isa - 1, lg_isa(), isa) == 0, "it stands in the CPU's name");
}

static void figures(void) {
  double a = NAN, b = NAN;
  float sink = NAN;
  double flops = lg_k_fma_burst(&sink, 10);
  expect(flops > 0 && fmod(flops, 2 * 12 * 8 * 10) == 0 && sink > 0 && sink < 12 * 16, "a burst of multiply-adds");
  expect(lg_probe_fma(&a, 2, 0.02) == LG_OK && a > 0.1 && a < 1e6, "multiply-adds");
  expect(lg_threads() == 1, "the team is as before");
  a = NAN;
  expect(lg_probe_gemm(&a, 64, 33, 70, 1, 1, 0, 0.02) == LG_OK && a > 0.01 && a < 1e6, "matrix products");
  a = NAN;
  expect(lg_probe_copy(&a, 100001, 1, 0.02) == LG_OK && a > 1e6 && a < 1e14, "copies");
  a = NAN;
  int32_t gelu = lg_list_find("activation", "gelu");
  expect(lg_probe_gate(&a, &b, gelu, 1, 100001, 2, 0.02) == LG_OK && a > 0 && a < 1 && b > 0 && b < 1, "gates");
}

static void refusals(void) {
  double a, b;
  expect(lg_probe_fma(NULL, 1, 1) == LG_EARG && lg_probe_gemm(NULL, 1, 1, 1, 0, 0, 1, 1) == LG_EARG, "NULL");
  expect(lg_probe_copy(NULL, 1, 1, 1) == LG_EARG && lg_probe_gate(&a, NULL, 0, 1, 1, 1, 1) == LG_EARG, "NULL");
  expect(lg_probe_fma(&a, 257, 1) == LG_EARG && lg_probe_fma(&a, -1, 1) == LG_EARG, "257 and -1 threads");
  expect(lg_probe_fma(&a, 1, 0) == LG_EARG && lg_probe_fma(&a, 1, NAN) == LG_EARG, "no time");
  expect(lg_probe_gemm(&a, 0, 1, 1, 0, 0, 1, 1) == LG_EARG, "gemm of nothing");
  expect(lg_probe_gemm(&a, 1, 1, INT64_MAX, 0, 0, 1, 1) == LG_EARG, "gemm too large");
  expect(lg_probe_copy(&a, 0, 1, 1) == LG_EARG && lg_probe_copy(&a, INT64_MAX, 1, 1) == LG_EARG, "floats");
  expect(lg_probe_gate(&a, &b, -1, 1, 10, 1, 1) == LG_EARG && lg_probe_gate(&a, &b, 99, 1, 10, 1, 1) == LG_EARG,
         "activation outside its list");
  expect(lg_probe_gate(&a, &b, 0, NAN, 10, 1, 1) == LG_EARG, "lambda that is no number");
  int64_t live = lg_mem_live();
  lg_mem_fail_at(1);
  expect(lg_probe_copy(&a, 1000, 1, 0.01) == LG_EMEM, "no memory");
  lg_mem_fail_at(0);
  expect(lg_mem_live() == live && lg_threads() == 1, "nothing is kept");
}

int main(void) {
  expect(lg_init(1) == LG_OK, "start");
  copies();
  instruction_sets();
  figures();
  refusals();
  return failures != 0;
}
