/* init.c: starts the engine. Called by lua/lgelu/C.lua at load, by C tests, and again to change the number of threads.
 */
#include "blas.h"
#include "threads.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

lg_status lg_init(int32_t threads) {
  LG_TRY(lg_threads_set(threads));
  pthread_mutex_lock(&lock);
  lg_status status = lg_blas.sgemm ? LG_OK : lg_blas_start();
  pthread_mutex_unlock(&lock);
  return status;
}
