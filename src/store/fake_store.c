#include "store/fake_store.h"

#include "base/memory.h"
#include "store/tables/commit_batch.h"
#include "store/fake_list.h"
#include "store/tables/front.h"
#include "store/tables/counters/commit_times.h"
#include "store/tables/stored_message.h"

enum { MATCHES_MAX = 64, TAKE_MAX = 256 };

struct fake_store {
    struct front front;
    struct commit_batch *first, **last;
    uint64_t tickets;
    bool immediate;
    enum status failure;
    size_t failures_left;
    struct store_health health;
    struct wall now; /* the time of the last call that passed one */
};

static struct fake_store *fake(struct store *store) {
    return CONTAINER_OF(store, struct fake_store, front.port);
}

static struct fake_store *fake_of_letters(struct letters *letters) {
    return CONTAINER_OF(letters, struct fake_store, front.letters);
}

/* ---- changes ---- */

static void changed(void *arg, struct entry *entry, uint64_t position, bool body) {
    (void)arg;
    (void)entry;
    (void)position;
    (void)body;
}

static void marked(void *arg, struct entry *entry) {
    (void)arg;
    (void)entry;
}

static void released(void *arg, struct entry *entry) {
    struct fake_store *self = arg;
    if (entry->stage == ENTRY_FORGOTTEN && entry->pins == 0)
        tables_drop(&self->front.tables, entry);
}

static struct commit_batch_hooks hooks(struct fake_store *self) {
    return (struct commit_batch_hooks){
        .arg = self, .changed = changed, .marked = marked, .released = released};
}

static void settle(struct fake_store *self, struct commit_batch *batch) {
    struct commit_batch_hooks mine = hooks(self);
    if (self->failures_left > 0) {
        self->failures_left--;
        batch->status = self->failure;
        err_set(&batch->commit->err, batch->status, "the fake was told to fail");
        commit_batch_undo(batch, &self->front.tables, &mine);
    } else {
        commit_batch_apply(batch, &self->front.tables, &mine, NULL, NULL);
        commit_times_note_commit(&self->health, 0);
    }
    self->health.writable = batch->status == STATUS_OK;
    self->health.trouble = batch->commit->err;
}

static void answer(struct fake_store *self, struct commit_batch *batch) {
    batch->commit->done(batch->commit, batch->status);
    for (size_t i = 0; batch->status == STATUS_OK && self->front.ready && i < batch->count; i++) {
        if (commit_batch_op_wakes(&batch->ops[i]))
            self->front.ready(self->front.ready_arg, batch->ops[i].queue->number);
    }
    commit_batch_free(batch);
}

/* A commit that duplicates an id of a failed commit fails with the same status. It always comes
 * after that commit in the list. */
static bool leans_on(const struct commit_batch *batch, const struct commit_batch *failed) {
    return batch->leans_first <= failed->ticket && failed->ticket <= batch->leans_last;
}

static void fail_leaning(struct fake_store *self, const struct commit_batch *failed) {
    struct commit_batch_hooks mine = hooks(self);
    for (struct commit_batch *batch = self->first; batch; batch = batch->next) {
        if (batch->status == STATUS_OK && leans_on(batch, failed)) {
            batch->status = failed->status;
            commit_batch_undo(batch, &self->front.tables, &mine);
        }
    }
}

static struct commit_batch *next_batch(struct fake_store *self) {
    pthread_mutex_lock(&self->front.mutex);
    struct commit_batch *batch = self->first;
    if (batch) {
        self->first = batch->next;
        if (!self->first)
            self->last = &self->first;
        if (batch->status == STATUS_OK)
            settle(self, batch);
        if (batch->status != STATUS_OK)
            fail_leaning(self, batch);
    }
    pthread_mutex_unlock(&self->front.mutex);
    return batch;
}

void fake_store_step(struct store *store) {
    struct fake_store *self = fake(store);
    for (struct commit_batch *batch; (batch = next_batch(self)) != NULL;)
        answer(self, batch);
}

static void submit(struct store *store, struct store_commit *commit) {
    struct fake_store *self = fake(store);
    struct commit_batch_hooks mine = hooks(self);
    struct commit_batch *batch = commit_batch_new(commit);
    if (!batch) {
        commit->done(commit, STATUS_BUSY);
        return;
    }
    pthread_mutex_lock(&self->front.mutex);
    commit_batch_prepare(batch, &self->front.tables);
    enum status status = commit_batch_stage(batch, ++self->tickets, &self->front.tables, &mine);
    if (status == STATUS_OK) {
        *self->last = batch;
        self->last = &batch->next;
    }
    pthread_mutex_unlock(&self->front.mutex);
    if (status != STATUS_OK) {
        commit_batch_free(batch);
        commit->done(commit, status);
    } else if (self->immediate) {
        fake_store_step(store);
    }
}

void fake_store_fail(struct store *store, enum status status, size_t count) {
    fake(store)->failure = status;
    fake(store)->failures_left = count;
}

/* ---- taking ---- */

