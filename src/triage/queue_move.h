/* queue_move: a queue gets another name, or leaves the store.
 *
 * Renaming moves what the store holds of a queue, in batches. A message is put under the new name
 * and forgotten under the old one in one commit; a letter is put in one commit and forgotten in the
 * next, once it is known that its id was free. A kill in between leaves some of them under either
 * name, or a letter under both; calling it again moves the rest. */
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

/* Messages and letters that stayed in the old queue: the first of them by their ids. */
enum { QUEUE_LEFT_NAMED_MAX = 100 };
struct queue_left {
    uint64_t count;
    struct bytes ids[QUEUE_LEFT_NAMED_MAX];
};

struct queue_moved {
    uint64_t messages, letters;
    struct queue_left same_id; /* the new queue holds their ids */
    struct queue_left busy;    /* they were taken or replayed meanwhile */
    struct queue_left damaged; /* they cannot be read; by letter id, where they are letters */
};

/* Moves all messages and letters of `entry->subject` to the queue `to`; letters of the DLQ
 * "<queue>.dlq", or of one whose name goes on from there, go to the DLQ that is called so after
 * `to`. Idempotency keys and kept answers go with them. Nothing may be taken or replaying, and the
 * engine must not hand over from the queue. What stays is named in *out, in the arena; on trouble
 * *out says how far it came. */
enum status queue_move_rename(struct triage *triage, struct audit_entry *entry, struct bytes to,
                              struct arena *arena, struct queue_moved *out, struct err *err);

/* Forgets what the store knows of a queue that holds nothing: its state, its budget. */
enum status queue_move_remove(struct triage *triage, struct audit_entry *entry,
                              const struct queue_holding *holding, struct err *err);

#endif
