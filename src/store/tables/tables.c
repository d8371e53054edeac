#include "store/tables/tables.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/lifecycle.h"
#include "base/memory.h"
#include "store/tables/mark.h"

/* Consecutive numbers get adjacent slots, so that messages that are added and removed in order stay
 * in the CPU cache. Numbers that remain may have a regular distance, such as 4096: the higher bits
 * spread them over the slots. */
static uint64_t seq_hash(uint64_t seq) {
    return seq + (seq >> 6) + (seq >> 12) + (seq >> 18);
}

void tables_init(struct tables *tables) {
    *tables = (struct tables){.next_seq = 1};
    notes_init(&tables->keeps);
    group_counters_init(&tables->groups);
}

static void free_entry(struct map_node *node) {
    entry_free(CONTAINER_OF(node, struct entry, by_seq));
}

void tables_free(struct tables *tables) {
    map_free(&tables->by_id);
    map_free(&tables->by_letter);
    map_drain(&tables->by_seq, free_entry);
    for (size_t i = 0; i < tables->queue_count; i++) {
        struct queue_table *queue = tables->queues[i];
        ready_queues_free(&queue->waiting);
        key_order_free(&queue->lines);
        free((char *)queue->facts.ptr);
        free(queue);
    }
    free(tables->queues);
    dlq_counters_free(&tables->dlqs);
    notes_free(&tables->keeps);
    group_counters_free(&tables->groups);
    name_table_free(&tables->names);
}

/* ---- queues ---- */

static struct queue_table *add_queue(struct tables *tables, struct bytes name) {
    struct queue_table *queue = memory_new(sizeof *queue);
    queue->number = (uint32_t)tables->queue_count + 1;
    queue->name = name_table_get(&tables->names, name);
    ready_queues_init(&queue->waiting, &tables->bound);
    tables->queues =
        memory_grow(tables->queues, (tables->queue_count + 1) * sizeof(struct queue_table *));
    tables->queues[tables->queue_count++] = queue;
    return queue;
}

struct queue_table *tables_queue_named(struct tables *tables, struct bytes name) {
    const struct name *known = name_table_get(&tables->names, name);
    for (size_t i = 0; i < tables->queue_count; i++) {
        if (tables->queues[i]->name == known)
            return tables->queues[i];
    }
    return add_queue(tables, name);
}

struct queue_table *tables_queue_restore(struct tables *tables, uint32_t number,
                                         struct bytes name) {
    while (tables->queue_count < number)
        add_queue(tables, BYTES_NONE);
    struct queue_table *queue = tables->queues[number - 1];
    queue->name = name_table_get(&tables->names, name);
    queue->durable = true;
    return queue;
}

struct queue_table *tables_queue(const struct tables *tables, uint32_t number) {
    assert(number > 0 && number <= tables->queue_count);
    return tables->queues[number - 1];
}

uint32_t tables_queue_known(const struct tables *tables, struct bytes name) {
    if (name.len == 0)
        return TABLES_ANY_QUEUE;
    for (size_t i = 0; i < tables->queue_count; i++) {
        const struct name *known = tables->queues[i]->name;
        if (known && bytes_eq(known->text, name))
            return tables->queues[i]->number;
    }
    return TABLES_NO_QUEUE;
}

void tables_queue_facts(struct queue_table *queue, struct bytes facts) {
    free((char *)queue->facts.ptr);
    queue->facts = (struct bytes){bytes_dup(facts), facts.len};
    queue->changed = true;
}

/* ---- finding ---- */

struct entry *tables_find(const struct tables *tables, uint64_t seq) {
    for (struct map_node *node = map_first(&tables->by_seq, seq_hash(seq)); node;
         node = map_next(node)) {
        struct entry *entry = CONTAINER_OF(node, struct entry, by_seq);
        if (entry->seq == seq)
            return entry;
    }
    return NULL;
}

static bool is_decided(const struct entry *entry) {
    return entry->stage == ENTRY_HELD && lifecycle_is_decided(entry->facts.state);
}

/* The order among entries with one id: live messages and letters in review, then resolved and
 * discarded letters, then forgotten entries that hide a row in the file. */