static struct message *hold(const struct tables *tables, const struct entry *entry) {
    struct message *held = NULL;
    struct err err;
    enum state state = entry_state(entry);
    struct stored_message_parts parts = {.seq = entry->seq,
                                         .envelope = entry->envelope.bytes,
                                         .body = entry->body.bytes,
                                         .mark = entry_mark(entry),
                                         .state = &state};
    if (stored_message_new(&parts, &held, &err) != STATUS_OK)
        abort(); /* the envelope was encoded by this process, so it can be decoded */
    held->envelope.blocked_by = tables_blocked_by(tables, entry->seq, &held->arena);
    return held;
}

static void give_back(struct store *store, struct message *held_take, struct mono due) {
    front_give_back(&fake(store)->front, held_take->seq, due);
    message_free(held_take);
}

static size_t take(struct store *store, uint32_t queue, enum store_take which, struct instant now,
                   struct message **out, size_t max) {
    struct fake_store *self = fake(store);
    struct entry *entries[TAKE_MAX];
    pthread_mutex_lock(&self->front.mutex);
    self->now = now.wall;
    size_t count = ready_queues_take(&tables_queue(&self->front.tables, queue)->waiting, which, now,
                                     entries, max < TAKE_MAX ? max : TAKE_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = hold(&self->front.tables, entries[i]);
    pthread_mutex_unlock(&self->front.mutex);
    return count;
}

static struct message *take_one(struct store *store, uint32_t queue, uint64_t seq) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->front.mutex);
    struct entry *entry = tables_take_one(&self->front.tables, queue, seq);
    struct message *held = entry ? hold(&self->front.tables, entry) : NULL;
    pthread_mutex_unlock(&self->front.mutex);
    return held;
}

static struct message *take_any(struct store *store, uint32_t queue, uint64_t seq) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->front.mutex);
    struct entry *entry = tables_take_any(&self->front.tables, queue, seq);
    struct message *held = entry ? hold(&self->front.tables, entry) : NULL;
    pthread_mutex_unlock(&self->front.mutex);
    return held;
}

