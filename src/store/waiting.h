/* waiting: what one queue has to hand over, in the order in which it may be taken.
 *
 *   queued          →  ready (a list, oldest first)  or  delayed (a heap by due time)
 *   pending_retry   →  retry (a heap by due time)
 *   replaying       →  retry
 *   taken           →  the taken list, until a change of it is durable or it is given back
 *   leased          →  taken; or, when we died since, the leased list
 *
 * An entry is in exactly one of them while it waits or is taken, and in none when it is a letter
 * that waits for people. */
#ifndef STORE_WAITING_H
#define STORE_WAITING_H

#include "port/store.h"
#include "store/entry.h"

struct waiting {
    struct list ready, taken, leased;
    size_t ready_count, taken_count, leased_count;
    struct heap delayed, retry;
    uint64_t blocked_queued, blocked_retry; /* in no list: it is not their turn (store/lines.h) */
    uint64_t turn;                          /* breaks ties in the heaps: first come, first taken */
};

void waiting_init(struct waiting *waiting);
void waiting_free(struct waiting *waiting); /* not the entries */
/* True when a message in this state waits to be handed over. */
bool waiting_has_place(enum state state);
/* Puts the entry where its facts say. `now` NULL: the time is not known, so its due time is
 * reckoned when it is first looked at by a take. */
void waiting_add(struct waiting *waiting, struct entry *entry, const struct instant *now);
/* From wherever it is; harmless when it is nowhere. */
void waiting_remove(struct waiting *waiting, struct entry *entry);
/* Moves up to `max` entries to the taken list, as store_vtable's take says. */
size_t waiting_take(struct waiting *waiting, enum store_take which, struct instant now,
                    uint64_t avoid, struct entry **out, size_t max);
/* This very one, to the taken list; false when it does not wait. */
bool waiting_take_one(struct waiting *waiting, struct entry *entry);
/* One that is in no list, to the taken list. */
void waiting_take_blocked(struct waiting *waiting, struct entry *entry);
/* From the taken list back behind what waits, not before `due`. */
void waiting_give_back(struct waiting *waiting, struct entry *entry, struct mono due);
struct mono waiting_next(const struct waiting *waiting, enum store_take which);
void waiting_counts(const struct waiting *waiting, struct store_queue_counts *out);

#endif
