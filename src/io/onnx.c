/* onnx.c: builds an ONNX model message by message and writes it at one instant. The messages are protobuf-c's, made at
 * build time from ONNX's own schema (cmake/Onnx.cmake). Called by lua/lgelu/onnx.lua, which knows what to write.
 * What it is not: a checker (a model is what the caller says), nor a reader.
 * Everything that a model holds lies in blocks of its own list, so it ends all at once and no message is ever packed
 * from memory of the caller's. */
#include "../core/memory.h"
#include "../tensor/tensor.h"
#include "onnx.pb-c.h"
#include <stdio.h>
#include <string.h>

typedef struct block {
  struct block *next;
} block; /* what was asked for lies behind it */

struct lg_onnx {
  Onnx__ModelProto model;
  Onnx__GraphProto graph;
  Onnx__OperatorSetIdProto opset;
  Onnx__OperatorSetIdProto *opsets[1];
  Onnx__NodeProto *node; /* the latest: what inputs and attributes are for */
  block *blocks;
};

static void *take(lg_onnx *m, size_t bytes) {
  block *b = lg_alloc(sizeof(block) + bytes);
  if (!b) return NULL;
  b->next = m->blocks;
  m->blocks = b;
  return b + 1;
}

static char *take_text(lg_onnx *m, const char *text) {
  size_t n = strlen(text) + 1;
  char *copy = take(m, n);
  return copy ? memcpy(copy, text, n) : NULL;
}

/* Room for one more pointer in a repeated field of n: its lists have 2^k places and are moved when they are full. */
static int grow(lg_onnx *m, void **list, size_t n) {
  if (n && n & (n - 1)) return 1;
  void *wider = take(m, (n ? 2 * n : 1) * sizeof(void *));
  if (!wider) return 0;
  if (n) memcpy(wider, *list, n * sizeof(void *));
  *list = wider;
  return 1;
}

static lg_status no_memory(void) { return lg_fail(LG_EMEM, "cannot allocate a part of the ONNX model"); }

/* A new message of TYPE at the end of the repeated field LIST with its counter N; message is NULL when memory ends. */
#define APPEND(message, m, TYPE, INIT, LIST, N)                                                                        \
  do {                                                                                                                 \
    (message) = grow((m), (void **)&(LIST), (N)) ? take((m), sizeof(TYPE)) : NULL;                                     \
    if (message) {                                                                                                     \
      *(message) = (TYPE)INIT;                                                                                         \
      (LIST)[(N)++] = (message);                                                                                       \
    }                                                                                                                  \
  } while (0)

lg_status lg_onnx_new(lg_onnx **out, const char *name, int64_t ir_version, int64_t opset) {
  if (!out || !name) return lg_fail(LG_EARG, "out or name is NULL");
  *out = NULL;
  lg_onnx *m = lg_alloc(sizeof *m);
  if (!m) return no_memory();
  m->model = (Onnx__ModelProto)ONNX__MODEL_PROTO__INIT;
  m->graph = (Onnx__GraphProto)ONNX__GRAPH_PROTO__INIT;
  m->opset = (Onnx__OperatorSetIdProto)ONNX__OPERATOR_SET_ID_PROTO__INIT;
  m->opset.domain = ""; /* ONNX's own operators */
  m->opset.has_version = 1;
  m->opset.version = opset;
  m->opsets[0] = &m->opset;
  m->model.opset_import = m->opsets;
  m->model.n_opset_import = 1;
  m->model.has_ir_version = 1;
  m->model.ir_version = ir_version;
  m->model.producer_name = "lgelu";
  m->model.producer_version = take_text(m, lg_version());
  m->model.graph = &m->graph;
  m->graph.name = take_text(m, name);
  if (!m->graph.name || !m->model.producer_version) {
    lg_onnx_free(m);
    return no_memory();
  }
  *out = m;
  return LG_OK;
}

void lg_onnx_free(lg_onnx *m) {
  if (!m) return;
  for (block *b = m->blocks; b;) {
    block *next = b->next;
    lg_release(b);
    b = next;
  }
  lg_release(m);
}

lg_status lg_onnx_meta(lg_onnx *m, const char *key, const char *value) {
  if (!m || !key || !value) return lg_fail(LG_EARG, "the model, key or value is NULL");
  Onnx__StringStringEntryProto *entry;
  APPEND(entry, m, Onnx__StringStringEntryProto, ONNX__STRING_STRING_ENTRY_PROTO__INIT, m->model.metadata_props,
         m->model.n_metadata_props);
  if (!entry || !(entry->key = take_text(m, key)) || !(entry->value = take_text(m, value))) return no_memory();
  return LG_OK;
}

