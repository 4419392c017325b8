/* csv.c: tables of text: fields between delimiters, quoted or not, rows of equal length (RFC 4180, and less strict
 * where that is harmless: LF or CRLF, blanks around fields, empty lines). Says what a field holds and whether a column
 * is of numbers; what a column means is the part of lua/lgelu/data/csv.lua, which calls it. The locale changes nothing.
 */
#define _GNU_SOURCE /* strtod_l */
#include "../core/memory.h"
#include "../core/status.h"
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 1 << 16, SHOWN = 40 };

struct lg_csv {
  char *path, *text; /* the file; fields end with zero bytes that are written over delimiters and quotes */
  int64_t bytes, rows, room;
  int32_t columns;
  bool header;
  int64_t *field; /* [room·columns]: offset in text, -1: missing; row 0 holds the names when there is a header */
  int64_t *line;  /* [room] */
  locale_t plain;
};

/* Where the reader is. */
typedef struct {
  lg_csv *t;
  int64_t at, line;
  char delimiter;
  bool quoting;
  const char *missing; /* marks, each ended by a newline */
} reader;

static const char *shorten(char to[SHOWN + 4], const char *field) {
  size_t n = strlen(field);
  if (n <= SHOWN) return memcpy(to, field, n + 1);
  n = SHOWN;
  while (n > 0 && ((unsigned char)field[n] & 0xC0) == 0x80) n--; /* not inside a character */
  memcpy(to, field, n);
  return memcpy(to + n, "…", 4), to;
}

static lg_status wrong(const reader *r, int32_t column, const char *what) {
  return lg_fail(LG_EFORMAT, "%s: line %lld, column %d: %s", r->t->path, (long long)r->line, column + 1, what);
}

static bool blank(const reader *r, char c) { return (c == ' ' || c == '\t') && c != r->delimiter; }

static bool ends_line(const reader *r, int64_t at) {
  const lg_csv *t = r->t;
  return at >= t->bytes || t->text[at] == '\n' ||
         (t->text[at] == '\r' && (at + 1 == t->bytes || t->text[at + 1] == '\n'));
}

static bool ends_field(const reader *r, int64_t at) { return ends_line(r, at) || r->t->text[at] == r->delimiter; }

static bool is_missing(const reader *r, const char *field) {
  size_t n = strlen(field);
  if (n == 0) return true;
  for (const char *mark = r->missing; *mark;) {
    size_t length = strcspn(mark, "\n");
    if (length == n && !memcmp(mark, field, n)) return true;
    mark += length + (mark[length] == '\n');
  }
  return false;
}

/* A quoted field: at stands behind the opening quote; afterwards on what ends the field. *end: behind its last byte. */
static lg_status quoted(reader *r, int32_t column, int64_t *end) {
  char *text = r->t->text;
  int64_t to = r->at, line = r->line;
  for (;; r->at++) {
    if (r->at >= r->t->bytes)
      return lg_fail(LG_EFORMAT, "%s: line %lld, column %d: the quote that opens here is never closed", r->t->path,
                     (long long)line, column + 1);
    if (text[r->at] == 0) return wrong(r, column, "a zero byte: this is no text");
    if (text[r->at] == '"') {
      if (r->at + 1 >= r->t->bytes || text[r->at + 1] != '"') break;
      r->at++;
    }
    if (text[r->at] == '\n') r->line++;
    text[to++] = text[r->at];
  }
  r->at++;
  while (!ends_line(r, r->at) && blank(r, text[r->at])) r->at++;
  if (!ends_field(r, r->at)) return wrong(r, column, "text behind a closing quote; a quote inside is written twice");
  *end = to;
  return LG_OK;
}

static lg_status unquoted(reader *r, int32_t column, int64_t *end) {
  const char *text = r->t->text;
  int64_t start = r->at;
  for (; !ends_field(r, r->at); r->at++) {
    if (text[r->at] == 0) return wrong(r, column, "a zero byte: this is no text");
    if (text[r->at] == '\r') return wrong(r, column, "a carriage return without a newline");
    if (r->quoting && text[r->at] == '"')
      return wrong(r, column, "a stray quote in a field that does not begin with one");
  }
  for (*end = r->at; *end > start && blank(r, text[*end - 1]);) --*end;
  return LG_OK;
}

