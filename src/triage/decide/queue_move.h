/* queue_move: renames a queue, or removes an empty one from the store.
 *
 * Renaming moves the stored messages of a queue in batches. A message is put under the new name and
 * forgotten under the old one in one commit; a letter is put in one commit and forgotten in the
 * next, once it is certain that its id was free. A crash in between leaves some of them under
 * either name, or a letter under both; calling it again moves the rest. */
#ifndef TRIAGE_DECIDE_QUEUE_MOVE_H
#define TRIAGE_DECIDE_QUEUE_MOVE_H

#include "triage/query/audit.h"

enum { QUEUE_MOVE_PAGE = 128 };

/* The number of messages that the store holds of a queue. */
struct queue_holding {
    uint32_t number;  /* the store's number; 0: it never had such a queue */
    uint64_t waiting; /* queued and pending_retry */
    uint64_t taken;   /* in flight, or leased */
    uint64_t letters; /* pending_review */
    uint64_t replaying;
};
enum status queue_move_holding(struct triage *triage, struct bytes queue, struct queue_holding *out,
                               struct err *err);

/* Messages and letters that stayed in the old queue; the first ones by id. */
enum { QUEUE_LEFT_NAMED_MAX = 100 };
struct queue_left {
    uint64_t count;
    struct bytes ids[QUEUE_LEFT_NAMED_MAX];
};

struct queue_moved {
    uint64_t messages, letters;
    struct queue_left same_id; /* the new queue has their ids */
    struct queue_left busy;    /* taken or replayed meanwhile */
    struct queue_left damaged; /* unreadable; letters by their letter id */
};

/* Moves all messages and letters of queue `entry->subject` to the queue `to`. Letters of the DLQ
 * "<queue>.dlq", or of one whose name continues with a dot, go to the DLQ of the same name under
 * `to`. Idempotency keys and kept answers are moved as well. No message may be in flight or
 * replaying, and the engine must not hand over from the queue. Those that stay are listed in *out,
 * in the arena; after an error *out says how much was moved. */
enum status queue_move_rename(struct triage *triage, struct audit_entry *entry, struct bytes to,
                              struct arena *arena, struct queue_moved *out, struct err *err);

/* Removes the stored facts of a queue that holds nothing: its state, its budget. */
enum status queue_move_remove(struct triage *triage, struct audit_entry *entry,
                              const struct queue_holding *holding, struct err *err);

#endif
