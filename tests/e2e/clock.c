/* A wall clock that is set from outside, for a program that is run with this preloaded: the file
 * that CLOCK_SHIFT names holds the seconds to add, as int64_t. Other clocks run as they do. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift_s;

__attribute__((constructor)) static void open_shift(void) {
    const char *path = getenv("CLOCK_SHIFT");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *place =
        file < 0 ? MAP_FAILED : mmap(NULL, sizeof *shift_s, PROT_READ, MAP_SHARED, file, 0);
    if (place != MAP_FAILED)
        shift_s = place;
    if (file >= 0)
        close(file);
}

/* Not through the function that this one stands before: a sanitizer reads the clock before it can
 * be looked up. */
int clock_gettime(clockid_t which, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, which, now);
    if (!failed && which == CLOCK_REALTIME && shift_s)
        now->tv_sec += (time_t)*shift_s;
    return failed;
}
