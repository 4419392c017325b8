# Onnx.cmake: ONNX's own schema as C, for src/io/onnx.c. The schema is what Debian installs (libonnx-dev, or python3-onnx);
# protobuf-c's compiler turns it into onnx.pb-c.c and onnx.pb-c.h beside the other generated files.
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
find_program(PROTOC_C NAMES protoc-c protoc-gen-c)
find_path(ONNX_SCHEMA_DIR onnx.proto PATHS /usr/include/onnx /usr/lib/python3/dist-packages/onnx NO_DEFAULT_PATH)
if(NOT PROTOC_C OR NOT ONNX_SCHEMA_DIR)
  message(FATAL_ERROR "ONNX's schema (onnx.proto: Debian's libonnx-dev) or protobuf-c's compiler (Debian's "
                      "protobuf-c-compiler) is missing")
endif()
add_custom_command(OUTPUT ${LGELU_GENERATED_DIR}/onnx.pb-c.c ${LGELU_GENERATED_DIR}/onnx.pb-c.h
  COMMAND ${PROTOC_C} --c_out=${LGELU_GENERATED_DIR} -I ${ONNX_SCHEMA_DIR} ${ONNX_SCHEMA_DIR}/onnx.proto
  DEPENDS ${ONNX_SCHEMA_DIR}/onnx.proto VERBATIM)
# Made by another program: its warnings are not ours to mend.
set_source_files_properties(${LGELU_GENERATED_DIR}/onnx.pb-c.c PROPERTIES COMPILE_OPTIONS -w)
