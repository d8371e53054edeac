/* rng: see the header. */
#include "base/rng.h"

void rng_seed(struct rng *rng, uint64_t seed) {
    rng->state = seed;
}

/* splitmix64 (Steele, Lea and Flood 2014): one word of state, passes BigCrush. */
uint64_t rng_next(struct rng *rng) {
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The high half of a 128-bit product; its bias is below 2^-64 × below. */
uint64_t rng_below(struct rng *rng, uint64_t below) {
    return (uint64_t)(((unsigned __int128)rng_next(rng) * below) >> 64);
}