static int rank_of(const struct entry *entry) {
    if (!entry)
        return 0;
    return entry->stage == ENTRY_FORGOTTEN ? 1 : is_decided(entry) ? 2 : 3;
}

struct entry *tables_find_id(const struct tables *tables, uint32_t queue, struct bytes id) {
    struct entry *best = NULL;
    /* The common case: all held messages are in the file only, or there are none. */
    if (tables->by_id.count == 0)
        return NULL;
    for (struct map_node *node = map_first(&tables->by_id, bytes_print(id)); node;
         node = map_next(node)) {
        struct entry *entry = CONTAINER_OF(node, struct entry, by_id);
        if (entry->queue == queue && bytes_eq(entry->id, id) && rank_of(entry) > rank_of(best))
            best = entry;
    }
    return best;
}

bool tables_holds(const struct tables *tables, uint32_t queue, struct bytes id) {
    const struct entry *entry = tables_find_id(tables, queue, id);
    return entry && entry->stage == ENTRY_HELD;
}

struct matches {
    uint32_t queue;
    struct entry **out;
    size_t count, max;
};

static void add_match(struct matches *matches, struct entry *entry) {
    if (entry->stage != ENTRY_HELD || matches->count == matches->max ||
        (matches->queue != TABLES_ANY_QUEUE && matches->queue != entry->queue))
        return;
    for (size_t i = 0; i < matches->count; i++) {
        struct entry *known = matches->out[i];
        if (known->queue != entry->queue)
            continue;
        if (rank_of(entry) > rank_of(known) ||
            (rank_of(entry) == rank_of(known) && entry->seq > known->seq))
            matches->out[i] = entry;
        return;
    }
    matches->out[matches->count++] = entry;
}

size_t tables_matches(const struct tables *tables, uint32_t queue, struct bytes id,
                      struct entry **out, size_t max) {
    struct matches matches = {.queue = queue, .out = out, .max = max};
    uint64_t hash = bytes_print(id);
    for (struct map_node *node = map_first(&tables->by_id, hash); node; node = map_next(node)) {
        struct entry *entry = CONTAINER_OF(node, struct entry, by_id);
        if (bytes_eq(entry->id, id))
            add_match(&matches, entry);
    }
    for (struct map_node *node = map_first(&tables->by_letter, hash); node; node = map_next(node)) {
        struct entry *entry = CONTAINER_OF(node, struct entry, by_letter);
        if (bytes_eq(entry_letter_id(entry), id))
            add_match(&matches, entry);
    }
    return matches.count;
}

enum status tables_ambiguous(const struct tables *tables, const uint32_t *queues, size_t count,
                             struct bytes id, struct err *err) {
    char memory[sizeof err->text];
    struct buf names;
    buf_init_fixed(&names, memory, sizeof memory - 1);
    for (size_t i = 0; i < count; i++) {
        buf_str(&names, i ? ", " : "");
        buf_bytes(&names, tables_queue(tables, queues[i])->name->text);
    }
    return err_set(err, STATUS_CONFLICT,
                   "\"%.*s\" is held by several queues: %.*s; say which one with queue",
                   BYTES_ARG(id), BYTES_ARG(buf_view(&names)));
}

/* ---- changing ---- */

static struct ready_queues *waiting_of(struct tables *tables, const struct entry *entry) {
    return &tables_queue(tables, entry->queue)->waiting;
}

static void index_letter(struct tables *tables, struct entry *entry) {
    if (entry->facts.letter_id)
        map_insert(&tables->by_letter, &entry->by_letter, bytes_print(entry_letter_id(entry)));
}

static void unindex_letter(struct tables *tables, struct entry *entry) {
    if (entry->facts.letter_id)
        map_remove(&tables->by_letter, &entry->by_letter);
}

/* Adds the entry to the list in which it waits, if it waits: to the line of its key if its queue is
 * ordered. */
static void enter(struct tables *tables, struct entry *entry, const struct instant *now) {
    struct queue_table *queue = tables_queue(tables, entry->queue);
    if (queue->order == ORDER_KEY && key_order_has_place(entry))
        key_order_add(&queue->lines, &queue->waiting, entry, now);
    else if (ready_queues_has_place(entry->facts.state))
        ready_queues_add(&queue->waiting, entry, now);
}