static lg_status add_dimensions(lg_onnx *m, Onnx__TensorShapeProto *list, int32_t rank, const int64_t *shape) {
  for (int32_t i = 0; i < rank; i++) {
    Onnx__TensorShapeProto__Dimension *dim;
    APPEND(dim, m, Onnx__TensorShapeProto__Dimension, ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT, list->dim,
           list->n_dim);
    if (!dim) return no_memory();
    if (shape[i] == -1) {
      dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
      dim->dim_param = "batch";
    } else if (shape[i] > 0) {
      dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
      dim->dim_value = shape[i];
    } else {
      return lg_fail(LG_ESHAPE, "dimension %d is %lld: expected at least 1, or -1 for the batch", i,
                     (long long)shape[i]);
    }
  }
  return LG_OK;
}

lg_status lg_onnx_value(lg_onnx *m, const char *name, int32_t output, int32_t dtype, int32_t rank,
                        const int64_t *shape) {
  if (!m || !name || !shape) return lg_fail(LG_EARG, "the model, name or shape is NULL");
  if (dtype != LG_F32 && dtype != LG_I32) return lg_fail(LG_EDTYPE, "value '%s': expected f32 or i32", name);
  if (rank < 0 || rank > LG_MAX_RANK) return lg_fail(LG_ESHAPE, "rank %d is outside 0..%d", rank, LG_MAX_RANK);
  Onnx__TypeProto *type = take(m, sizeof *type);
  Onnx__TypeProto__Tensor *tensor = take(m, sizeof *tensor);
  Onnx__TensorShapeProto *dims = take(m, sizeof *dims);
  char *copy = take_text(m, name);
  if (!type || !tensor || !dims || !copy) return no_memory();
  *dims = (Onnx__TensorShapeProto)ONNX__TENSOR_SHAPE_PROTO__INIT;
  LG_TRY(add_dimensions(m, dims, rank, shape));
  *tensor = (Onnx__TypeProto__Tensor)ONNX__TYPE_PROTO__TENSOR__INIT;
  tensor->has_elem_type = 1;
  tensor->elem_type = dtype == LG_I32 ? ONNX__TENSOR_PROTO__DATA_TYPE__INT64 : ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
  tensor->shape = dims;
  *type = (Onnx__TypeProto)ONNX__TYPE_PROTO__INIT;
  type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  type->tensor_type = tensor;
  Onnx__ValueInfoProto *value;
  if (output)
    APPEND(value, m, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT, m->graph.output, m->graph.n_output);
  else
    APPEND(value, m, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT, m->graph.input, m->graph.n_input);
  if (!value) return no_memory();
  value->name = copy;
  value->type = type;
  return LG_OK;
}

/* The elements of t as ONNX keeps them (little-endian, C order): floats as float, integers as int64. */
static lg_status elements(lg_onnx *m, Onnx__TensorProto *to, const lg_tensor *t) {
  int whole = t->dtype == LG_I32;
  int64_t size = lg_tensor_size(t);
  lg_tensor *plain = NULL;
  to->raw_data.len = (size_t)size * (whole ? sizeof(int64_t) : sizeof(float));
  to->raw_data.data = take(m, to->raw_data.len);
  if (!to->raw_data.data) return no_memory();
  LG_TRY(lg_tensor_new(&plain, whole ? LG_I32 : LG_F32, t->rank, t->shape));
  lg_status status = lg_tensor_copy(plain, t);
  for (int64_t i = 0; status == LG_OK && whole && i < size; i++)
    ((int64_t *)(void *)to->raw_data.data)[i] = ((const int32_t *)lg_tensor_data(plain))[i];
  if (status == LG_OK && !whole && size) memcpy(to->raw_data.data, lg_tensor_data(plain), to->raw_data.len);
  lg_tensor_free(plain);
  to->has_raw_data = 1;
  to->has_data_type = 1;
  to->data_type = whole ? ONNX__TENSOR_PROTO__DATA_TYPE__INT64 : ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
  return status;
}

