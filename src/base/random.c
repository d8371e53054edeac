#include "base/random.h"

#include <assert.h>
#include <sys/random.h>

/* So few bytes come whole, or the kernel has none to give at all. */
uint64_t random_seed(void) {
    uint64_t seed;
    ssize_t got = getrandom(&seed, sizeof seed, 0);
    assert(got == (ssize_t)sizeof seed);
    return seed;
}