static void leave(struct tables *tables, struct entry *entry, const struct instant *now) {
    struct queue_table *queue = tables_queue(tables, entry->queue);
    if (entry->line)
        key_order_remove(&queue->lines, &queue->waiting, entry, now);
    else
        ready_queues_remove(&queue->waiting, entry);
}

static void count(struct tables *tables, const struct entry_facts *before,
                  const struct entry_facts *after, uint64_t seq) {
    dlq_counters_change(&tables->dlqs, before, after);
    group_counters_change(&tables->groups, before, after, seq);
    if (tables->groups.inexact)
        dlq_counters_note_inexact(&tables->dlqs);
}

void tables_reserve(struct tables *tables, struct entry *entry) {
    entry->stage = ENTRY_RESERVED;
    map_insert(&tables->by_seq, &entry->by_seq, seq_hash(entry->seq));
    map_insert(&tables->by_id, &entry->by_id, bytes_print(entry->id));
    index_letter(tables, entry);
    if (entry->seq >= tables->next_seq)
        tables->next_seq = entry->seq + 1;
}

void tables_restore(struct tables *tables, struct entry *entry, const struct instant *now) {
    assert(entry->stage == ENTRY_RESERVED);
    entry->stage = ENTRY_HELD;
    enter(tables, entry, now);
}

void tables_hold(struct tables *tables, struct entry *entry, const struct instant *now) {
    tables_restore(tables, entry, now);
    count(tables, NULL, &entry->facts, entry->seq);
}

void tables_note_unreadable(struct tables *tables, struct entry *entry, const char *why) {
    struct queue_table *queue = tables_queue(tables, entry->queue);
    if (entry->unreadable != (why != NULL))
        queue->unreadable += why ? 1 : UINT64_MAX; /* adds 1, or subtracts 1 by wrap-around */
    entry->unreadable = why != NULL;
    if (why)
        snprintf(queue->unreadable_why, sizeof queue->unreadable_why, "message %.*s: %.150s",
                 BYTES_ARG(bytes_clip(entry->id, 64)), why);
}

static void set_facts(struct tables *tables, struct entry *entry, struct entry_facts *facts_take,
                      const struct instant *now) {
    assert(entry->stage == ENTRY_HELD);
    tables_note_unreadable(tables, entry,
                           NULL); /* a message that is changed was read, or is given up */
    count(tables, &entry->facts, facts_take, entry->seq);
    bool stays_taken = entry->taken && facts_take->leased;
    if (entry->taken && !stays_taken)
        ready_queues_tried(waiting_of(tables, entry), entry);
    if (!stays_taken)
        leave(tables, entry, now);
    unindex_letter(tables, entry);
    entry_facts_free(&entry->facts);
    entry->facts = *facts_take;
    facts_take->letter_id = NULL;
    index_letter(tables, entry);
    if (!stays_taken)
        enter(tables, entry, now);
}

void tables_change(struct tables *tables, struct entry *entry, struct entry_facts *facts_take,
                   const struct instant *now) {
    set_facts(tables, entry, facts_take, now);
    blob_free(entry->mark); /* the new envelope includes the decisions of the mark */
    entry->mark = NULL;
}

static void add_mark(struct entry *entry, const struct mark *mark, struct arena *arena) {
    struct mark before, both = *mark;
    if (entry->mark && mark_decode(entry_mark(entry), arena, &before))
        both = mark_merge(&before, mark);
    struct blob *text = mark_encode(&both);
    blob_free(entry->mark);
    entry->mark = text;
}

bool tables_mark(struct tables *tables, struct entry *entry, struct bytes text,
                 const struct instant *now) {
    struct arena arena;
    arena_init_heap(&arena, 1024);
    struct mark mark;
    bool known = mark_decode(text, &arena, &mark);
    if (known) {
        struct entry_facts facts = entry->facts;
        facts.state = mark.state;
        if (facts.letter_id)
            facts.letter_id = bytes_dup(entry_letter_id(entry));
        set_facts(tables, entry, &facts, now);
        add_mark(entry, &mark, &arena);
    }
    arena_free(&arena);
    return known;
}

