/* h5_data.c: data sets of numbers from and to tensors. Files hold little-endian f32, f64, i32 and u8 of ours; numbers
 * of other widths, and h5py's truth values, are converted on reading where every value fits. */
#include "../core/memory.h"
#include "../tensor/tensor.h"
#include "h5.h"
#include <string.h>

/* Chunks past HDF5's cache of 1 MiB are written straight through. */
enum { CHUNK_MOST = 4 << 20, CHUNK_LEAST = 4096 };

static hid_t file_type(int32_t dtype) {
  const hid_t types[] = {
      [LG_F32] = H5T_IEEE_F32LE, [LG_F64] = H5T_IEEE_F64LE, [LG_I32] = H5T_STD_I32LE, [LG_U8] = H5T_STD_U8LE};
  return types[dtype];
}
static hid_t memory_type(int32_t dtype) {
  const hid_t types[] = {[LG_F32] = H5T_NATIVE_FLOAT,
                         [LG_F64] = H5T_NATIVE_DOUBLE,
                         [LG_I32] = H5T_NATIVE_INT32,
                         [LG_U8] = H5T_NATIVE_UINT8};
  return types[dtype];
}

/* The creation properties of a data set: no times, so that the same contents are the same bytes; chunks of up to 4 MiB
 * (at least 4 KiB), whole rows where they fit, but for rank 0. maxdims [rank] comes out with axis 0 (and axes of length
 * 0) unlimited. */
static hid_t layout_plist(hsize_t *maxdims, int rank, const hsize_t *dims, hid_t type) {
  hid_t p = H5Pcreate(H5P_DATASET_CREATE);
  if (p >= 0) H5Pset_obj_track_times(p, 0);
  if (p < 0 || rank == 0) return p;
  hsize_t chunk[LG_MAX_RANK], bytes = H5Tget_size(type);
  for (int i = rank - 1; i >= 0; i--) { /* the last axes whole, as far as the most allows */
    hsize_t fits = bytes < CHUNK_MOST ? CHUNK_MOST / bytes : 1;
    chunk[i] = dims[i] == 0 ? 1 : dims[i] < fits ? dims[i] : fits;
    maxdims[i] = i == 0 || dims[i] == 0 ? H5S_UNLIMITED : dims[i];
    bytes *= chunk[i];
  }
  if (bytes < CHUNK_LEAST) chunk[0] *= (CHUNK_LEAST + bytes - 1) / bytes;      /* room for the rows to come */
  if (H5Tis_variable_str(type) == 0) H5Pset_fill_time(p, H5D_FILL_TIME_NEVER); /* all is written, once */
  if (H5Pset_chunk(p, rank, chunk) < 0) {
    H5Pclose(p);
    return H5I_INVALID_HID;
  }
  return p;
}

/* Such a data set is damaged, and asking for that much memory could take the machine down. Deflate reaches 1032:1. */
lg_status lg_h5_check_size(lg_h5 *f, const char *object, int64_t n, int64_t width) {
  hsize_t file_bytes = 0;
  int64_t bytes;
  if (H5Fget_filesize(f->file, &file_bytes) < 0)
    return lg_h5_fail_reason(LG_EIO, f, object, "the file's size is unknown");
  if (n < 0 || width < 0 || __builtin_mul_overflow(n, width, &bytes) ||
      (bytes > CHUNK_MOST && (uint64_t)bytes / 1032 > file_bytes))
    return lg_h5_fail(LG_EFORMAT, f, object, "claims %lld elements of %lld bytes in a file of %llu bytes", (long long)n,
                      (long long)width, (unsigned long long)file_bytes);
  return LG_OK;
}

lg_status lg_h5_open_set(hid_t *id, lg_h5 *f, const char *object, int writing) {
  LG_TRY(lg_h5_check(f, object, writing));
  if (!lg_h5_exists(f, object)) return lg_h5_fail(LG_EMISSING, f, object, "there is no such data set");
  *id = H5Oopen(f->file, object, H5P_DEFAULT);
  if (*id < 0) return lg_h5_fail_reason(LG_EFORMAT, f, object, "cannot be opened");
  if (H5Iget_type(*id) != H5I_DATASET) return lg_h5_fail(LG_EARG, f, object, "is a group, not a data set");
  return LG_OK;
}

