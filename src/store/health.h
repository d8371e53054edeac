/* health: how long commits take, in the buckets that the port promises. */
#ifndef STORE_HEALTH_H
#define STORE_HEALTH_H

#include "port/store.h"

void health_note_commit(struct store_health *health, double seconds);

#endif