static struct entry *take_waiting(struct tables *tables, uint32_t queue, struct entry *entry) {
    bool here = entry && entry->stage == ENTRY_HELD && entry->queue == queue;
    return here && ready_queues_take_one(waiting_of(tables, entry), entry) ? entry : NULL;
}

/* A message that waits for room in its DLQ was judged: it must not be handed over again. */
struct entry *tables_take_one(struct tables *tables, uint32_t queue, uint64_t seq) {
    struct entry *entry = tables_find(tables, seq);
    return entry && entry_awaits_room(entry) ? NULL : take_waiting(tables, queue, entry);
}

struct entry *tables_take_any(struct tables *tables, uint32_t queue, uint64_t seq) {
    struct entry *entry = tables_find(tables, seq);
    bool held_back = entry && entry->stage == ENTRY_HELD && entry->queue == queue &&
                     entry->blocked && !entry_is_taken(entry);
    if (!held_back)
        return take_waiting(tables, queue, entry);
    key_order_take_one(waiting_of(tables, entry), entry);
    return entry;
}

void tables_give_back(struct tables *tables, struct entry *entry, struct mono due) {
    struct queue_table *queue = tables_queue(tables, entry->queue);
    if (entry->line && !entry_awaits_room(entry)) /* it keeps its position in its line */
        key_order_give_back(&queue->lines, &queue->waiting, entry, due);
    else
        ready_queues_give_back(&queue->waiting, entry, due);
}

struct bytes tables_blocked_by(const struct tables *tables, uint64_t seq, struct arena *arena) {
    const struct entry *entry = tables_find(tables, seq);
    const struct entry *letter = entry ? key_order_blocked_by(entry) : NULL;
    return letter ? arena_dup(arena, entry_public_id(letter)) : BYTES_NONE;
}

struct commit_order {
    uint32_t queue;
    struct entry **entries;
    size_t count;
};

static void add_ordered(struct map_node *node, void *arg) {
    struct commit_order *order = arg;
    struct entry *entry = CONTAINER_OF(node, struct entry, by_seq);
    if (entry->queue == order->queue && entry->stage == ENTRY_HELD && key_order_has_place(entry))
        order->entries[order->count++] = entry;
}

static int by_seq(const void *a, const void *b) {
    const struct entry *left = *(struct entry *const *)a, *right = *(struct entry *const *)b;
    return left->seq < right->seq ? -1 : left->seq > right->seq;
}

void tables_set_order(struct tables *tables, struct queue_table *queue, enum store_order how) {
    if (queue->order == how)
        return;
    assert(queue->waiting.taken_count == 0);
    struct commit_order order = {.queue = queue->number};
    order.entries = memory_array(tables->by_seq.count + 1, sizeof(struct entry *));
    map_each(&tables->by_seq, add_ordered, &order);
    qsort(order.entries, order.count, sizeof(struct entry *), by_seq);
    for (size_t i = 0; i < order.count; i++)
        leave(tables, order.entries[i], NULL);
    queue->order = how;
    for (size_t i = 0; i < order.count; i++)
        enter(tables, order.entries[i], NULL);
    free(order.entries);
}

void tables_forget(struct tables *tables, struct entry *entry) {
    assert(entry->stage == ENTRY_HELD);
    tables_note_unreadable(tables, entry, NULL);
    count(tables, &entry->facts, NULL, entry->seq);
    leave(tables, entry, NULL);
    blob_unkeep(&entry->envelope);
    blob_unkeep(&entry->body);
    entry->stage = ENTRY_FORGOTTEN;
}

void tables_drop(struct tables *tables, struct entry *entry) {
    if (entry->parked)
        paged_queue_let_go(entry);
    else
        leave(tables, entry, NULL);
    unindex_letter(tables, entry);
    map_remove(&tables->by_seq, &entry->by_seq);
    map_remove(&tables->by_id, &entry->by_id);
    list_remove(&entry->change);
    list_remove(&entry->recent);
    entry_free(entry);
}
