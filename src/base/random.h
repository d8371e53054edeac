/* random: a seed from the system; all other random numbers come from a struct rng. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

uint64_t random_seed(void);

#endif
