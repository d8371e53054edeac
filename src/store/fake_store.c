#include "store/fake_store.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "store/batch.h"
#include "store/fake_list.h"
#include "store/health.h"
#include "store/held.h"

enum { MATCHES_MAX = 64, TAKE_MAX = 256 };

struct fake_store {
    struct store port;
    pthread_mutex_t mutex;
    struct tables tables;
    struct batch *first, **last;
    uint64_t tickets;
    bool immediate;
    enum status failure;
    size_t failures_left;
    struct store_health health;
    void (*ready)(void *arg, uint32_t queue);
    void *ready_arg;
};

static struct fake_store *fake(struct store *store) {
    return CONTAINER_OF(store, struct fake_store, port);
}

/* ---- changes ---- */

static void changed(void *arg, struct entry *entry, uint64_t position, bool body) {
    (void)arg;
    (void)entry;
    (void)position;
    (void)body;
}

static void released(void *arg, struct entry *entry) {
    struct fake_store *self = arg;
    if (entry->stage == ENTRY_FORGOTTEN && entry->pins == 0)
        tables_drop(&self->tables, entry);
}

static struct batch_hooks hooks(struct fake_store *self) {
    return (struct batch_hooks){.arg = self, .changed = changed, .released = released};
}

static void settle(struct fake_store *self, struct batch *batch) {
    struct batch_hooks mine = hooks(self);
    if (self->failures_left > 0) {
        self->failures_left--;
        batch->status = self->failure;
        err_set(&batch->commit->err, batch->status, "the fake was told to fail");
        batch_undo(batch, &self->tables, &mine);
    } else {
        batch_apply(batch, &self->tables, &mine, NULL, NULL);
        health_note_commit(&self->health, 0);
    }
    self->health.writable = batch->status == STATUS_OK;
    self->health.trouble = batch->commit->err;
}

static void answer(struct fake_store *self, struct batch *batch) {
    batch->commit->done(batch->commit, batch->status);
    for (size_t i = 0; batch->status == STATUS_OK && self->ready && i < batch->count; i++) {
        if (batch->ops[i].kind == STORE_PUT || batch->ops[i].kind == STORE_UPDATE)
            self->ready(self->ready_arg, batch->ops[i].queue->number);
    }
    batch_free(batch);
}

/* Commits that lean on one that failed fail as it did: both stand in the same order. */
static bool leans_on(const struct batch *batch, const struct batch *failed) {
    return batch->leans_first <= failed->ticket && failed->ticket <= batch->leans_last;
}

static void fail_leaning(struct fake_store *self, const struct batch *failed) {
    struct batch_hooks mine = hooks(self);
    for (struct batch *batch = self->first; batch; batch = batch->next) {
        if (batch->status == STATUS_OK && leans_on(batch, failed)) {
            batch->status = failed->status;
            batch_undo(batch, &self->tables, &mine);
        }
    }
}

static struct batch *next_batch(struct fake_store *self) {
    pthread_mutex_lock(&self->mutex);
    struct batch *batch = self->first;
    if (batch) {
        self->first = batch->next;
        if (!self->first)
            self->last = &self->first;
        if (batch->status == STATUS_OK)
            settle(self, batch);
        if (batch->status != STATUS_OK)
            fail_leaning(self, batch);
    }
    pthread_mutex_unlock(&self->mutex);
    return batch;
}

void fake_store_step(struct store *store) {
    struct fake_store *self = fake(store);
    for (struct batch *batch; (batch = next_batch(self)) != NULL;)
        answer(self, batch);
}

static void submit(struct store *store, struct store_commit *commit) {
    struct fake_store *self = fake(store);
    struct batch_hooks mine = hooks(self);
    struct batch *batch = batch_new(commit);
    pthread_mutex_lock(&self->mutex);
    enum status status = batch_stage(batch, ++self->tickets, &self->tables, &mine);
    if (status == STATUS_OK) {
        *self->last = batch;
        self->last = &batch->next;
    }
    pthread_mutex_unlock(&self->mutex);
    if (status != STATUS_OK) {
        batch_free(batch);
        commit->done(commit, status);
    } else if (self->immediate) {
        fake_store_step(store);
    }
}

void fake_store_fail(struct store *store, enum status status, size_t count) {
    fake(store)->failure = status;
    fake(store)->failures_left = count;
}

/* ---- queues ---- */

static uint32_t queue_number(struct store *store, struct bytes name) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    uint32_t number = tables_queue_named(&self->tables, name)->number;
    pthread_mutex_unlock(&self->mutex);
    return number;
}

static struct store_held *hold(const struct entry *entry) {
    struct store_held *held = NULL;
    struct err err;
    enum state state = entry_state(entry);
    if (held_new(entry->seq, entry->envelope.bytes, entry->body.bytes, &state, &held, &err) !=
        STATUS_OK)
        abort(); /* we encoded it ourselves */
    return held;
}

