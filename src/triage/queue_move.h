/* queue_move: a queue gets another name, or leaves the store.
 *
 * Renaming moves what the store holds of a queue, in batches: each message is put under the new
 * name and forgotten under the old one in one commit. A kill between two batches leaves some of
 * them under either name; calling it again moves the rest. */
#ifndef TRIAGE_QUEUE_MOVE_H
#define TRIAGE_QUEUE_MOVE_H

#include "triage/audit.h"

enum { QUEUE_MOVE_PAGE = 128 };

/* What the store holds of a queue. */
struct queue_holding {
    uint32_t number;  /* the store's; 0: it never had such a queue */
    uint64_t waiting; /* queued and pending_retry */
    uint64_t taken;   /* in the engine's hands, or leased */
    uint64_t letters; /* pending_review */
    uint64_t replaying;
};
enum status queue_move_holding(struct triage *triage, struct bytes queue, struct queue_holding *out,
                               struct err *err);

struct queue_moved {
    uint64_t messages, letters;
};

/* Moves all messages and letters of `entry->subject` to the queue `to`; letters of the DLQ
 * "<queue>.dlq", or of one whose name goes on from there, go to the DLQ that is called so after
 * `to`. Nothing may be taken or replaying, and the engine must not hand over from the queue.
 * CONFLICT: `to` holds one of the ids; nothing of its batch was moved. */
enum status queue_move_rename(struct triage *triage, struct audit_entry *entry, struct bytes to,
                              struct queue_moved *out, struct err *err);

/* Forgets what the store knows of a queue that holds nothing: its state, its budget. */
enum status queue_move_remove(struct triage *triage, struct audit_entry *entry,
                              const struct queue_holding *holding, struct err *err);

#endif
