/* h5_attr.c: attributes of groups and data sets: scalar strings (variable-length UTF-8, so that h5py gives str),
 * integers and floats. Arrays are data sets' business: an array attribute of another program is kind 4. */
#include "../core/memory.h"
#include "h5.h"
#include <string.h>

enum { MISSING, TEXT, INTEGER, FLOAT, OTHER };

static lg_status check(lg_h5 *f, const char *object, const char *attr, int writing) {
  LG_TRY(lg_h5_check(f, object, writing));
  if (!attr || !attr[0]) return lg_h5_fail(LG_EARG, f, object, "an attribute's name is %s", attr ? "empty" : "NULL");
  if (lg_utf8_invalid(attr) >= 0) return lg_h5_fail(LG_EARG, f, object, "an attribute's name is not UTF-8");
  if (!lg_h5_exists(f, object)) return lg_h5_fail(LG_EMISSING, f, object, "there is no such group or data set");
  return LG_OK;
}

hid_t lg_h5_text_type(void) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && (H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
    H5Tclose(type);
    return H5I_INVALID_HID;
  }
  return type;
}

lg_status lg_h5_attr_delete(lg_h5 *f, const char *object, const char *attr) {
  LG_TRY(check(f, object, attr, 1));
  if (H5Aexists_by_name(f->file, object, attr, H5P_DEFAULT) > 0 &&
      H5Adelete_by_name(f->file, object, attr, H5P_DEFAULT) < 0)
    return lg_h5_fail_reason(LG_EIO, f, object, "attribute '%s' cannot be removed", attr);
  return LG_OK;
}

/* Writes a scalar attribute, in place of one of that name. */
static lg_status set(lg_h5 *f, const char *object, const char *attr, hid_t file_type, hid_t memory_type,
                     const void *value) {
  LG_TRY(lg_h5_attr_delete(f, object, attr));
  LG_H5_ID space = H5Screate(H5S_SCALAR);
  LG_H5_ID names = H5Pcreate(H5P_ATTRIBUTE_CREATE);
  H5Pset_char_encoding(names, H5T_CSET_UTF8);
  LG_H5_ID a = H5Acreate_by_name(f->file, object, attr, file_type, space, names, H5P_DEFAULT, H5P_DEFAULT);
  if (a < 0 || H5Awrite(a, memory_type, value) < 0)
    return lg_h5_fail_reason(LG_EIO, f, object, "attribute '%s' cannot be written", attr);
  return LG_OK;
}

lg_status lg_h5_attr_set_text(lg_h5 *f, const char *object, const char *attr, const char *value) {
  LG_TRY(check(f, object, attr, 1));
  if (!value) return lg_h5_fail(LG_EARG, f, object, "the value of attribute '%s' is NULL", attr);
  int64_t bad = lg_utf8_invalid(value);
  if (bad >= 0)
    return lg_h5_fail(LG_EARG, f, object, "attribute '%s' is not UTF-8 at byte %lld", attr, (long long)bad + 1);
  LG_H5_ID type = lg_h5_text_type();
  return set(f, object, attr, type, type, &value);
}

