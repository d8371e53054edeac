/* random: chance from the system, for seeds; all else is drawn from a struct rng. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

uint64_t random_seed(void);

#endif