lg_status lg_h5_new_set(lg_h5 *f, const char *object, int rank, const hsize_t *dims, hid_t type, hid_t memory,
                        const void *data) {
  hsize_t maxdims[LG_MAX_RANK], n = 1;
  for (int i = 0; i < rank; i++) n *= dims[i];
  LG_TRY(lg_h5_remove(f, object));
  LG_H5_ID layout = layout_plist(maxdims, rank, dims, type);
  LG_H5_ID links = lg_h5_link_plist();
  LG_H5_ID space = rank ? H5Screate_simple(rank, dims, maxdims) : H5Screate(H5S_SCALAR);
  LG_H5_ID set = layout < 0 ? layout : H5Dcreate2(f->file, object, type, space, links, layout, H5P_DEFAULT);
  if (set < 0) return lg_h5_fail_reason(LG_EIO, f, object, "the data set cannot be made");
  if (n && H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    return lg_h5_fail_reason(LG_EIO, f, object, "cannot be written");
  herr_t closed = H5Dclose(set); /* here and not in the cleanup: it writes what is in the chunk cache */
  set = H5I_INVALID_HID;
  return closed < 0 ? lg_h5_fail_reason(LG_EIO, f, object, "cannot be written") : LG_OK;
}

static lg_status check_open(const lg_h5 *f, const char *object, const lg_tensor *t) {
  lg_status status = lg_tensor_check(t, "the tensor");
  return status == LG_OK ? LG_OK : lg_fail_context(status, "%s: %s", f->path, object);
}

/* t itself when it is contiguous, or a contiguous copy; *copy is the caller's to free. */
static lg_status contiguous(const lg_tensor **out, lg_tensor **copy, const lg_tensor *t) {
  *copy = NULL;
  *out = t;
  if (lg_tensor_contiguous(t)) return LG_OK;
  LG_TRY(lg_tensor_new(copy, t->dtype, t->rank, t->shape));
  *out = *copy;
  return lg_tensor_copy(*copy, t);
}

lg_status lg_h5_write(lg_h5 *f, const char *object, const lg_tensor *t) {
  LG_TRY(lg_h5_check(f, object, 1));
  LG_TRY(check_open(f, object, t));
  hsize_t dims[LG_MAX_RANK];
  for (int i = 0; i < t->rank; i++) dims[i] = (hsize_t)t->shape[i];
  const lg_tensor *flat;
  lg_tensor *copy;
  lg_status status = contiguous(&flat, &copy, t);
  if (status == LG_OK)
    status = lg_h5_new_set(f, object, t->rank, dims, file_type(t->dtype), memory_type(t->dtype),
                           lg_tensor_data((lg_tensor *)flat));
  lg_tensor_free(copy);
  return status;
}

/* The tensor dtype that a file's type is read as, or an error that says what it is. */
static lg_status read_dtype(int32_t *dtype, lg_h5 *f, const char *object, hid_t type) {
  size_t width = H5Tget_size(type);
  switch (H5Tget_class(type)) {
  case H5T_FLOAT: *dtype = width > 4 ? LG_F64 : LG_F32; return LG_OK;
  case H5T_INTEGER: *dtype = width == 1 && H5Tget_sign(type) == H5T_SGN_NONE ? LG_U8 : LG_I32; return LG_OK;
  case H5T_ENUM: /* h5py's bool: 0 and 1 */ *dtype = width == 1 ? LG_U8 : LG_I32; return LG_OK;
  case H5T_STRING: return lg_h5_fail(LG_EDTYPE, f, object, "holds strings, not numbers");
  default: return lg_h5_fail(LG_EDTYPE, f, object, "holds neither floats nor integers");
  }
}

/* Rank, shape [LG_MAX_RANK] and dtype of an open data set. */
static lg_status describe(int32_t *rank, int64_t *shape, int32_t *dtype, lg_h5 *f, const char *object, hid_t set) {
  LG_H5_ID type = H5Dget_type(set);
  LG_H5_ID space = H5Dget_space(set);
  if (type < 0 || space < 0) return lg_h5_fail_reason(LG_EFORMAT, f, object, "its type or shape cannot be read");
  int32_t n = H5Sget_simple_extent_ndims(space);
  if (H5Sget_simple_extent_type(space) == H5S_NULL)
    return lg_h5_fail(LG_EFORMAT, f, object, "is empty: it has no shape");
  if (n < 0 || n > LG_MAX_RANK) return lg_h5_fail(LG_ESHAPE, f, object, "rank %d is outside 0..%d", n, LG_MAX_RANK);
  hsize_t dims[LG_MAX_RANK];
  if (n && H5Sget_simple_extent_dims(space, dims, NULL) != n)
    return lg_h5_fail_reason(LG_EFORMAT, f, object, "has no shape");
  for (int32_t i = 0; i < n; i++) shape[i] = dims[i] > INT64_MAX ? -1 : (int64_t)dims[i];
  *rank = n;
  return read_dtype(dtype, f, object, type);
}

lg_status lg_h5_shape(int32_t *rank, int64_t *shape, int32_t *dtype, lg_h5 *f, const char *object) {
  if (!rank || !shape || !dtype) return lg_fail(LG_EARG, "rank, shape or dtype is NULL");
  LG_H5_ID set = H5I_INVALID_HID;
  LG_TRY(lg_h5_open_set(&set, f, object, 0));
  return describe(rank, shape, dtype, f, object, set);
}

/* Integers wider than 32 bits, through int64 (HDF5 clips larger ones to its ends, which do not fit either). */
static lg_status read_wide(int32_t *out, lg_h5 *f, const char *object, hid_t set, int64_t n) {
  int64_t *wide = lg_alloc((size_t)n * sizeof *wide);
  if (!wide) return lg_h5_fail(LG_EMEM, f, object, "no memory for %lld integers", (long long)n);
  lg_status status = LG_OK;
  if (H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, wide) < 0)
    status = lg_h5_fail_reason(LG_EFORMAT, f, object, "its values cannot be read");
  for (int64_t i = 0; i < n && status == LG_OK; i++) {
    out[i] = (int32_t)wide[i];
    if (out[i] != wide[i])
      status = lg_h5_fail(LG_EDTYPE, f, object, "element %lld is %lld, which does not fit a 32-bit integer",
                          (long long)i + 1, (long long)wide[i]);
  }
  lg_release(wide);
  return status;
}

