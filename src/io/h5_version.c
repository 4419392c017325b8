/* h5_version.c: which HDF5 library is in use. Called by lgelu doctor. */
#include "../lgelu.h"
#include <hdf5.h>
#include <stdio.h>

const char *lg_h5_version(void) {
  static _Thread_local char text[40];
  unsigned major, minor, release;
  if (H5get_libversion(&major, &minor, &release) < 0) return "unknown";
  snprintf(text, sizeof text, "%u.%u.%u", major, minor, release);
  return text;
}
