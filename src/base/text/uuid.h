/* uuid: UUIDv7 (RFC 9562), ordered by time, as text. */
#ifndef BASE_TEXT_UUID_H
#define BASE_TEXT_UUID_H

#include "base/instant.h"
#include "base/rng.h"

enum { UUID_TEXT_SIZE = 37 };

/* Ids made by one rng in the same millisecond differ in 74 random bits. */
void uuid_v7(struct wall now, struct rng *rng, char text[UUID_TEXT_SIZE]);

#endif
