/* nearest: "did you mean". */
#ifndef SERVER_NEAREST_H
#define SERVER_NEAREST_H

#include "base/bytes.h"

struct nearest {
    struct bytes wanted;
    struct bytes best; /* empty: nothing is near enough */
    size_t distance;
};

void nearest_init(struct nearest *nearest, struct bytes wanted);
/* The candidate must live as long as the result is looked at. */
void nearest_try(struct nearest *nearest, struct bytes candidate);

#endif
