#include "server/nearest.h"

enum { NEAREST_LENGTH_MAX = 64 }; /* longer names are not compared */

/* Levenshtein's distance, one row at a time. */
static size_t distance(struct bytes a, struct bytes b) {
    size_t row[NEAREST_LENGTH_MAX + 1];
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t replace = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
            size_t drop = row[j] + 1, add = row[j - 1] + 1;
            diagonal = row[j];
            size_t least = drop < add ? drop : add;
            row[j] = replace < least ? replace : least;
        }
    }
    return row[b.len];
}

void nearest_init(struct nearest *nearest, struct bytes wanted) {
    /* A third of the letters may be wrong, and two in short words. */
    size_t far = wanted.len / 3 < 2 ? 2 : wanted.len / 3;
    *nearest = (struct nearest){.wanted = wanted, .distance = far + 1};
}

void nearest_try(struct nearest *nearest, struct bytes candidate) {
    if (nearest->wanted.len > NEAREST_LENGTH_MAX || candidate.len > NEAREST_LENGTH_MAX)
        return;
    size_t d = distance(nearest->wanted, candidate);
    if (d < nearest->distance && d < candidate.len) {
        nearest->distance = d;
        nearest->best = candidate;
    }
}