lg_status lg_onnx_tensor(lg_onnx *m, const char *name, const lg_tensor *t) {
  if (!m || !name) return lg_fail(LG_EARG, "the model or name is NULL");
  LG_TRY(lg_tensor_check(t, "the tensor"));
  if (t->dtype == LG_U8) return lg_fail(LG_EDTYPE, "tensor '%s' is u8, expected f32, f64 or i32", name);
  Onnx__TensorProto part = ONNX__TENSOR_PROTO__INIT, *to;
  LG_TRY(elements(m, &part, t));
  part.name = take_text(m, name);
  part.n_dims = (size_t)t->rank;
  part.dims = take(m, (size_t)t->rank * sizeof(int64_t));
  APPEND(to, m, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT, m->graph.initializer, m->graph.n_initializer);
  if (!part.name || !part.dims || !to) return no_memory();
  for (int32_t i = 0; i < t->rank; i++) part.dims[i] = t->shape[i];
  *to = part;
  return LG_OK;
}

lg_status lg_onnx_node(lg_onnx *m, const char *op, const char *name, const char *output) {
  if (!m || !op || !name || !output) return lg_fail(LG_EARG, "the model, op, name or output is NULL");
  char **outputs = take(m, sizeof *outputs);
  char *op_type = take_text(m, op), *own = take_text(m, name), *gives = take_text(m, output);
  if (!outputs || !op_type || !own || !gives) return no_memory();
  APPEND(m->node, m, Onnx__NodeProto, ONNX__NODE_PROTO__INIT, m->graph.node, m->graph.n_node);
  if (!m->node) return no_memory();
  m->node->op_type = op_type;
  m->node->name = own;
  m->node->output = outputs;
  m->node->output[0] = gives;
  m->node->n_output = 1;
  return LG_OK;
}

static lg_status need_node(const lg_onnx *m) {
  if (!m) return lg_fail(LG_EARG, "the model is NULL");
  return m->node ? LG_OK : lg_fail(LG_ESTATE, "the model has no node yet");
}

lg_status lg_onnx_node_input(lg_onnx *m, const char *value) {
  LG_TRY(need_node(m));
  if (!value) return lg_fail(LG_EARG, "the value's name is NULL");
  char *copy = take_text(m, value);
  if (!copy || !grow(m, (void **)&m->node->input, m->node->n_input)) return no_memory();
  m->node->input[m->node->n_input++] = copy;
  return LG_OK;
}

/* An attribute of the latest node; NULL when memory ends. */
static Onnx__AttributeProto *attribute(lg_onnx *m, const char *name) {
  char *copy = take_text(m, name);
  Onnx__AttributeProto *attr = NULL;
  if (copy)
    APPEND(attr, m, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT, m->node->attribute, m->node->n_attribute);
  if (!attr) return NULL;
  attr->name = copy;
  attr->has_type = 1;
  return attr;
}

lg_status lg_onnx_attr_int(lg_onnx *m, const char *attr, int64_t value) {
  LG_TRY(need_node(m));
  if (!attr) return lg_fail(LG_EARG, "the attribute's name is NULL");
  Onnx__AttributeProto *a = attribute(m, attr);
  if (!a) return no_memory();
  a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
  a->has_i = 1;
  a->i = value;
  return LG_OK;
}

lg_status lg_onnx_attr_ints(lg_onnx *m, const char *attr, const int64_t *values, int32_t n) {
  LG_TRY(need_node(m));
  if (!attr || !values || n < 0) return lg_fail(LG_EARG, "the attribute's name or values are NULL, or n is negative");
  int64_t *copy = take(m, (size_t)n * sizeof *copy);
  Onnx__AttributeProto *a = copy ? attribute(m, attr) : NULL;
  if (!a) return no_memory();
  memcpy(copy, values, (size_t)n * sizeof *copy);
  a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
  a->n_ints = (size_t)n;
  a->ints = copy;
  return LG_OK;
}

lg_status lg_onnx_save(lg_onnx *m, const char *path) {
  if (!m || !path) return lg_fail(LG_EARG, "the model or path is NULL");
  size_t bytes = onnx__model_proto__get_packed_size(&m->model);
  if (bytes > INT32_MAX)
    return lg_fail(LG_EFORMAT, "%s: the model takes %zu bytes, and an ONNX file holds at most %d", path, bytes,
                   INT32_MAX);
  uint8_t *packed = lg_alloc(bytes);
  if (!packed) return no_memory();
  onnx__model_proto__pack(&m->model, packed);
  lg_status status = lg_file_replace(path, packed, (int64_t)bytes);
  lg_release(packed);
  return status;
}
