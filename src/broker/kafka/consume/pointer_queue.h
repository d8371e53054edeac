/* pointer_queue: records of a partition that wait, in their order, because the first of them is a
 * pointer that was not followed yet (kafka_pointer.h). They were not given to the engine, so that
 * none of them is settled. */
#ifndef BROKER_POINTER_QUEUE_H
#define BROKER_POINTER_QUEUE_H

#include "broker/kafka/consume/kafka_inflight.h"

/* A zeroed one is empty. */
struct pointer_queue {
    struct kafka_inflight_record *records; /* the first is the next to continue */
    size_t count;
};

/* How many records come before the first pointer: they continue. The others, if any, are queued;
 * the queue MUST be empty then. */
size_t pointer_queue_begin(struct pointer_queue *pointers,
                           const struct kafka_inflight_record *records, size_t count);
/* How many from the first on are no longer pointers, and may continue. */
size_t pointer_queue_clear(const struct pointer_queue *pointers);
uint64_t pointer_queue_bytes(const struct pointer_queue *pointers); /* of the bodies in it */
/* Removes so many that have continued. */
void pointer_queue_leave(struct pointer_queue *pointers, size_t count);
/* The first, which MUST be a pointer, and all others that lead to its partition are freed. */
void pointer_queue_drop(struct pointer_queue *pointers);
void pointer_queue_free(struct pointer_queue *pointers); /* with what is in it; empty afterwards */

#endif
