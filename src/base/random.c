/* random: getrandom(2). */
#include "base/random.h"

#include <assert.h>
#include <sys/random.h>

/* So few bytes are returned at once, or the kernel has no randomness at all. */
uint64_t random_seed(void) {
    uint64_t seed;
    ssize_t got = getrandom(&seed, sizeof seed, 0);
    assert(got == (ssize_t)sizeof seed);
    return seed;
}