/* The next field: its offset, or -1 where it is missing. *last: it ends its line, which the reader has left. */
static lg_status next_field(reader *r, int32_t column, int64_t *offset, bool *last) {
  lg_csv *t = r->t;
  int64_t end = 0;
  while (!ends_line(r, r->at) && blank(r, t->text[r->at])) r->at++;
  bool opens = r->quoting && r->at < t->bytes && t->text[r->at] == '"';
  *offset = r->at += opens;
  LG_TRY(opens ? quoted(r, column, &end) : unquoted(r, column, &end));
  *last = ends_line(r, r->at);
  if (r->at < t->bytes && t->text[r->at] == '\r') r->at++;
  if (r->at < t->bytes) r->at++;
  if (*last) r->line++;
  t->text[end] = 0; /* the delimiter, the line's end or a quote; behind the file stands a zero byte */
  if (is_missing(r, t->text + *offset)) *offset = -1;
  return LG_OK;
}

static lg_status grow(lg_csv *t) {
  int64_t room = t->room ? 2 * t->room : 64;
  int64_t *field = lg_alloc((size_t)(room * t->columns) * sizeof *field), *line = lg_alloc((size_t)room * sizeof *line);
  if (!field || !line) {
    lg_release(field);
    lg_release(line);
    return lg_fail(LG_EMEM, "%s: cannot allocate %lld rows", t->path, (long long)room);
  }
  if (t->rows) {
    memcpy(field, t->field, (size_t)(t->rows * t->columns) * sizeof *field);
    memcpy(line, t->line, (size_t)t->rows * sizeof *line);
  }
  lg_release(t->field);
  lg_release(t->line);
  t->field = field;
  t->line = line;
  t->room = room;
  return LG_OK;
}

/* Fields of the line at hand, without changing anything: for the first line, which decides. */
static lg_status count_columns(const reader *r, int32_t *columns) {
  bool inside = false;
  *columns = 1;
  for (int64_t at = r->at; inside || !ends_line(r, at); at++) {
    if (at >= r->t->bytes) break;
    if (r->quoting && r->t->text[at] == '"') inside = !inside;
    if (!inside && r->t->text[at] == r->delimiter && ++*columns > MOST_COLUMNS)
      return wrong(r, *columns - 1, "more columns than a table may have (65536)");
  }
  return LG_OK;
}

static lg_status read_row(reader *r) {
  lg_csv *t = r->t;
  if (t->rows == t->room) LG_TRY(grow(t));
  int64_t line = r->line, spare;
  int32_t found = 0;
  t->line[t->rows] = line;
  for (bool last = false; !last; found++)
    LG_TRY(next_field(r, found, found < t->columns ? &t->field[t->rows * t->columns + found] : &spare, &last));
  if (found != t->columns)
    return lg_fail(LG_EFORMAT, "%s: line %lld: %d field%s, expected %d as in line %lld", t->path, (long long)line,
                   found, found == 1 ? "" : "s", t->columns, (long long)t->line[0]);
  t->rows++;
  return LG_OK;
}

static lg_status read_table(reader *r, int64_t skip) {
  lg_csv *t = r->t;
  if (t->bytes >= 3 && !memcmp(t->text, "\xEF\xBB\xBF", 3)) r->at = 3; /* a byte order mark */
  for (; skip > 0 && r->at < t->bytes; skip--, r->line++) {
    while (r->at < t->bytes && t->text[r->at] != '\n') r->at++;
    r->at += r->at < t->bytes;
  }
  while (r->at < t->bytes) {
    int64_t at = r->at;
    while (!ends_line(r, at) && blank(r, t->text[at])) at++;
    if (ends_line(r, at)) { /* an empty line */
      if (at < t->bytes && t->text[at] == '\r') at++;
      r->at = at + (at < t->bytes);
      r->line++;
      continue;
    }
    if (t->columns == 0) LG_TRY(count_columns(r, &t->columns));
    LG_TRY(read_row(r));
  }
  if (t->rows == 0) return lg_fail(LG_EFORMAT, "%s: is empty, expected rows of fields", t->path);
  if (t->rows == 1 && t->header)
    return lg_fail(LG_EFORMAT, "%s: holds names of columns but no row behind them", t->path);
  return LG_OK;
}

void lg_csv_free(lg_csv *t) {
  if (!t) return;
  if (t->plain) freelocale(t->plain);
  lg_release(t->path);
  lg_release(t->text);
  lg_release(t->field);
  lg_release(t->line);
  lg_release(t);
}

static lg_status set_up(lg_csv *t, const char *path) {
  size_t n = strlen(path) + 1;
  t->path = lg_alloc(n);
  t->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!t->path || !t->plain) return lg_fail(LG_EMEM, "%s: cannot allocate a table", path);
  memcpy(t->path, path, n);
  return lg_content_read(&t->text, &t->bytes, path);
}

