/* version.c: what this library is: its version, the hash of the public header it was compiled with, and how and from
 * what it was built. Knows no other module; read by lua/lgelu/C.lua at load and by the run store. */
#include "../lgelu.h"
#include "abi_hash.h"
#include "build_info.h"

const char *lg_version(void) { return LG_VERSION; }
const char *lg_abi_hash(void) { return LG_ABI_HASH; }
const char *lg_build_info(void) { return LG_BUILD_INFO; }
