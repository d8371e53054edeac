/* kafka_pointer: dead letters of share groups (KIP-1191) that were written without a copy of their
 * record: neither key nor value, and headers with the coordinates of the record (WIRE 1.3). Pure.
 *
 * The result has the body, key, content type and created_at of the record, and the pointer's
 * headers, followed by the record's. Its id and source stay those of the pointer, which is the
 * dead letter here; its source has more members, and "tombstone" no more:
 *   "dead_at"  when the pointer was written, where that is known
 *   "origin"   the record's own coordinates, as a source; with "gone": true and "why" where it
 *              could not be read any more, and the body is then empty; with "why" alone where it is
 *              younger than its pointer, and may be another one */
#ifndef BROKER_KAFKA_POINTER_H
#define BROKER_KAFKA_POINTER_H

#include "core/message.h"

enum { KAFKA_POINTER_TOPIC_MAX = 249 }; /* bytes: as Kafka has it */

struct kafka_pointer {
    char topic[KAFKA_POINTER_TOPIC_MAX + 1];
    int32_t partition;
    int64_t offset;
};

/* False: it is no pointer, or one that was followed. */
bool kafka_pointer_read(const struct message *held, struct kafka_pointer *out);
bool kafka_pointer_same_partition(const struct kafka_pointer *one,
                                  const struct kafka_pointer *other);
/* The record takes the place of the pointer, which is freed. */
struct message *kafka_pointer_become(struct message *pointer_take, struct message *record_take);
/* The record no longer exists. MUST be a pointer. */
void kafka_pointer_gone(struct message *pointer, const char *why);

#endif
