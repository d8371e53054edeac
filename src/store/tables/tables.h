/* tables: the messages that a store has in memory, indexed by seq, by id and by letter id, in the
 * lists of their queues and in the counters of their DLQs.
 *
 * Every change goes through here, so that lists, maps and counters stay consistent. The tables have
 * no lock and no clock: the store that owns them does. */
#ifndef STORE_TABLES_TABLES_H
#define STORE_TABLES_TABLES_H

#include "store/tables/counters/dlq_counters.h"
#include "store/tables/ready/entry.h"
#include "store/tables/counters/group_counters.h"
#include "store/tables/notes.h"
#include "store/tables/ready/key_order.h"
#include "store/tables/ready/ready_queues.h"

struct queue_table {
    uint32_t number;
    const struct name *name;
    struct ready_queues waiting;
    enum store_order order;
    struct key_order lines; /* with ORDER_KEY */
    struct bytes facts;     /* owned JSON; ptr NULL: none */
    bool durable;           /* its name is on disk */
    bool changed;           /* since the last fold wrote it */
    uint64_t unreadable;    /* number of unreadable entries */
    char unreadable_why[STORE_UNREADABLE_WHY_SIZE];
};

struct tables {
    struct name_table names;
    struct dlq_counters dlqs;
    struct group_counters groups;
    struct notes keeps;
    struct map by_seq, by_id, by_letter;
    struct queue_table **queues; /* by number - 1 */
    size_t queue_count;
    uint64_t next_seq;
    struct paged_queue_bound bound; /* limits the waiting messages in memory */
};

void tables_init(struct tables *tables);
void tables_free(struct tables *tables); /* frees every entry too */

/* Creates the queue if needed. Numbers start at 1. */
struct queue_table *tables_queue_named(struct tables *tables, struct bytes name);
/* While a store is opened: restores a queue with its stored number. */
struct queue_table *tables_queue_restore(struct tables *tables, uint32_t number, struct bytes name);
struct queue_table *tables_queue(const struct tables *tables, uint32_t number);
/* The number of that queue: TABLES_ANY_QUEUE for an empty name, TABLES_NO_QUEUE for an unknown one.
 */
enum { TABLES_ANY_QUEUE = 0 };
#define TABLES_NO_QUEUE UINT32_MAX
uint32_t tables_queue_known(const struct tables *tables, struct bytes name);
/* Called at most once for a queue, before its first take. */
void tables_set_order(struct tables *tables, struct queue_table *queue, enum store_order order);
void tables_queue_facts(struct queue_table *queue, struct bytes facts);

struct entry *tables_find(const struct tables *tables, uint64_t seq);
/* The entry that is reserved or held, else a forgotten one that hides a row, else NULL. */
struct entry *tables_find_id(const struct tables *tables, uint32_t queue, struct bytes id);
bool tables_holds(const struct tables *tables, uint32_t queue, struct bytes id);
/* All held entries of the queue (or TABLES_ANY_QUEUE) with this message id or letter id, at most
 * `max`. */
size_t tables_matches(const struct tables *tables, uint32_t queue, struct bytes id,
                      struct entry **out, size_t max);

/* Returns CONFLICT, with the names of the queues in err. */
enum status tables_ambiguous(const struct tables *tables, const uint32_t *queues, size_t count,
                             struct bytes id, struct err *err);

/* Adds a RESERVED entry to the indexes. The tables own it from now on. */
void tables_reserve(struct tables *tables, struct entry *entry);
/* Takes the message with this seq; NULL if it does not wait. */
struct entry *tables_take_one(struct tables *tables, uint32_t queue, uint64_t seq);
/* As tables_take_one, but also takes a blocked message. */
struct entry *tables_take_any(struct tables *tables, uint32_t queue, uint64_t seq);
/* Moves the entry from the taken list back to the list in which it waits, not before `due`. */
void tables_give_back(struct tables *tables, struct entry *entry, struct mono due);
/* The id of the letter that blocks a message, in the arena; ptr NULL: none. */
struct bytes tables_blocked_by(const struct tables *tables, uint64_t seq, struct arena *arena);
/* RESERVED → HELD: the entry is counted and added to its list. `now` as in ready_queues_add. */
void tables_hold(struct tables *tables, struct entry *entry, const struct instant *now);
/* As tables_hold, but without counting: the counters were loaded from the file. */
void tables_restore(struct tables *tables, struct entry *entry, const struct instant *now);
/* Takes ownership of the facts. An entry that is taken and becomes leased stays taken. */
void tables_change(struct tables *tables, struct entry *entry, struct entry_facts *facts_take,
                   const struct instant *now);
/* Merges this mark (JSON) over the entry's earlier one; the envelope is unchanged. False if it is
 * not a mark. */
bool tables_mark(struct tables *tables, struct entry *entry, struct bytes mark,
                 const struct instant *now);
/* Records that the entry's bytes could not be read, and the error; `why` NULL: they could be read.
 */
void tables_note_unreadable(struct tables *tables, struct entry *entry, const char *why);
/* HELD → FORGOTTEN. */
void tables_forget(struct tables *tables, struct entry *entry);
/* Removes the entry from all tables and frees it without changing counters: for a reservation that
 * failed, or a message that only the file holds from now on. */
void tables_drop(struct tables *tables, struct entry *entry);

#endif
