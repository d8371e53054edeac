/* complaint: trouble that lasts is told at once, then once in a while, and when it is over. */
#ifndef BASE_COMPLAINT_H
#define BASE_COMPLAINT_H

#include <stdbool.h>

#include "base/instant.h"

enum { COMPLAINT_AGAIN_MS = 5 * 60 * 1000 };

/* All zero: there is no trouble. */
struct complaint {
    bool lasts;
    struct mono told;
};

/* It is there, maybe still. True when that is to be told. */
bool complaint_is_due(struct complaint *complaint, struct mono now);
/* There is none. True when there was. */
bool complaint_ends(struct complaint *complaint);

#endif
