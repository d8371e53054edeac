/* shed: parks the later half of a lane that holds too much in memory. */
#ifndef STORE_SHED_H
#define STORE_SHED_H

#include "store/waiting.h"

void shed_lane(struct waiting *waiting, enum lane_kind kind);

#endif