lg_status lg_csv_read(lg_csv **out, const char *path, int32_t delimiter, int32_t quoting, int32_t header, int64_t skip,
                      const char *missing) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  if (!path || !missing) return lg_fail(LG_EARG, "path or missing is NULL");
  if (delimiter < 1 || delimiter > 127 || strchr("\"\r\n", delimiter))
    return lg_fail(LG_EARG, "delimiter = %d, expected an ASCII character that is neither a quote nor a line's end",
                   delimiter);
  if ((quoting != 0 && quoting != 1) || (header != 0 && header != 1) || skip < 0)
    return lg_fail(LG_EARG, "quoting = %d, header = %d, skip = %lld, expected 0 or 1, 0 or 1, and no negative number",
                   quoting, header, (long long)skip);
  lg_csv *t = lg_alloc(sizeof *t);
  if (!t) return lg_fail(LG_EMEM, "cannot allocate a table");
  t->header = header;
  reader r = {.t = t, .line = 1, .delimiter = (char)delimiter, .quoting = quoting, .missing = missing};
  lg_status status = set_up(t, path);
  if (status == LG_OK) status = read_table(&r, skip);
  if (status == LG_OK)
    *out = t;
  else
    lg_csv_free(t);
  return status;
}

lg_status lg_csv_size(int64_t *rows, int32_t *columns, const lg_csv *t) {
  if (!rows || !columns || !t) return lg_fail(LG_EARG, "rows, columns or the table is NULL");
  *rows = t->rows - t->header;
  *columns = t->columns;
  return LG_OK;
}

const char *lg_csv_name(const lg_csv *t, int32_t column) {
  if (!t || !t->header || column < 0 || column >= t->columns || t->field[column] < 0) return NULL;
  return t->text + t->field[column];
}

const char *lg_csv_text(const lg_csv *t, int64_t row, int32_t column) {
  if (!t || row < 0 || row >= t->rows - t->header || column < 0 || column >= t->columns) return NULL;
  int64_t offset = t->field[(row + t->header) * t->columns + column];
  return offset < 0 ? NULL : t->text + offset;
}

int64_t lg_csv_line(const lg_csv *t, int64_t row) {
  return t && row >= 0 && row < t->rows - t->header ? t->line[row + t->header] : -1;
}

static const char *digits(const char *s) {
  while (*s >= '0' && *s <= '9') s++;
  return s;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or behind the point; nothing else that strtod takes. */
static bool is_number(const char *s) {
  if (*s == '+' || *s == '-') s++;
  const char *whole = digits(s), *end = whole;
  bool any = whole > s;
  if (*whole == '.') {
    end = digits(whole + 1);
    any = any || end > whole + 1;
  }
  if (!any) return false;
  if (*end == 'e' || *end == 'E') {
    const char *power = end + 1 + (end[1] == '+' || end[1] == '-');
    end = digits(power);
    if (end == power) return false;
  }
  return *end == 0;
}

/* A number with a decimal comma: 1,5 or 1.234,5 or 1 234,5. */
static bool is_foreign(const char *s) {
  if (*s == '+' || *s == '-') s++;
  const char *comma = strchr(s, ',');
  if (!comma || comma == s || comma[1] == 0 || strspn(s, "0123456789. '") != (size_t)(comma - s)) return false;
  return *digits(comma + 1) == 0;
}

static lg_status foreign(const lg_csv *t, int64_t row, int32_t column) {
  char shown[SHOWN + 4];
  return lg_fail(LG_EFORMAT,
                 "%s: line %lld, column %d: '%s' is a number with a decimal comma; write it with a point, as no locale "
                 "is asked",
                 t->path, (long long)lg_csv_line(t, row), column + 1, shorten(shown, lg_csv_text(t, row, column)));
}

lg_status lg_csv_numbers(int32_t *numeric, double *values, const lg_csv *t, int32_t column) {
  if (!numeric || !values || !t) return lg_fail(LG_EARG, "numeric, values or the table is NULL");
  if (column < 0 || column >= t->columns)
    return lg_fail(LG_EARG, "column = %d is outside 0..%d", column, t->columns - 1);
  int64_t first_foreign = -1, rows = t->rows - t->header;
  *numeric = 0;
  for (int64_t row = 0; row < rows; row++) {
    const char *field = lg_csv_text(t, row, column);
    values[row] = NAN;
    if (!field) continue;
    if (is_number(field)) {
      values[row] = strtod_l(field, NULL, t->plain);
      char shown[SHOWN + 4];
      if (isinf(values[row]))
        return lg_fail(LG_EFORMAT, "%s: line %lld, column %d: '%s' is too large for a number", t->path,
                       (long long)lg_csv_line(t, row), column + 1, shorten(shown, field));
    } else if (!is_foreign(field)) {
      return LG_OK; /* a column of texts */
    } else if (first_foreign < 0) {
      first_foreign = row;
    }
  }
  if (first_foreign >= 0) return foreign(t, first_foreign, column);
  *numeric = 1;
  return LG_OK;
}