static size_t take_blocked(struct store *store, uint32_t queue, size_t limit, struct message **out,
                           size_t max) {
    struct fake_store *self = fake(store);
    struct entry *entries[TAKE_MAX];
    pthread_mutex_lock(&self->front.mutex);
    struct queue_table *from = tables_queue(&self->front.tables, queue);
    size_t count = key_order_take_blocked(&from->lines, &from->waiting, limit, entries,
                                          max < TAKE_MAX ? max : TAKE_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = hold(&self->front.tables, entries[i]);
    pthread_mutex_unlock(&self->front.mutex);
    return count;
}

static size_t take_for_room(struct store *store, uint32_t queue, struct bytes dlq,
                            struct message **out, size_t max) {
    struct fake_store *self = fake(store);
    struct entry *entries[TAKE_MAX];
    pthread_mutex_lock(&self->front.mutex);
    struct tables *tables = &self->front.tables;
    size_t count = ready_queues_take_for_room(&tables_queue(tables, queue)->waiting,
                                              name_table_find(&tables->names, dlq), entries,
                                              max < TAKE_MAX ? max : TAKE_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = hold(tables, entries[i]);
    pthread_mutex_unlock(&self->front.mutex);
    return count;
}

/* ---- reading ---- */

static enum status ambiguous(struct fake_store *self, struct entry **matches, size_t count,
                             struct bytes id, struct err *err) {
    uint32_t queues[MATCHES_MAX];
    for (size_t i = 0; i < count; i++)
        queues[i] = matches[i]->queue;
    return tables_ambiguous(&self->front.tables, queues, count, id, err);
}

static enum status get_seq(struct letters *letters, uint64_t seq, struct message **out,
                           struct err *err) {
    struct fake_store *self = fake_of_letters(letters);
    pthread_mutex_lock(&self->front.mutex);
    const struct entry *entry = tables_find(&self->front.tables, seq);
    bool held = entry && entry->stage == ENTRY_HELD;
    if (held)
        *out = hold(&self->front.tables, entry);
    pthread_mutex_unlock(&self->front.mutex);
    return held ? STATUS_OK
                : err_set(err, STATUS_NOT_FOUND, "message %llu is not held any more",
                          (unsigned long long)seq);
}

static enum status get(struct letters *letters, struct bytes queue, struct bytes id,
                       struct message **out, struct err *err) {
    struct fake_store *self = fake_of_letters(letters);
    struct entry *matches[MATCHES_MAX];
    pthread_mutex_lock(&self->front.mutex);
    size_t count =
        tables_matches(&self->front.tables, tables_queue_known(&self->front.tables, queue), id,
                       matches, MATCHES_MAX);
    enum status status = STATUS_OK;
    if (count == 0)
        status = err_set(err, STATUS_NOT_FOUND, "\"%.*s\" is not held", BYTES_ARG(id));
    else if (count > 1)
        status = ambiguous(self, matches, count, id, err);
    else
        *out = hold(&self->front.tables, matches[0]);
    pthread_mutex_unlock(&self->front.mutex);
    return status;
}

static enum status holds(struct letters *letters, uint32_t queue, const struct bytes *ids,
                         size_t count, bool *out, struct err *err) {
    struct fake_store *self = fake_of_letters(letters);
    (void)err;
    pthread_mutex_lock(&self->front.mutex);
    for (size_t i = 0; i < count; i++)
        out[i] = tables_holds(&self->front.tables, queue, ids[i]);
    pthread_mutex_unlock(&self->front.mutex);
    return STATUS_OK;
}

static enum status list(struct letters *letters, const struct letters_query *query,
                        struct arena *arena, struct letters_page *out, struct err *err) {
    struct fake_store *self = fake_of_letters(letters);
    pthread_mutex_lock(&self->front.mutex);
    enum status status = fake_list(&self->front.tables, query, arena, out, err);
    pthread_mutex_unlock(&self->front.mutex);
    return status;
}

static enum status sum(struct letters *letters, const struct letters_query *query,
                       struct letters_sum *out, struct err *err) {
    struct letters_query all = *query;
    struct letters_page page;
    struct arena arena;
    all.limit = SIZE_MAX;
    all.cursor = BYTES_NONE;
    arena_init_heap(&arena, 4096);
    *out = (struct letters_sum){.newest = WALL_NEVER};
    enum status status = list(letters, &all, &arena, &page, err);
    for (size_t i = 0; status == STATUS_OK && i < page.count; i++) {
        struct envelope envelope;
        status = envelope_restore(page.rows[i].envelope, &arena, &envelope, err);
        if (status != STATUS_OK)
            break;
        out->count[envelope.state]++;
        out->adopted += envelope.cause == CAUSE_ADOPTED;
        if (envelope.dead_at.ms > out->newest.ms)
            out->newest = envelope.dead_at;
    }
    arena_free(&arena);
    return status;
}

static enum status note(struct letters *letters, uint32_t queue, const char *space,
                        struct bytes name, struct wall now, struct arena *arena,
                        struct bytes *value, struct err *err) {
    struct fake_store *self = fake_of_letters(letters);
    struct notes_found found;
    pthread_mutex_lock(&self->front.mutex);
    self->now = now;
    notes_find(&self->front.tables.keeps, queue, space, name, now, arena, &found);
    pthread_mutex_unlock(&self->front.mutex);
    return notes_answer(&found, name, value, err);
}

static enum status notes(struct letters *letters, const char *space, struct bytes prefix,
                         struct bytes after, bool descending, size_t limit, struct arena *arena,
                         struct letters_note *out, size_t *count, struct err *err) {
    (void)err;
    struct fake_store *self = fake_of_letters(letters);
    struct notes_range range = notes_range(space, prefix, after, descending, arena);
    struct notes_row *rows = NULL;
    pthread_mutex_lock(&self->front.mutex);
    range.now = self->now;
    size_t found = notes_list(&self->front.tables.keeps, &range, limit, arena, &rows);
    pthread_mutex_unlock(&self->front.mutex);
    *count = 0;
    for (size_t i = 0; i < found; i++) {
        if (!rows[i].hidden)
            out[(*count)++] = (struct letters_note){rows[i].name, rows[i].value};
    }
    return STATUS_OK;
}

static void health(struct store *store, struct store_health *out) {
    struct fake_store *self = fake(store);
    pthread_mutex_lock(&self->front.mutex);
    *out = self->health;
    pthread_mutex_unlock(&self->front.mutex);
}

static void close_store(struct store *store) {
    struct fake_store *self = fake(store);
    fake_store_step(store);
    front_free(&self->front);
    free(self);
}

static const struct store_vtable vtable = {
    .kind = "fake",
    .queue_number = front_queue_number,
    .queue_names = front_queue_names,
    .submit = submit,
    .take = take,
    .take_one = take_one,
    .take_any = take_any,
    .take_blocked = take_blocked,
    .take_for_room = take_for_room,
    .awaiting_room = front_awaiting_room,
    .set_order = front_set_order,
    .give_back = give_back,
    .next_ready = front_next_ready,
    .counts = front_counts,
    .next_seq = front_next_seq,
    .queue_facts = front_queue_facts,
    .dlq_depth = front_dlq_depth,
    .health = health,
    .listen = front_listen,
    .close = close_store,
};

static const struct letters_vtable letters_vtable = {
    .get = get,
    .get_seq = get_seq,
    .holds = holds,
    .list = list,
    .sum = sum,
    .note = note,
    .notes = notes,
    .groups = front_groups,
    .dlq = front_dlq,
    .dlq_names = front_dlq_names,
};

struct store *fake_store_new(bool immediate) {
    struct fake_store *self = memory_new(sizeof *self);
    front_init(&self->front, &vtable, &letters_vtable);
    self->last = &self->first;
    self->immediate = immediate;
    self->health.writable = true;
    return &self->front.port;
}
