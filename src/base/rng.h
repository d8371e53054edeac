/* rng: a random generator as an argument. The same seed gives the same run, on every machine. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
/* Uniform in [0, below); 0 if below is 0. */
uint64_t rng_below(struct rng *rng, uint64_t below);

#endif
