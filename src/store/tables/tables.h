/* tables: the messages that a store holds in memory, found by number, by id and by letter id, in
 * the lists of their queues and in the counters of their DLQs.
 *
 * Every change goes through here, so that lists, maps and counters never disagree. The tables have
 * no lock and no clock: their store has. */
#ifndef STORE_TABLES_TABLES_H
#define STORE_TABLES_TABLES_H

#include "store/tables/dlq_counters.h"
#include "store/tables/entry.h"
#include "store/tables/group_counters.h"
#include "store/tables/notes.h"
#include "store/tables/key_order.h"
#include "store/tables/ready_queues.h"

struct queue_table {
    uint32_t number;
    const struct name *name;
    struct ready_queues waiting;
    enum store_order order;
    struct key_order lines; /* with ORDER_KEY */
    struct bytes facts;     /* owned JSON; ptr NULL: none */
    bool durable;           /* its name is on disk */
    bool changed;           /* since the fold last wrote it */
    uint64_t unreadable;    /* entries that are */
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
    struct paged_queue_bound bound; /* of what waits in memory */
};

void tables_init(struct tables *tables);
void tables_free(struct tables *tables); /* with every entry */

/* Made if need be. Numbers start at 1. */
struct queue_table *tables_queue_named(struct tables *tables, struct bytes name);
/* While a store is opened: the queue has had this number before. */
struct queue_table *tables_queue_restore(struct tables *tables, uint32_t number, struct bytes name);
struct queue_table *tables_queue(const struct tables *tables, uint32_t number);
/* The number of that queue: TABLES_ANY_QUEUE for an empty name, TABLES_NO_QUEUE for an unknown one.
 */
enum { TABLES_ANY_QUEUE = 0 };
#define TABLES_NO_QUEUE UINT32_MAX
uint32_t tables_queue_known(const struct tables *tables, struct bytes name);
/* Once for a queue, before anything of it is taken. */
void tables_set_order(struct tables *tables, struct queue_table *queue, enum store_order order);
void tables_queue_facts(struct queue_table *queue, struct bytes facts);

struct entry *tables_find(const struct tables *tables, uint64_t seq);
/* The one that is reserved or held, else one that hides what was forgotten, else NULL. */
struct entry *tables_find_id(const struct tables *tables, uint32_t queue, struct bytes id);
bool tables_holds(const struct tables *tables, uint32_t queue, struct bytes id);
/* Every held entry of the queue (or TABLES_ANY_QUEUE) with this message id or letter id, at most
 * `max`. */
size_t tables_matches(const struct tables *tables, uint32_t queue, struct bytes id,
                      struct entry **out, size_t max);

/* CONFLICT, with the names of their queues. */
enum status tables_ambiguous(const struct tables *tables, const uint32_t *queues, size_t count,
                             struct bytes id, struct err *err);

/* Finds it from now on, RESERVED. The tables own the entry. */
void tables_reserve(struct tables *tables, struct entry *entry);
/* This very one from where it waits; NULL when it does not. */
struct entry *tables_take_one(struct tables *tables, uint32_t queue, uint64_t seq);
/* The same, also when its line holds it back. */
struct entry *tables_take_any(struct tables *tables, uint32_t queue, uint64_t seq);
/* From the taken list back to where it waits, not before `due`. */
void tables_give_back(struct tables *tables, struct entry *entry, struct mono due);
/* The id of the letter that a message waits for, in the arena; ptr NULL: none. */
struct bytes tables_blocked_by(const struct tables *tables, uint64_t seq, struct arena *arena);
/* RESERVED → HELD: it is counted and waits. `now` as in ready_queues_add. */
void tables_hold(struct tables *tables, struct entry *entry, const struct instant *now);
/* The same without counting: the counters were loaded. */
void tables_restore(struct tables *tables, struct entry *entry, const struct instant *now);
/* Takes the facts. What is taken and leased from now on stays taken. */
void tables_change(struct tables *tables, struct entry *entry, struct entry_facts *facts_take,
                   const struct instant *now);
/* Its envelope stays, with this mark (JSON) on top of those before; false when it is no mark. */
bool tables_mark(struct tables *tables, struct entry *entry, struct bytes mark,
                 const struct instant *now);
/* Its bytes could not be read, and why; `why` NULL: they could. */
void tables_note_unreadable(struct tables *tables, struct entry *entry, const char *why);
/* HELD → FORGOTTEN. */
void tables_forget(struct tables *tables, struct entry *entry);
/* Out of all tables, freed, not counted: a reservation that failed, or one that only the file holds
 * from now on. */
void tables_drop(struct tables *tables, struct entry *entry);

#endif
