/* h5_texts.c: data sets of strings (variable-length UTF-8), and reading the strings of any attribute or data set. */
#include "../core/memory.h"
#include "h5.h"
#include <string.h>

/* Data sets and attributes differ in HDF5's calls only. */
static int is_attr(hid_t id) { return H5Iget_type(id) == H5I_ATTR; }
static herr_t read_any(hid_t id, hid_t type, void *data) {
  return is_attr(id) ? H5Aread(id, type, data) : H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
}

static lg_status read_variable(lg_text *text, lg_h5 *f, const char *object, hid_t id, hid_t type, hid_t space,
                               size_t n) {
  LG_H5_ID memory = H5Tcopy(H5T_C_S1);
  if (memory < 0 || H5Tset_size(memory, H5T_VARIABLE) < 0 || H5Tset_cset(memory, H5Tget_cset(type)) < 0)
    return lg_h5_fail_reason(LG_EFORMAT, f, object, "its string type is not understood");
  char **strings = lg_alloc((n + 1) * sizeof *strings);
  if (!strings) return lg_h5_fail(LG_EMEM, f, object, "no memory for %zu strings", n);
  lg_status status = LG_OK;
  if (n && read_any(id, memory, strings) < 0) {
    status = lg_h5_fail_reason(LG_EFORMAT, f, object, "its strings cannot be read");
  } else {
    for (size_t i = 0; i < n && status == LG_OK; i++) /* a string never written is NULL */
      status = lg_text_add(text, strings[i] ? strings[i] : "", strings[i] ? strlen(strings[i]) + 1 : 1);
    if (n) H5Dvlen_reclaim(memory, space, H5P_DEFAULT, strings);
  }
  lg_release(strings);
  return status;
}

static lg_status read_fixed(lg_text *text, lg_h5 *f, const char *object, hid_t id, hid_t type, size_t n) {
  size_t width = H5Tget_size(type) + 1, bytes;
  LG_H5_ID memory = H5Tcopy(H5T_C_S1); /* ended by zero, whatever pads the file's strings */
  if (memory < 0 || H5Tset_size(memory, width) < 0 || H5Tset_cset(memory, H5Tget_cset(type)) < 0)
    return lg_h5_fail_reason(LG_EFORMAT, f, object, "its string type is not understood");
  char *block = __builtin_mul_overflow(n, width, &bytes) ? NULL : lg_alloc(bytes);
  if (!block) return lg_h5_fail(LG_EMEM, f, object, "no memory for %zu strings of %zu bytes", n, width);
  lg_status status = LG_OK;
  if (n && read_any(id, memory, block) < 0)
    status = lg_h5_fail_reason(LG_EFORMAT, f, object, "its strings cannot be read");
  for (size_t i = 0; i < n && status == LG_OK; i++) {
    status = lg_text_add(text, block + i * width, strnlen(block + i * width, width - 1));
    if (status == LG_OK) status = lg_text_add(text, "", 1);
  }
  lg_release(block);
  return status;
}

lg_status lg_h5_read_strings(lg_text *text, lg_h5 *f, const char *object, hid_t id) {
  LG_H5_ID type = is_attr(id) ? H5Aget_type(id) : H5Dget_type(id);
  LG_H5_ID space = is_attr(id) ? H5Aget_space(id) : H5Dget_space(id);
  if (type < 0 || space < 0) return lg_h5_fail_reason(LG_EFORMAT, f, object, "its type cannot be read");
  if (H5Tget_class(type) != H5T_STRING) return lg_h5_fail(LG_EDTYPE, f, object, "holds numbers, expected strings");
  hssize_t n = H5Sget_simple_extent_npoints(space);
  LG_TRY(lg_h5_check_size(f, object, n < 0 ? -1 : (int64_t)n, (int64_t)H5Tget_size(type)));
  LG_TRY(lg_text_add(text, "", 0));
  lg_status status = H5Tis_variable_str(type) > 0 ? read_variable(text, f, object, id, type, space, (size_t)n)
                                                  : read_fixed(text, f, object, id, type, (size_t)n);
  if (status != LG_OK) {
    lg_release(text->data);
    *text = (lg_text){0};
  }
  return status;
}

lg_status lg_h5_read_texts(char **text, int64_t *n, lg_h5 *f, const char *object) {
  if (!text || !n) return lg_fail(LG_EARG, "text or n is NULL");
  *text = NULL;
  *n = 0;
  LG_H5_ID set = H5I_INVALID_HID;
  LG_TRY(lg_h5_open_set(&set, f, object, 0));
  LG_H5_ID space = H5Dget_space(set);
  lg_text all = {0};
  LG_TRY(lg_h5_read_strings(&all, f, object, set));
  *n = H5Sget_simple_extent_npoints(space);
  *text = all.data;
  return LG_OK;
}

lg_status lg_h5_write_texts(lg_h5 *f, const char *object, const char *text, int64_t n) {
  LG_TRY(lg_h5_check(f, object, 1));
  if (n < 0 || (n > 0 && !text))
    return lg_h5_fail(LG_EARG, f, object, "%lld strings at %p", (long long)n, (const void *)text);
  const char **strings = lg_alloc(((size_t)n + 1) * sizeof *strings);
  if (!strings) return lg_h5_fail(LG_EMEM, f, object, "no memory for %lld strings", (long long)n);
  lg_status status = LG_OK;
  for (int64_t i = 0; i < n && status == LG_OK; i++, text += strlen(text) + 1) {
    strings[i] = text;
    int64_t bad = lg_utf8_invalid(text);
    if (bad >= 0)
      status =
          lg_h5_fail(LG_EARG, f, object, "string %lld is not UTF-8 at byte %lld", (long long)i + 1, (long long)bad + 1);
  }
  if (status == LG_OK) {
    LG_H5_ID type = lg_h5_text_type();
    hsize_t dims = (hsize_t)n;
    status = lg_h5_new_set(f, object, 1, &dims, type, type, strings);
  }
  lg_release(strings);
  return status;
}
