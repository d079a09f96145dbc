/*
 * Preloaded into every process of a test (LD_PRELOAD): shifts the wall clock by the nanoseconds in the file CLOCK_OFFSET_FILE,
 * which may change at any moment. The monotonic clocks are not changed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift;
/* Of the C library, which reads the clock without a system call: a tenth of the time. */
static int (*clock_of_library)(clockid_t, struct timespec *);

__attribute__((constructor)) static void map_offset(void) {
  clock_of_library = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("CLOCK_OFFSET_FILE");
  if (path == NULL) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) shift = mapped;
}

static int is_wall(clockid_t id) {
  return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI;
}

int clock_gettime(clockid_t id, struct timespec *at) {
  /* Other constructors may run first. */
  int result = clock_of_library != NULL ? clock_of_library(id, at) : (int)syscall(SYS_clock_gettime, id, at);
  if (result != 0 || shift == NULL || !is_wall(id)) return result;
  int64_t nanos = at->tv_nsec + *shift % 1000000000;
  at->tv_sec += *shift / 1000000000;
  if (nanos >= 1000000000) {
    nanos -= 1000000000;
    at->tv_sec += 1;
  } else if (nanos < 0) {
    nanos += 1000000000;
    at->tv_sec -= 1;
  }
  at->tv_nsec = nanos;
  return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  at->tv_sec = exact.tv_sec;
  at->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (at != NULL) *at = exact.tv_sec;
  return exact.tv_sec;
}
