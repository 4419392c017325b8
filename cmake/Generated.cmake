# Generated.cmake: what is derived from src/lgelu.h and from git.
#   cdef.lua      the header as Lua text, with its hash: LuaJIT's reader of the one header
#   abi_hash.h    the same hash for the C side (src/core/version.c); lua/lgelu/C.lua compares the two at load
#   build_info.h  compiler, flags and git commit, made anew at each build but written only when it differs
set(LGELU_GENERATED_DIR ${CMAKE_BINARY_DIR}/generated)
set(LGELU_CDEF ${CMAKE_BINARY_DIR}/cdef.lua)
set(header ${CMAKE_SOURCE_DIR}/src/lgelu.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})

file(SHA256 ${header} LGELU_ABI_HASH)
file(READ ${header} text)
# The guard and the #include lines are all that C has and LuaJIT's parser does not take.
string(REGEX REPLACE "\n#(ifndef|define|include|endif)[^\n]*" "" text "\n${text}")
if(text MATCHES "\n[ \t]*#")
  message(FATAL_ERROR "src/lgelu.h has a preprocessor line besides its guard and #include: LuaJIT cannot read it")
endif()

# Writes content to path when it is not what stands there, so that nothing is rebuilt in vain.
function(lgelu_write path content)
  set(old "")
  if(EXISTS ${path})
    file(READ ${path} old)
  endif()
  if(NOT old STREQUAL content)
    file(WRITE ${path} "${content}")
  endif()
endfunction()

lgelu_write(${LGELU_CDEF} "-- cdef.lua: generated from src/lgelu.h by cmake/Generated.cmake; read by lua/lgelu/C.lua.
return { hash = \"${LGELU_ABI_HASH}\", version = \"${PROJECT_VERSION}\", text = [==[${text}]==] }
")
lgelu_write(${LGELU_GENERATED_DIR}/abi_hash.h "/* Generated from src/lgelu.h by cmake/Generated.cmake. */
#define LG_ABI_HASH \"${LGELU_ABI_HASH}\"
#define LG_VERSION \"${PROJECT_VERSION}\"
")

string(TOUPPER ${CMAKE_BUILD_TYPE} type)
set(flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}")
if(LGELU_SANITIZE)
  string(APPEND flags " -fsanitize=address,undefined")
endif()
string(STRIP "${flags}" flags)
add_custom_target(lgelu_build_info
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${LGELU_GENERATED_DIR}/build_info.h
          "-DCOMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}" "-DFLAGS=${flags}"
          -P ${CMAKE_SOURCE_DIR}/cmake/BuildInfo.cmake
  BYPRODUCTS ${LGELU_GENERATED_DIR}/build_info.h
  VERBATIM)
