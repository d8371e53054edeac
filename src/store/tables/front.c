#include "store/tables/front.h"

#include <string.h>

static struct front *front_of(struct store *store) {
    return CONTAINER_OF(store, struct front, port);
}

void front_init(struct front *front, const struct store_vtable *vtable,
                const struct letters_vtable *letters) {
    front->letters.vtable = letters;
    front->port = (struct store){.vtable = vtable, .letters = &front->letters};
    pthread_mutex_init(&front->mutex, NULL);
    tables_init(&front->tables);
}

void front_free(struct front *front) {
    tables_free(&front->tables);
    pthread_mutex_destroy(&front->mutex);
}

static struct tables *enter(struct store *store) {
    pthread_mutex_lock(&front_of(store)->mutex);
    return &front_of(store)->tables;
}

static void leave(struct store *store) {
    pthread_mutex_unlock(&front_of(store)->mutex);
}

/* ---- queues ---- */

uint32_t front_queue_number(struct store *store, struct bytes name) {
    uint32_t number = tables_queue_named(enter(store), name)->number;
    leave(store);
    return number;
}

size_t front_queue_names(struct store *store, struct arena *arena, struct bytes **out) {
    const struct tables *tables = enter(store);
    size_t count = tables->queue_count;
    *out = arena_alloc(arena, (count + 1) * sizeof **out);
    for (size_t i = 0; i < count; i++) {
        const struct name *name = tables->queues[i]->name;
        (*out)[i] = name ? arena_dup(arena, name->text) : BYTES_NONE;
    }
    leave(store);
    return count;
}

struct mono front_next_ready(struct store *store, uint32_t queue, enum store_take which) {
    struct mono next = ready_queues_next(&tables_queue(enter(store), queue)->waiting, which);
    leave(store);
    return next;
}

void front_counts(struct store *store, uint32_t queue, struct store_queue_counts *out) {
    const struct queue_table *from = tables_queue(enter(store), queue);
    ready_queues_counts(&from->waiting, out);
    out->unreadable = from->unreadable;
    if (from->unreadable > 0)
        memcpy(out->unreadable_why, from->unreadable_why, sizeof out->unreadable_why);
    leave(store);
}

size_t front_awaiting_room(struct store *store, uint32_t queue, struct arena *arena,
                           struct store_count **out) {
    size_t count = ready_queues_rooms(&tables_queue(enter(store), queue)->waiting, arena, out);
    leave(store);
    return count;
}

uint64_t front_next_seq(struct store *store) {
    uint64_t next = enter(store)->next_seq;
    leave(store);
    return next;
}

struct bytes front_queue_facts(struct store *store, uint32_t queue, struct arena *arena) {
    struct bytes facts = tables_queue(enter(store), queue)->facts;
    struct bytes copy = facts.ptr ? arena_dup(arena, facts) : BYTES_NONE;
    leave(store);
    return copy;
}

void front_set_order(struct store *store, uint32_t queue, enum store_order order) {
    struct tables *tables = enter(store);
    tables_set_order(tables, tables_queue(tables, queue), order);
    leave(store);
}

void front_listen(struct store *store, void (*ready)(void *arg, uint32_t queue), void *arg) {
    enter(store);
    front_of(store)->ready = ready;
    front_of(store)->ready_arg = arg;
    leave(store);
}

void front_give_back(struct front *front, uint64_t seq, struct mono due) {
    struct tables *tables = enter(&front->port);
    struct entry *entry = tables_find(tables, seq);
    if (entry && entry->taken)
        tables_give_back(tables, entry, due);
    leave(&front->port);
}

/* ---- DLQs ---- */

uint64_t front_dlq_depth(struct store *store, struct bytes name) {
    struct tables *tables = enter(store);
    uint64_t depth = dlq_counters_depth(&tables->dlqs, name_table_find(&tables->names, name));
    leave(store);
    return depth;
}

static struct tables *enter_letters(struct letters *letters) {
    return enter(&CONTAINER_OF(letters, struct front, letters)->port);
}

static void leave_letters(struct letters *letters) {
    leave(&CONTAINER_OF(letters, struct front, letters)->port);
}

enum status front_dlq(struct letters *letters, struct bytes name, struct wall now,
                      struct arena *arena, struct letters_dlq *out, struct err *err) {
    struct tables *tables = enter_letters(letters);
    enum status status =
        dlq_counters_read(&tables->dlqs, name_table_find(&tables->names, name), now, arena, out);
    leave_letters(letters);
    return status == STATUS_OK
               ? status
               : err_set(err, status, "no letter was ever in \"%.*s\"", BYTES_ARG(name));
}

enum status front_dlq_names(struct letters *letters, struct arena *arena, struct bytes **out,
                            size_t *count, struct err *err) {
    (void)err;
    *count = dlq_counters_names(&enter_letters(letters)->dlqs, arena, out);
    leave_letters(letters);
    return STATUS_OK;
}

enum status front_groups(struct letters *letters, struct bytes dlq, struct arena *arena,
                         struct letters_group **out, size_t *count, struct err *err) {
    struct tables *tables = enter_letters(letters);
    const struct name *name = name_table_find(&tables->names, dlq);
    (void)err;
    *count = 0;
    *out = NULL;
    if (name || dlq.len == 0)
        *count = group_counters_read(&tables->groups, name, arena, out);
    leave_letters(letters);
    return STATUS_OK;
}
