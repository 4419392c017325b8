/* test_file.c: files that appear whole or not at all, copies, folders; and what each failure says and leaves behind. */
#include "../../src/core/status.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int failures;
static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s (%s)\n", what, lg_last_error());
}

/* The whole of a small file; "" when it is not there. */
static const char *content(const char *path) {
  static char text[64];
  FILE *f = fopen(path, "r");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  text[n] = 0;
  return text;
}

/* How many entries the present folder has. */
static int entries(void) {
  DIR *d = opendir(".");
  int n = -2; /* . and .. */
  while (readdir(d)) n++;
  closedir(d);
  return n;
}

static void files(void) {
  expect(lg_file_replace("a", "one", 3) == LG_OK && !strcmp(content("a"), "one"), "a new file");
  expect(lg_file_replace("a", "two!", 4) == LG_OK && !strcmp(content("a"), "two!"), "a replaced file");
  expect(lg_file_replace("empty", NULL, 0) == LG_OK && !access("empty", R_OK), "an empty file");
  umask(022);
  struct stat st;
  lg_file_replace("mode", "x", 1);
  stat("mode", &st);
  expect((st.st_mode & 0777) == 0644, "permissions as open() gives them");
  FILE *f = fopen("tmp", "w");
  fputs("three", f);
  fclose(f);
  expect(lg_file_commit("tmp", "a") == LG_OK && !strcmp(content("a"), "three") && access("tmp", F_OK), "a commit");
  expect(entries() == 3, "no temporary file is left"); /* a, empty, mode */
}

static void failing_files(void) {
  int before = entries();
  expect(lg_file_replace("none/a", "x", 1) == LG_EMISSING && strstr(lg_last_error(), "none/a"), "no such folder");
  expect(lg_file_commit("none", "a") == LG_EMISSING && !strcmp(content("a"), "three"), "commit of nothing");
  mkdir("folder", 0777);
  expect(lg_file_replace("folder", "x", 1) == LG_EIO, "a folder is in the way");
  rmdir("folder");
  /* A write that stops half-way, as on a full disk: the old file stays, the temporary one goes. */
  struct rlimit old, small = {1000, RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &old);
  small.rlim_max = old.rlim_max;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  static char large[5000];
  expect(lg_file_replace("a", large, sizeof large) == LG_EIO && !strncmp(lg_last_error(), "a: ", 3), "no room");
  setrlimit(RLIMIT_FSIZE, &old);
  expect(!strcmp(content("a"), "three"), "after a failed write the old file is there");
  expect(entries() == before, "failures leave nothing behind");
  expect(lg_file_replace(NULL, "x", 1) == LG_EARG && lg_file_replace("a", NULL, 1) == LG_EARG, "NULL to replace");
  expect(lg_file_commit(NULL, "a") == LG_EARG && lg_file_commit("a", NULL) == LG_EARG, "NULL to commit");
}

static void folders(const char *here) {
  char path[500];
  snprintf(path, sizeof path, "%s/x/y//z/", here);
  expect(lg_dir_make(path) == LG_OK && !access("x/y/z", W_OK), "nested folders, absolute");
  expect(lg_dir_make("x/y/z") == LG_OK && lg_dir_make("x/y/w") == LG_OK && !access("x/y/w", W_OK), "folders again");
  expect(lg_dir_make(".") == LG_OK && lg_dir_make("/") == LG_OK, "folders that are always there");
  expect(lg_dir_make("a/b") == LG_EIO && strstr(lg_last_error(), "a: found"), "a file is in the way");
  expect(lg_dir_make("a") == LG_EIO, "a file of that name");
  expect(lg_dir_make("") == LG_EARG && lg_dir_make(NULL) == LG_EARG, "no path");
  char longest[6000];
  memset(longest, 'l', sizeof longest - 1);
  longest[sizeof longest - 1] = 0;
  expect(lg_dir_make(longest) == LG_EIO && lg_file_replace(longest, "x", 1) == LG_EIO, "a path that is too long");
}

int main(void) {
  char here[] = "/tmp/lgelu-test-XXXXXX", remove[100];
  if (!mkdtemp(here) || chdir(here)) return puts("FAILED: no folder for the test"), 1;
  files();
  failing_files();
  folders(here);
  snprintf(remove, sizeof remove, "rm -r %s", here);
  if (chdir("/") || system(remove)) failures++;
  return failures != 0;
}
