/* h5_tree.c: which groups and data sets a file has, and making and removing them. */
#include "../core/memory.h"
#include "h5.h"
#include <string.h>

hid_t lg_h5_link_plist(void) {
  hid_t p = H5Pcreate(H5P_LINK_CREATE);
  if (p >= 0) {
    H5Pset_create_intermediate_group(p, 1);
    H5Pset_char_encoding(p, H5T_CSET_UTF8);
  }
  return p;
}

int32_t lg_h5_exists(lg_h5 *f, const char *object) {
  if (lg_h5_check(f, object, 0) != LG_OK) return 0;
  if (!object[1]) return 1;
  /* H5Lexists fails, instead of saying no, when a group on the way is missing: ask for each on the way. */
  size_t n = strlen(object);
  char *part = lg_alloc(n + 1);
  int32_t yes = part != NULL;
  for (size_t end = 1; yes && end <= n; end++) {
    if (object[end] != '/' && object[end]) continue;
    memcpy(part, object, end);
    part[end] = 0;
    yes = H5Lexists(f->file, part, H5P_DEFAULT) > 0 && H5Oexists_by_name(f->file, part, H5P_DEFAULT) > 0;
  }
  lg_release(part);
  return yes;
}

/* Opens an object, saying which is missing when it is. */
static lg_status open_object(hid_t *id, lg_h5 *f, const char *object) {
  LG_TRY(lg_h5_check(f, object, 0));
  if (!lg_h5_exists(f, object)) return lg_h5_fail(LG_EMISSING, f, object, "there is no such group or data set");
  *id = H5Oopen(f->file, object, H5P_DEFAULT);
  if (*id < 0) return lg_h5_fail_reason(LG_EFORMAT, f, object, "cannot be opened");
  return LG_OK;
}

int32_t lg_h5_kind(lg_h5 *f, const char *object) {
  LG_H5_ID id = H5I_INVALID_HID;
  if (open_object(&id, f, object) != LG_OK) return 0;
  H5I_type_t type = H5Iget_type(id);
  return type == H5I_GROUP ? 1 : type == H5I_DATASET ? 2 : 3;
}

lg_status lg_h5_group(lg_h5 *f, const char *object) {
  LG_TRY(lg_h5_check(f, object, 1));
  if (lg_h5_exists(f, object)) {
    LG_H5_ID id = H5I_INVALID_HID;
    LG_TRY(open_object(&id, f, object));
    return H5Iget_type(id) == H5I_GROUP ? LG_OK : lg_h5_fail(LG_EEXISTS, f, object, "is a data set, not a group");
  }
  LG_H5_ID links = lg_h5_link_plist();
  LG_H5_ID group = H5Gcreate2(f->file, object, links, H5P_DEFAULT, H5P_DEFAULT);
  return group >= 0 ? LG_OK : lg_h5_fail_reason(LG_EIO, f, object, "the group cannot be made");
}

lg_status lg_h5_remove(lg_h5 *f, const char *object) {
  if (!lg_h5_exists(f, object)) return LG_OK;
  LG_H5_ID id = H5I_INVALID_HID;
  LG_TRY(open_object(&id, f, object));
  if (H5Iget_type(id) != H5I_DATASET) return lg_h5_fail(LG_EEXISTS, f, object, "is a group, not a data set");
  if (H5Ldelete(f->file, object, H5P_DEFAULT) < 0) return lg_h5_fail_reason(LG_EIO, f, object, "cannot be replaced");
  return LG_OK;
}

lg_status lg_h5_list(char **text, lg_h5 *f, const char *object) {
  if (!text) return lg_fail(LG_EARG, "text is NULL");
  *text = NULL;
  LG_TRY(lg_h5_check(f, object, 0));
  LG_H5_ID group = H5I_INVALID_HID;
  LG_TRY(open_object(&group, f, object));
  if (H5Iget_type(group) != H5I_GROUP)
    return lg_h5_fail(LG_EARG, f, object, "is a data set; only a group has children");
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0) return lg_h5_fail_reason(LG_EFORMAT, f, object, "its children cannot be listed");
  lg_text names = {0};
  LG_TRY(lg_text_add(&names, "", 0));
  for (hsize_t i = 0; i < info.nlinks; i++) {
    char name[1024];
    ssize_t n = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name - 1, H5P_DEFAULT);
    if (n < 0 || n >= (ssize_t)sizeof name - 1) {
      lg_release(names.data);
      return lg_h5_fail_reason(LG_EFORMAT, f, object, "the name of child %lld cannot be read", (long long)i);
    }
    name[n] = '\n';
    LG_TRY(lg_text_add(&names, name, (size_t)n + 1));
  }
  *text = names.data;
  return LG_OK;
}
