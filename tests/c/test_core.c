/* test_core.c: statuses and lists, counted memory, SHA-256, Ctrl-C. */
#include "../../src/core/interrupt.h"
#include "../../src/core/memory.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s (%s)\n", what, lg_last_error());
}

static void lists(void) {
  expect(lg_list_find("status", "ok") == LG_OK && lg_list_find("status", "blas") == LG_EBLAS, "status by name");
  expect(lg_list_find("dtype", "f32") == 0 && lg_list_find("dtype", "f16") == -1, "dtype by name");
  expect(lg_list_find("nothing", "ok") == -1 && lg_list_find(NULL, NULL) == -1, "unknown list");
  expect(lg_list_find("status", NULL) == -1, "NULL name");
  for (int32_t i = 0; i < LG_STATUS_COUNT; i++) {
    expect(strcmp(lg_list_name("status", i), lg_status_name(i)) == 0, "status name");
    expect(strcmp(lg_list_doc("status", i), lg_status_text(i)) == 0, "status text");
  }
  const char *const all[] = {"status",   "dtype",  "op",    "activation", "reparam", "optimizer",
                             "schedule", "binary", "unary", "reduce",     "census"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    expect(lg_list_name(all[i], 0) != NULL, "no list is empty");
    for (int32_t j = 0; lg_list_name(all[i], j); j++) {
      expect(lg_list_find(all[i], lg_list_name(all[i], j)) == j, "a name is found at its index");
      expect(lg_list_doc(all[i], j) && *lg_list_doc(all[i], j), "and has a text");
    }
  }
  expect(!lg_list_name("status", LG_STATUS_COUNT) && !lg_list_name("status", -1), "no name past the end");
  expect(!lg_list_doc("status", LG_STATUS_COUNT) && !lg_list_doc("nothing", 0), "no text past the end");
  expect(strcmp(lg_status_name(999), "?") == 0, "unknown status");
}

static void last_error(void) {
  char text[2000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  expect(lg_fail(LG_EIO, "found %d", 3) == LG_EIO && strcmp(lg_last_error(), "found 3") == 0, "lg_fail");
  expect(lg_fail_context(LG_EIO, "node %s", "a") == LG_EIO && strcmp(lg_last_error(), "node a: found 3") == 0,
         "lg_fail_context");
  lg_fail(LG_EIO, "%s", text);
  expect(strlen(lg_last_error()) == 1023, "a long text is cut");
  lg_fail_context(LG_EIO, "node");
  expect(strlen(lg_last_error()) == 1023 && strncmp(lg_last_error(), "node: xx", 8) == 0, "a long context is cut");
  lg_fail_context(LG_EIO, "%s", text);
  expect(strlen(lg_last_error()) == 1023, "a context that leaves no room");
}

static void memory(void) {
  int64_t before = lg_mem_live();
  unsigned char *p = lg_alloc(1000), *q = lg_alloc(0), *big = lg_alloc(9 << 20);
  expect(p && q && big, "allocation");
  expect((uintptr_t)p % 64 == 0 && (uintptr_t)q % 64 == 0 && (uintptr_t)big % 64 == 0, "alignment");
  expect(lg_mem_live() - before == 1000 + (9 << 20), "live bytes");
  int zero = 1;
  for (int i = 0; i < 9 << 20; i++) zero &= big[i] == 0;
  for (int i = 0; i < 1000; i++) zero &= p[i] == 0;
  expect(zero, "zero-filled");
  memset(p, 1, 1000); /* so that a block that comes again is not zero by luck */
  lg_release(p);
  p = lg_alloc(1000);
  for (int i = 0; i < 1000; i++) zero &= p[i] == 0;
  expect(zero, "zero-filled again");
  lg_release(p);
  lg_release(q);
  lg_release(big);
  lg_release(NULL);
  expect(lg_mem_live() == before, "all released");
  expect(lg_mem_peak() >= before + (9 << 20), "peak");
  lg_mem_reset_peak();
  expect(lg_mem_peak() == before, "peak after reset");
  lg_mem_fail_at(2);
  p = lg_alloc(1), q = lg_alloc(1);
  expect(p && !q, "the second allocation fails");
  lg_release(p);
  p = lg_alloc(1);
  expect(p != NULL, "and only the second");
  lg_release(p);
  lg_mem_fail_at(0);
  expect(!lg_alloc(SIZE_MAX - 8) && !lg_alloc(PTRDIFF_MAX), "an impossible size is NULL");
  expect(lg_mem_live() == before, "failures count nothing");
}

/* FIPS 180-4's examples, and the empty message. */
static void sha(void) {
  char hex[65], file[65], path[] = "/tmp/lgelu-test-XXXXXX";
  int64_t bytes;
  lg_sha256(hex, "abc", 3);
  expect(strcmp(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") == 0, "sha256 of abc");
  lg_sha256(hex, NULL, 0);
  expect(strcmp(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") == 0, "sha256 of nothing");
  enum { MILLION = 1000000 };
  char *a = malloc(MILLION);
  memset(a, 'a', MILLION);
  lg_sha256(hex, a, MILLION);
  expect(strcmp(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0") == 0, "sha256 of 10^6 a");
  int fd = mkstemp(path);
  expect(write(fd, a, MILLION) == MILLION, "write the file to hash");
  close(fd);
  free(a);
  expect(lg_sha256_file(file, &bytes, path) == LG_OK && strcmp(file, hex) == 0 && bytes == MILLION, "sha256 of a file");
  unlink(path);
  expect(lg_sha256_file(file, &bytes, path) == LG_EMISSING && strstr(lg_last_error(), path),
         "a file that is not there");
  expect(lg_sha256_file(file, &bytes, "/tmp") == LG_EIO, "a folder instead of a file");
  expect(lg_sha256(NULL, "abc", 3) == LG_EARG && lg_sha256(hex, NULL, 3) == LG_EARG, "NULL to sha256");
}

static void interrupt(void) {
  lg_interrupt_install();
  expect(!lg_interrupted() && lg_interrupt_poll("here") == LG_OK, "nothing pressed yet");
  for (int i = 0; i < 2; i++) { /* after a clear, the next is the first again */
    raise(SIGINT);
    expect(lg_interrupted() == 1, "pressed");
    expect(lg_interrupt_poll("here") == LG_EINTR_ && strstr(lg_last_error(), "here"), "the poll fails");
    lg_interrupt_clear();
    expect(!lg_interrupted(), "cleared");
  }
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    raise(SIGINT);
    raise(SIGINT);
    _exit(0);
  }
  int how;
  waitpid(child, &how, 0);
  expect(WIFSIGNALED(how) && WTERMSIG(how) == SIGINT, "a second Ctrl-C ends the process");
}

int main(void) {
  lists();
  last_error();
  memory();
  sha();
  interrupt();
  double t = lg_clock();
  usleep(2000);
  t = lg_clock() - t;
  expect(t >= 0.002 && t < 10, "the clock runs in seconds");
  return failures != 0;
}