lg_status lg_h5_attr_set_f64(lg_h5 *f, const char *object, const char *attr, double value) {
  LG_TRY(check(f, object, attr, 1));
  return set(f, object, attr, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

lg_status lg_h5_attr_set_i64(lg_h5 *f, const char *object, const char *attr, int64_t value) {
  LG_TRY(check(f, object, attr, 1));
  return set(f, object, attr, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

static int32_t kind_of(hid_t attribute) {
  LG_H5_ID type = H5Aget_type(attribute);
  LG_H5_ID space = H5Aget_space(attribute);
  if (type < 0 || space < 0 || H5Sget_simple_extent_type(space) == H5S_NULL || H5Sget_simple_extent_npoints(space) != 1)
    return OTHER;
  switch (H5Tget_class(type)) {
  case H5T_STRING: return TEXT;
  case H5T_INTEGER:
  case H5T_ENUM: /* h5py's bool is an enumeration of FALSE and TRUE */ return INTEGER;
  case H5T_FLOAT: return FLOAT;
  default: return OTHER;
  }
}

/* Opens an attribute and its kind; *id stays negative when it is missing. */
static lg_status open_attr(hid_t *id, int32_t *kind, lg_h5 *f, const char *object, const char *attr) {
  LG_TRY(check(f, object, attr, 0));
  *kind = MISSING;
  htri_t there = H5Aexists_by_name(f->file, object, attr, H5P_DEFAULT);
  if (there == 0) return LG_OK;
  if (there > 0) *id = H5Aopen_by_name(f->file, object, attr, H5P_DEFAULT, H5P_DEFAULT);
  if (*id < 0) return lg_h5_fail_reason(LG_EFORMAT, f, object, "attribute '%s' cannot be opened", attr);
  *kind = kind_of(*id);
  return LG_OK;
}

/* The same, for reading one that must be there and be of one of two kinds. */
static lg_status need(hid_t *id, lg_h5 *f, const char *object, const char *attr, int32_t wanted, int32_t also) {
  static const char *const names[] = {"missing", "text", "an integer", "a float", "neither text nor one number"};
  int32_t kind;
  LG_TRY(open_attr(id, &kind, f, object, attr));
  if (kind == MISSING) return lg_h5_fail(LG_EMISSING, f, object, "there is no attribute '%s'", attr);
  if (kind != wanted && kind != also)
    return lg_h5_fail(LG_EDTYPE, f, object, "attribute '%s' is %s, expected %s", attr, names[kind], names[wanted]);
  return LG_OK;
}

lg_status lg_h5_attr_kind(int32_t *kind, lg_h5 *f, const char *object, const char *attr) {
  if (!kind) return lg_fail(LG_EARG, "kind is NULL");
  LG_H5_ID id = H5I_INVALID_HID;
  return open_attr(&id, kind, f, object, attr);
}

lg_status lg_h5_attr_f64(double *value, lg_h5 *f, const char *object, const char *attr) {
  if (!value) return lg_fail(LG_EARG, "value is NULL");
  LG_H5_ID id = H5I_INVALID_HID;
  LG_TRY(need(&id, f, object, attr, FLOAT, INTEGER));
  if (H5Aread(id, H5T_NATIVE_DOUBLE, value) < 0)
    return lg_h5_fail_reason(LG_EFORMAT, f, object, "attribute '%s' cannot be read", attr);
  return LG_OK;
}

lg_status lg_h5_attr_i64(int64_t *value, lg_h5 *f, const char *object, const char *attr) {
  if (!value) return lg_fail(LG_EARG, "value is NULL");
  LG_H5_ID id = H5I_INVALID_HID;
  LG_TRY(need(&id, f, object, attr, INTEGER, INTEGER));
  if (H5Aread(id, H5T_NATIVE_INT64, value) < 0)
    return lg_h5_fail_reason(LG_EFORMAT, f, object, "attribute '%s' cannot be read", attr);
  return LG_OK;
}

lg_status lg_h5_attr_text(char **text, lg_h5 *f, const char *object, const char *attr) {
  if (!text) return lg_fail(LG_EARG, "text is NULL");
  *text = NULL;
  LG_H5_ID id = H5I_INVALID_HID;
  LG_TRY(need(&id, f, object, attr, TEXT, TEXT));
  lg_text all = {0};
  LG_TRY(lg_h5_read_strings(&all, f, object, id));
  *text = all.data;
  return LG_OK;
}

typedef struct listing {
  lg_text names;
  lg_status status;
} listing;

static herr_t add_name(hid_t id, const char *name, const H5A_info_t *info, void *context) {
  (void)id, (void)info;
  listing *l = context;
  l->status = lg_text_add(&l->names, name, strlen(name));
  if (l->status == LG_OK) l->status = lg_text_add(&l->names, "\n", 1);
  return l->status == LG_OK ? 0 : 1;
}

lg_status lg_h5_attr_list(char **text, lg_h5 *f, const char *object) {
  if (!text) return lg_fail(LG_EARG, "text is NULL");
  *text = NULL;
  LG_TRY(check(f, object, "-", 0));
  listing l = {0};
  LG_TRY(lg_text_add(&l.names, "", 0));
  LG_H5_ID id = H5Oopen(f->file, object, H5P_DEFAULT);
  if (id < 0 || H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, NULL, add_name, &l) < 0) {
    lg_release(l.names.data);
    return lg_h5_fail_reason(LG_EFORMAT, f, object, "its attributes cannot be listed");
  }
  *text = l.names.data; /* NULL when memory ran out: lg_text_add has freed it */
  return l.status;
}
