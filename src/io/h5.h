/* h5.h: what the h5*.c files share: the handle, ids that close themselves, and errors that carry HDF5's own reason.
 * Not for Lua, which sees lg_h5_* through lgelu.h; not for other folders. HDF5 is not thread-safe: one thread only.
 *
 * Files. Reading ("r") goes through the file system, so that a data set of any size can be read. Writing ("w", "a")
 * goes through an image in memory, which lg_h5_close puts under its name at one instant: no reader ever sees half a
 * file, no lock of a reader stops a writer, and a full disk leaves the old file as it was (HDF5's own writer would
 * keep a file open whose last flush failed). Each file we write ends in a seal (h5_seal.c) behind HDF5's own bytes.
 */
#ifndef LG_H5_H
#define LG_H5_H
#include "../core/status.h"
#include <hdf5.h>
#include <stddef.h>

enum { LG_SEAL_BYTES = 64 };

struct lg_h5 {
  hid_t file;
  char mode;  /* 'r', 'w' or 'a' */
  int sealed; /* the file carried a seal, and it was right */
  char path[];
};

/* An id of whatever kind that is given back when its block is left, on every path. */
#define LG_H5_ID __attribute__((cleanup(lg_h5_drop_id))) hid_t
static inline void lg_h5_drop_id(hid_t *id) {
  if (*id >= 0) H5Idec_ref(*id);
}

/* "path: object: text": object NULL for the file as a whole. lg_h5_fail_reason appends HDF5's innermost message of the
 * call that failed just before; when that was a lock, who holds it, and how to read all the same. */
lg_status lg_h5_fail(lg_status status, const lg_h5 *f, const char *object, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
lg_status lg_h5_fail_reason(lg_status status, const lg_h5 *f, const char *object, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Refuses a NULL handle and a name that is not absolute and plain ("/a/b"; "/" is the root). Writing: a handle opened
 * "r" is refused as well. */
lg_status lg_h5_check(const lg_h5 *f, const char *object, int writing);
/* Offset of the first byte that is not UTF-8, or -1. */
int64_t lg_utf8_invalid(const char *text);
/* A property list for links: groups on the way are created, names are UTF-8. Negative when there is no memory. */
hid_t lg_h5_link_plist(void);
/* A variable-length UTF-8 string type. Negative when there is no memory. */
hid_t lg_h5_text_type(void);
/* Removes a data set, so that another can take its name; fine when there is none, an error when it is a group. */
lg_status lg_h5_remove(lg_h5 *f, const char *object);
/* Makes a data set, in place of one of that name, and writes data [dims], of type memory, into it as type. */
lg_status lg_h5_new_set(lg_h5 *f, const char *object, int rank, const hsize_t *dims, hid_t type, hid_t memory,
                        const void *data);
/* Opens a data set that must be there; refuses a group. */
lg_status lg_h5_open_set(hid_t *id, lg_h5 *f, const char *object, int writing);
/* Refuses n elements of width bytes that the file cannot possibly hold. */
lg_status lg_h5_check_size(lg_h5 *f, const char *object, int64_t n, int64_t width);

/* Growing text, NUL-ended; data is lg_alloc'ed. */
typedef struct lg_text {
  char *data;
  size_t length, room;
} lg_text;
/* Appends bytes; LG_EMEM frees what was there. */
lg_status lg_text_add(lg_text *t, const char *bytes, size_t n);

/* All strings of an open attribute or data set (variable or fixed length), one after another, each ended by a zero;
 * their number is that of its elements. text starts empty. */
lg_status lg_h5_read_strings(lg_text *text, lg_h5 *f, const char *object, hid_t id);

/* seal[LG_SEAL_BYTES] of an image: a mark, the image's length and its SHA-256. */
void lg_seal_make(unsigned char *seal, const void *image, size_t bytes);
/* *sealed = 1 when the open file carries a seal that fits, 0 when it carries none; LG_EFORMAT when the contents are not
 * those that were sealed. *content: bytes before the seal (all of them when there is none). path is for the message. */
lg_status lg_seal_check(int *sealed, int64_t *content, int fd, const char *path);
#endif
