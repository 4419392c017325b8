/* fuzz_csv.c: seeded, bounded fuzzing of lg_csv_read. Tables that are right are written in every way that the format
 * has (quotes, CRLF, blanks, empty lines) and must be read back field by field; then bytes are changed, cut out and put
 * in: every read must give a whole table or an error that names the file, and leak nothing. Runs in the test suite;
 * under ASan and UBSan it also checks every access. Argument: rounds (4000). */
#define _GNU_SOURCE /* memfd_create */
#include "../../src/core/rng.h"
#include "../../src/core/status.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 1 << 14, ROWS = 6, COLUMNS = 5, FIELD = 8 };
static uint64_t drawn;
static uint32_t draw(uint32_t below) { return (uint32_t)(lg_rng_uniform(21, 1, drawn++) * below); }

typedef struct {
  uint32_t rows, columns;
  char delimiter;
  char field[ROWS][COLUMNS][FIELD + 1];
} table;

/* Fields of few different bytes, so that the special ones are frequent. */
static void make(table *t) {
  static const char bytes[] = "ab1.5e-,;\t\"\n ?x", ends[] = "ab1.5e-?x";
  t->rows = 1 + draw(ROWS);
  t->columns = 1 + draw(COLUMNS);
  t->delimiter = ",;\t"[draw(3)];
  for (uint32_t r = 0; r < t->rows; r++)
    for (uint32_t c = 0; c < t->columns; c++) {
      uint32_t n = draw(FIELD + 1);
      for (uint32_t i = 0; i < n; i++)
        t->field[r][c][i] = i == 0 || i + 1 == n ? ends[draw(sizeof ends - 1)] : bytes[draw(sizeof bytes - 1)];
      t->field[r][c][n] = 0;
    }
}

static size_t put_field(char *out, const table *t, const char *field) {
  size_t at = 0;
  char special[] = {'"', '\n', '\r', t->delimiter, 0};
  if (draw(3) == 0 && t->delimiter != '\t') out[at++] = ' ';
  bool quotes = strpbrk(field, special) || draw(3) == 0 || (*field == 0 && t->columns == 1);
  if (quotes) out[at++] = '"';
  for (; *field; field++) {
    if (*field == '"') out[at++] = '"';
    out[at++] = *field;
  }
  if (quotes) out[at++] = '"';
  if (draw(3) == 0 && t->delimiter != '\t') out[at++] = ' ';
  return at;
}

static size_t put(char *out, const table *t) {
  size_t at = 0;
  for (uint32_t r = 0; r < t->rows; r++) {
    for (uint32_t c = 0; c < t->columns; c++) {
      if (c) out[at++] = t->delimiter;
      at += put_field(out + at, t, t->field[r][c]);
    }
    if (r + 1 == t->rows && draw(3) == 0) break; /* no newline at the end */
    for (uint32_t k = 1 + (draw(5) == 0); k > 0; k--) {
      if (draw(3) == 0) out[at++] = '\r';
      out[at++] = '\n';
    }
  }
  return at;
}

static int failures;
static void expect(bool ok, const char *what, int round) {
  if (ok) return;
  if (failures++ < 10) fprintf(stderr, "round %d: %s: %s\n", round, what, lg_last_error());
}

static void store(int file, const char *bytes, size_t n) {
  if (ftruncate(file, 0) || pwrite(file, bytes, n, 0) != (ssize_t)n) exit(2);
}

/* Reads every field and every column of a table that was read. */
static void walk(const lg_csv *csv, int round) {
  int64_t rows, length = 0;
  int32_t columns, numeric;
  expect(lg_csv_size(&rows, &columns, csv) == LG_OK && rows > 0 && columns > 0, "a table without rows", round);
  double *values = malloc((size_t)rows * sizeof *values);
  for (int32_t c = 0; c < columns && values; c++) {
    if (lg_csv_numbers(&numeric, values, csv, c) != LG_OK) expect(strlen(lg_last_error()) > 5, "no message", round);
    for (int64_t r = 0; r < rows; r++) {
      const char *text = lg_csv_text(csv, r, c);
      length += text ? (int64_t)strlen(text) : 0;
      expect(lg_csv_line(csv, r) >= 1, "a row without a line", round);
    }
  }
  expect(length <= ROOM && !lg_csv_text(csv, rows, 0) && !lg_csv_text(csv, 0, columns), "fields outside", round);
  free(values);
}

static void right(const table *t, const char *path, int round) {
  lg_csv *csv;
  int64_t rows;
  int32_t columns;
  lg_status status = lg_csv_read(&csv, path, t->delimiter, 1, 0, 0, "?\n");
  expect(status == LG_OK, "a right table is refused", round);
  if (status != LG_OK) return;
  lg_csv_size(&rows, &columns, csv);
  expect(rows == t->rows && columns == (int32_t)t->columns, "another size", round);
  for (uint32_t r = 0; r < t->rows && rows == t->rows; r++)
    for (uint32_t c = 0; c < t->columns && columns == (int32_t)t->columns; c++) {
      const char *text = lg_csv_text(csv, r, (int32_t)c), *field = t->field[r][c];
      bool missing = !*field || !strcmp(field, "?");
      expect(missing ? !text : text && !strcmp(text, field), "another field", round);
    }
  walk(csv, round);
  lg_csv_free(csv);
}

static size_t mutate(char *file, size_t bytes) {
  static const char special[] = "\",;\t\n\r ";
  for (uint32_t k = 1 + draw(3); k > 0 && bytes > 0; k--)
    file[draw((uint32_t)bytes)] = draw(4) ? special[draw(sizeof special)] : (char)draw(256); /* a zero byte, too */
  return draw(4) ? bytes : draw((uint32_t)bytes + 1);
}

int main(int argc, char **argv) {
  static char bytes[ROOM];
  int rounds = argc > 1 ? atoi(argv[1]) : 4000, file = memfd_create("table", 0);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (file < 0 || lg_init(1) != LG_OK) return 2;
  int64_t before = lg_mem_live(), read = 0;
  for (int round = 0; round < rounds; round++) {
    table t;
    make(&t);
    size_t n = put(bytes, &t);
    store(file, bytes, n);
    right(&t, path, round);
    store(file, bytes, mutate(bytes, n));
    lg_csv *csv;
    if (lg_csv_read(&csv, path, t.delimiter, (int32_t)draw(4) > 0, (int32_t)draw(2), draw(3), "?\n") == LG_OK) {
      walk(csv, round);
      lg_csv_free(csv);
      read++;
    } else {
      expect(!csv && strstr(lg_last_error(), path), "an error without the file's name", round);
    }
    expect(lg_mem_live() == before, "memory is held", round);
  }
  expect(read > rounds / 20 && read < rounds, "changed files are all read, or none", rounds);
  printf("%d rounds, %lld changed files read, %d failures\n", rounds, (long long)read, failures);
  return failures > 0;
}