static size_t take(struct store *store, uint32_t queue, enum store_take which, struct instant now,
                   uint64_t avoid, struct store_held **out, size_t max) {
    struct fake_store *self = fake(store);
    struct entry *entries[TAKE_MAX];
    pthread_mutex_lock(&self->mutex);
    size_t count = waiting_take(&tables_queue(&self->tables, queue)->waiting, which, now, avoid,
                                entries, max < TAKE_MAX ? max : TAKE_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = hold(entries[i]);
    pthread_mutex_unlock(&self->mutex);
    return count;
}

static void give_back(struct store *store, struct store_held *held_take, struct mono due) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    struct entry *entry = tables_find(&self->tables, held_take->seq);
    if (entry && entry->taken)
        waiting_give_back(&tables_queue(&self->tables, entry->queue)->waiting, entry, due);
    pthread_mutex_unlock(&self->mutex);
    store_held_free(held_take);
}

static struct mono next_ready(struct store *store, uint32_t queue, enum store_take which) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    struct mono next = waiting_next(&tables_queue(&self->tables, queue)->waiting, which);
    pthread_mutex_unlock(&self->mutex);
    return next;
}

static void counts(struct store *store, uint32_t queue, struct store_queue_counts *out) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    waiting_counts(&tables_queue(&self->tables, queue)->waiting, out);
    pthread_mutex_unlock(&self->mutex);
}

static struct bytes queue_facts(struct store *store, uint32_t queue, struct arena *arena) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    struct bytes facts = tables_queue(&self->tables, queue)->facts;
    struct bytes copy = facts.ptr ? arena_dup(arena, facts) : BYTES_NONE;
    pthread_mutex_unlock(&self->mutex);
    return copy;
}

/* ---- reading ---- */

static enum status ambiguous(struct fake_store *self, struct entry **matches, size_t count,
                             struct bytes id, struct err *err) {
    uint32_t queues[MATCHES_MAX];
    for (size_t i = 0; i < count; i++)
        queues[i] = matches[i]->queue;
    return tables_ambiguous(&self->tables, queues, count, id, err);
}

static enum status get(struct store *store, struct bytes queue, struct bytes id,
                       struct store_held **out, struct err *err) {
    struct fake_store *self = fake(store);
    struct entry *matches[MATCHES_MAX];
    pthread_mutex_lock(&self->mutex);
    size_t count = tables_matches(&self->tables, tables_queue_known(&self->tables, queue), id,
                                  matches, MATCHES_MAX);
    enum status status = STATUS_OK;
    if (count == 0)
        status = err_set(err, STATUS_NOT_FOUND, "\"%.*s\" is not held", BYTES_ARG(id));
    else if (count > 1)
        status = ambiguous(self, matches, count, id, err);
    else
        *out = hold(matches[0]);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static enum status list(struct store *store, const struct store_query *query, struct arena *arena,
                        struct store_page *out, struct err *err) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    enum status status = fake_list(&self->tables, query, arena, out, err);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static uint64_t dlq_depth(struct store *store, struct bytes name) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    uint64_t depth = dlqs_depth(&self->tables.dlqs, names_find(&self->tables.names, name));
    pthread_mutex_unlock(&self->mutex);
    return depth;
}

static enum status dlq(struct store *store, struct bytes name, struct wall now, struct arena *arena,
                       struct store_dlq *out) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    enum status status =
        dlqs_read(&self->tables.dlqs, names_find(&self->tables.names, name), now, arena, out);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static size_t dlq_names(struct store *store, struct arena *arena, struct bytes **out) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    size_t count = dlqs_names(&self->tables.dlqs, arena, out);
    pthread_mutex_unlock(&self->mutex);
    return count;
}

static void health(struct store *store, struct store_health *out) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    *out = self->health;
    pthread_mutex_unlock(&self->mutex);
}

static void listen(struct store *store, void (*ready)(void *arg, uint32_t queue), void *arg) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->mutex);
    self->ready = ready;
    self->ready_arg = arg;
    pthread_mutex_unlock(&self->mutex);
}

static void close_store(struct store *store) {
    struct fake_store *self = fake(store);
    fake_store_step(store);
    tables_free(&self->tables);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

static const struct store_vtable vtable = {
    .kind = "fake",
    .queue_number = queue_number,
    .submit = submit,
    .take = take,
    .give_back = give_back,
    .next_ready = next_ready,
    .counts = counts,
    .queue_facts = queue_facts,
    .get = get,
    .list = list,
    .dlq_depth = dlq_depth,
    .dlq = dlq,
    .dlq_names = dlq_names,
    .health = health,
    .listen = listen,
    .close = close_store,
};

struct store *fake_store_new(bool immediate) {
    struct fake_store *self = memory_new(sizeof *self);
    self->port.vtable = &vtable;
    self->last = &self->first;
    self->immediate = immediate;
    self->health.writable = true;
    tables_init(&self->tables);
    pthread_mutex_init(&self->mutex, NULL);
    return &self->port;
}
