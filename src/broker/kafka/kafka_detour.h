/* kafka_detour: records of a partition that wait, in their order, because the first of them is a
 * pointer that was not followed yet (kafka_pointer.h). They are in nobody's hands, so that nothing
 * of them is settled. */
#ifndef BROKER_KAFKA_DETOUR_H
#define BROKER_KAFKA_DETOUR_H

#include "broker/kafka/kafka_hand.h"

/* A zeroed one is empty. */
struct kafka_detour {
    struct kafka_hand_record *records; /* the first is the next to go on */
    size_t count;
};

/* How many records stand before the first pointer: they go on. The others, if any, are the
 * detour's, which MUST be empty then. */
size_t kafka_detour_begin(struct kafka_detour *detour, const struct kafka_hand_record *records,
                          size_t count);
/* How many from the first on are no pointers any more, and may go on. */
size_t kafka_detour_clear(const struct kafka_detour *detour);
uint64_t kafka_detour_bytes(const struct kafka_detour *detour); /* of the bodies in it */
/* So many have gone on. */
void kafka_detour_leave(struct kafka_detour *detour, size_t count);
/* The first, which MUST be a pointer, and all others that lead to its partition are freed. */
void kafka_detour_drop(struct kafka_detour *detour);
void kafka_detour_free(struct kafka_detour *detour); /* with what is in it; empty afterwards */

#endif