lg_status lg_h5_read(lg_tensor **out, lg_h5 *f, const char *object) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  LG_H5_ID set = H5I_INVALID_HID;
  LG_TRY(lg_h5_open_set(&set, f, object, 0));
  int32_t rank, dtype;
  int64_t shape[LG_MAX_RANK];
  LG_TRY(describe(&rank, shape, &dtype, f, object, set));
  LG_H5_ID type = H5Dget_type(set);
  int64_t n = lg_shape_size(rank, shape);
  LG_TRY(lg_h5_check_size(f, object, n, (int64_t)H5Tget_size(type)));
  lg_tensor *t;
  lg_status status = lg_tensor_new(&t, dtype, rank, shape);
  if (status != LG_OK) return lg_fail_context(status, "%s: %s", f->path, object);
  int wide =
      dtype == LG_I32 && (H5Tget_size(type) > 4 || (H5Tget_size(type) == 4 && H5Tget_sign(type) == H5T_SGN_NONE));
  if (n == 0)
    status = LG_OK;
  else if (wide)
    status = read_wide(lg_tensor_data(t), f, object, set, n);
  else if (H5Dread(set, memory_type(dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, lg_tensor_data(t)) < 0)
    status = lg_h5_fail_reason(LG_EFORMAT, f, object, "its values cannot be read");
  if (status != LG_OK) {
    lg_tensor_free(t);
    return status;
  }
  *out = t;
  return LG_OK;
}

/* Whether t's rows fit at row of a data set of that shape and dtype: the same row shape and dtype, and no gap, whose
 * values nobody would know. */
static lg_status check_rows(lg_h5 *f, const char *object, int32_t rank, const int64_t *shape, int32_t dtype,
                            int64_t row, const lg_tensor *t) {
  char have[128], got[128];
  int fits = rank >= 1 && t->rank == rank && t->dtype == dtype;
  for (int32_t i = 1; fits && i < rank; i++) fits = shape[i] == t->shape[i];
  if (!fits)
    return lg_h5_fail(t->dtype == dtype ? LG_ESHAPE : LG_EDTYPE, f, object, "rows of %s do not fit a data set of %s",
                      lg_shape_text(got, sizeof got, t->dtype, t->rank, t->shape),
                      lg_shape_text(have, sizeof have, dtype, rank, shape));
  if (row < 0 || row > shape[0])
    return lg_h5_fail(LG_EARG, f, object, "row %lld is outside 0..%lld: it would leave a gap", (long long)row,
                      (long long)shape[0]);
  return LG_OK;
}

lg_status lg_h5_write_rows(lg_h5 *f, const char *object, int64_t row, const lg_tensor *t) {
  LG_H5_ID set = H5I_INVALID_HID;
  LG_TRY(lg_h5_open_set(&set, f, object, 1));
  LG_TRY(check_open(f, object, t));
  int32_t rank, dtype;
  int64_t shape[LG_MAX_RANK];
  LG_TRY(describe(&rank, shape, &dtype, f, object, set));
  LG_TRY(check_rows(f, object, rank, shape, dtype, row, t));
  hsize_t start[LG_MAX_RANK] = {(hsize_t)row}, count[LG_MAX_RANK] = {0}, extent[LG_MAX_RANK] = {0};
  for (int i = 0; i < rank; i++) {
    count[i] = (hsize_t)t->shape[i];
    extent[i] = (hsize_t)shape[i];
  }
  if (start[0] + count[0] > extent[0]) extent[0] = start[0] + count[0];
  if (H5Dset_extent(set, extent) < 0)
    return lg_h5_fail_reason(LG_EIO, f, object, "cannot grow to %lld rows", (long long)extent[0]);
  if (lg_tensor_size(t) == 0) return LG_OK;
  LG_H5_ID space = H5Dget_space(set);
  LG_H5_ID rows = H5Screate_simple(rank, count, NULL);
  const lg_tensor *flat;
  lg_tensor *copy;
  lg_status status = contiguous(&flat, &copy, t);
  if (status == LG_OK &&
      (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
       H5Dwrite(set, memory_type(dtype), rows, space, H5P_DEFAULT, lg_tensor_data((lg_tensor *)flat)) < 0))
    status = lg_h5_fail_reason(LG_EIO, f, object, "rows from %lld on cannot be written", (long long)row);
  lg_tensor_free(copy);
  herr_t closed = H5Dclose(set);
  set = H5I_INVALID_HID;
  if (status == LG_OK && closed < 0) status = lg_h5_fail_reason(LG_EIO, f, object, "cannot be written");
  return status;
}
