/* stream.h: a file's content in order, plain or gzipped, told apart by the first bytes and never by the name.
 * Not a writer, no seeking. Called by the readers of src/data. */
#ifndef LG_STREAM_H
#define LG_STREAM_H
#include "../core/status.h"

typedef struct lg_stream lg_stream;

/* Opens a regular file; "missing" when there is none of that name, "io" otherwise. */
lg_status lg_stream_open(lg_stream **out, const char *path);
void lg_stream_close(lg_stream *s); /* NULL is fine */
/* Reads up to bytes bytes; *got is less only where the content truly ends. A gzip file that is cut short, damaged or
 * followed by other bytes is an error that says how many bytes were unpacked and how many the file has. */
lg_status lg_stream_read(int64_t *got, lg_stream *s, void *to, int64_t bytes);
/* The most bytes that can still come: exact for a plain file, deflate's greatest ratio (1032) for a gzipped one. */
int64_t lg_stream_most(const lg_stream *s);
int32_t lg_stream_gzipped(const lg_stream *s);
#endif
