#include "store/embedded/writer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/tables/counters/commit_times.h"
#include "store/embedded/sqlite/fold/changes.h"
#include "store/embedded/sqlite/fold/fold.h"
#include "store/embedded/pages/large.h"
#include "store/embedded/pages/paging.h"
#include "store/embedded/prefetch.h"
#include "store/embedded/reader.h"
#include "store/embedded/pages/reserve.h"

/* ---- one group ---- */

struct commit_group {
    struct commit_batch *batches; /* in order */
    size_t count;                 /* number of records */
    struct bytes *records;
    uint64_t *positions;
    struct journal_claim *claims; /* of the queues in the group */
    size_t claim_count;
    uint64_t end; /* the position in the journal after the group */
    enum status status;
    struct err err;
    uint32_t fenced; /* FENCED: the number of the queue that this node does not own */
    bool *ready;     /* by queue number - 1: a message may be ready */
    size_t queue_count;
};

static bool is_one_group(const struct sqlite_store *self, size_t records, size_t bytes) {
    return bytes <= GROUP_BYTES_MAX && self->journal->vtable->takes(self->journal, records, bytes);
}

/* Removes as many waiting commits from the front as fit into one group, so that no commit fails
 * because of the size of others. Called with the mutex. */
static struct commit_batch *next_batches(struct sqlite_store *self) {
    struct commit_batch *first = self->first, *last = first;
    if (!first)
        return NULL;
    size_t records = first->records, bytes = first->bytes;
    for (struct commit_batch *next; (next = last->next); last = next) {
        records += next->records;
        bytes += next->bytes;
        if (!is_one_group(self, records, bytes))
            break;
    }
    self->first = last->next;
    if (!self->first)
        self->last = &self->first;
    last->next = NULL;
    return first;
}

static void claim(struct sqlite_store *self, struct commit_group *group,
                  const struct queue_table *queue) {
    for (size_t i = group->claim_count; i-- > 0;) { /* mostly the last claim */
        if (group->claims[i].queue == queue->number)
            return;
    }
    group->claims = memory_grow(group->claims, (group->claim_count + 1) * sizeof *group->claims);
    group->claims[group->claim_count++] = (struct journal_claim){
        queue->number, self->cluster->vtable->epoch(self->cluster, queue->name->text)};
}

static void gather(struct sqlite_store *self, struct commit_group *group) {
    group->count = group->claim_count = 0;
    for (struct commit_batch *batch = group->batches; batch; batch = batch->next) {
        if (batch->status == STATUS_OK)
            group->count += batch->records;
    }
    group->records = memory_grow(group->records, (group->count + 1) * sizeof *group->records);
    group->positions = memory_grow(group->positions, (group->count + 1) * sizeof *group->positions);
    struct bytes *at = group->records;
    for (struct commit_batch *batch = group->batches; batch; batch = batch->next) {
        if (batch->status != STATUS_OK)
            continue;
        commit_batch_records(batch, at);
        at += batch->records;
        for (size_t i = 0; i < batch->count; i++) {
            if (batch->ops[i].record && batch->ops[i].queue)
                claim(self, group, batch->ops[i].queue);
        }
    }
}

static enum status append(struct sqlite_store *self, struct commit_group *group) {
    struct journal_append out = {.records = group->records,
                                 .count = group->count,
                                 .claims = group->claims,
                                 .claim_count = group->claim_count,
                                 .positions = group->positions};
    for (size_t i = 0; i < group->claim_count; i++) {
        if (group->claims[i].epoch == 0) { /* this node knows already that it lost the queue */
            group->fenced = group->claims[i].queue;
            return err_set(&group->err, STATUS_FENCED, "another node owns the queue now");
        }
    }
    enum status status = self->journal->vtable->append(self->journal, &out, &group->err);
    group->end = out.end;
    if (status == STATUS_FENCED)
        group->fenced = group->claims[out.fenced].queue;
    return status;
}

static double seconds_now(void) {
    struct timespec now;
    /* The milliseconds of the clock port are too coarse here. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* If the journal has reached its size limit, waits for the fold, which makes segments reusable. */
static void write_group(struct sqlite_store *self, struct commit_group *group, double *seconds) {
    if (group->count == 0)
        return;
    uint64_t folded;
    do {
        folded = fold_end(self);
        double begun = seconds_now();
        group->status = append(self, group);
        *seconds = seconds_now() - begun;
    } while (group->status == STATUS_FULL &&
             (fold_make_room(self, folded) || reserve_give_up(self)));
}

/* ---- after the sync ---- */

static void note_ready(struct commit_group *group, const struct commit_batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        const struct commit_batch_op *op = &batch->ops[i];
        if (commit_batch_op_wakes(op))
            group->ready[op->queue->number - 1] = true;
    }
}

static void note_health(struct sqlite_store *self, const struct commit_group *group,
                        double seconds) {
    /* TOO_LARGE is caused by the commit, and says nothing about the health of the store. */
    if (group->count == 0 || group->status == STATUS_TOO_LARGE)
        return;
    if (group->status == STATUS_OK)
        commit_times_note_commit(&self->health, seconds);
    if (group->status != STATUS_OK && self->health.writable)
        log_error("the store cannot commit: %s", group->err.text);
    if (group->status == STATUS_OK && !self->health.writable)
        log_info("the store can commit again");
    self->health.writable = group->status == STATUS_OK;
    self->health.trouble = group->err;
}

static void apply_group(struct sqlite_store *self, struct commit_group *group) {
    struct commit_batch_hooks hooks = changes_hooks(self);
    struct instant now = clock_now(self->options.clock);
    const uint64_t *positions = group->positions;
    group->queue_count = self->front.tables.queue_count;
    group->ready = memory_array(group->queue_count + 1, sizeof *group->ready);
    for (struct commit_batch *batch = group->batches; batch; batch = batch->next) {
        if (batch->status != STATUS_OK)
            continue;
        size_t count = batch->records;
        note_ready(group, batch);
        commit_batch_apply(batch, &self->front.tables, &hooks, positions, &now);
        positions += count;
    }
    paging_drop(self);
    if (group->count > 0) {
        self->applied_end = group->end;
        fold_note_commit(self, now.mono);
    }
}

static void fail_batch(struct sqlite_store *self, struct commit_batch *batch, enum status status,
                       const struct err *err) {
    struct commit_batch_hooks hooks = changes_hooks(self);
    if (batch->status != STATUS_OK)
        return;
    batch->status = status;
    batch->commit->err = *err;
    commit_batch_undo(batch, &self->front.tables, &hooks);
}

static bool leans_on_failed(const struct commit_batch *batch, const struct commit_batch *earlier) {
    for (; earlier && earlier != batch; earlier = earlier->next) {
        if (earlier->status != STATUS_OK && batch->leans_first <= earlier->ticket &&
            earlier->ticket <= batch->leans_last)
            return true;
    }
    return false;
}

/* A commit that duplicates an id of a failed commit fails too: otherwise it would be acknowledged
 * as a duplicate of a message that is not stored. */
static void fail_leaning(struct sqlite_store *self, struct commit_group *group, enum status status,
                         const struct err *err) {
    struct commit_batch *lists[] = {group->batches, self->first};
    for (size_t i = 0; i < 2; i++) {
        for (struct commit_batch *batch = lists[i]; batch; batch = batch->next) {
            if (batch->leans_last > 0 &&
                (leans_on_failed(batch, group->batches) || leans_on_failed(batch, self->first)))
                fail_batch(self, batch, status, err);
        }
    }
}

static bool has_queue(const struct commit_batch *batch, uint32_t queue, size_t *place) {
    for (*place = 0; *place < batch->count; ++*place) {
        const struct commit_batch_op *op = &batch->ops[*place];
        if (op->record && op->queue && op->queue->number == queue)
            return true;
    }
    return false;
}

/* A queue of the group has another owner: commits with that queue fail, and the others are written
 * without them. */
static void fail_fenced(struct sqlite_store *self, struct commit_group *group) {
    pthread_mutex_lock(&self->front.mutex);
    for (struct commit_batch *batch = group->batches; batch; batch = batch->next) {
        size_t place;
        if (batch->status != STATUS_OK || !has_queue(batch, group->fenced, &place))
            continue;
        batch->commit->refused = place;
        fail_batch(self, batch, STATUS_FENCED, &group->err);
    }
    fail_leaning(self, group, STATUS_FENCED, &group->err);
    pthread_mutex_unlock(&self->front.mutex);
}

static void fail_group(struct sqlite_store *self, struct commit_group *group) {
    for (struct commit_batch *batch = group->batches; batch; batch = batch->next)
        fail_batch(self, batch, group->status, &group->err);
    fail_leaning(self, group, group->status, &group->err);
}

/* The listener may be freed once its last commit is done, so ready queues are reported before
 * `done` is called. */
static void tell_ready(struct sqlite_store *self, const struct commit_group *group) {
    pthread_mutex_lock(&self->front.mutex);
    void (*ready)(void *arg, uint32_t queue) = self->front.ready;
    void *arg = self->front.ready_arg;
    pthread_mutex_unlock(&self->front.mutex);
    for (size_t i = 0; ready && group->ready && i < group->queue_count; i++) {
        if (group->ready[i])
            ready(arg, (uint32_t)i + 1);
    }
}

/* ---- large bodies ---- */

static enum status write_large(struct sqlite_store *self, struct commit_batch *batch,
                               struct err *err) {
    enum status status = STATUS_OK;
    bool renamed = false;
    for (size_t i = 0; status == STATUS_OK && i < batch->large_count; i++) {
        struct commit_batch_large *large = &batch->large[i];
        if (!batch->ops[large->place].record || !large->name[0])
            continue;
        renamed |= !large->body;
        if (large->body)
            status =
                large_write(self->large, large->name, (struct bytes){large->body, large->len}, err);
        free(large->body);
        large->body = NULL;
    }
    return status == STATUS_OK && renamed ? large_settle(self->large, err) : status;
}

/* Written before the commits that refer to them. If a file cannot be written, only its commit
 * fails. */
static void write_all_large(struct sqlite_store *self, struct commit_group *group) {
    for (struct commit_batch *batch = group->batches; batch; batch = batch->next) {
        struct err err = {0};
        enum status status =
            batch->status == STATUS_OK ? write_large(self, batch, &err) : STATUS_OK;
        if (status == STATUS_OK)
            continue;
        pthread_mutex_lock(&self->front.mutex);
        fail_batch(self, batch, status, &err);
        fail_leaning(self, group, status, &err);
        pthread_mutex_unlock(&self->front.mutex);
    }
}

/* Releases the old file of each body that a durable commit replaced, and the new file of each
 * commit that failed. */
static void settle_large(struct sqlite_store *self, const struct commit_batch *batch) {
    for (size_t i = 0; i < batch->large_count; i++) {
        const struct commit_batch_large *large = &batch->large[i];
        bool made = batch->status == STATUS_OK && batch->ops[large->place].record;
        if (made && large->old[0])
            large_drop(self->large, large->old);
        if (!made && large->name[0])
            large_unreserve(self->large, large->name);
    }
}

static void answer(struct sqlite_store *self, struct commit_group *group) {
    for (struct commit_batch *batch = group->batches, *next; batch; batch = next) {
        next = batch->next;
        settle_large(self, batch);
        batch->commit->done(batch->commit, batch->status);
        commit_batch_free(batch);
    }
}

static void write_batches(struct sqlite_store *self, struct commit_batch *batches) {
    struct commit_group group = {.batches = batches};
    double seconds = 0;
    write_all_large(self, &group);
    fold_keep_bound(self);
    do {
        if (group.status == STATUS_FENCED)
            fail_fenced(self, &group);
        group.status = STATUS_OK;
        gather(self, &group);
        write_group(self, &group, &seconds);
    } while (group.status == STATUS_FENCED);
    pthread_mutex_lock(&self->front.mutex);
    if (group.status == STATUS_OK)
        apply_group(self, &group);
    else
        fail_group(self, &group);
    note_health(self, &group, seconds);
    pthread_mutex_unlock(&self->front.mutex);
    tell_ready(self, &group);
    answer(self, &group);
    free(group.records);
    free(group.positions);
    free(group.claims);
    free(group.ready);
}

/* ---- the writing thread ---- */

/* Writes one group. Called with the mutex, which is released meanwhile. */
static void write_some(struct sqlite_store *self) {
    struct commit_batch *batches = next_batches(self);
    self->writing = true;
    pthread_mutex_unlock(&self->front.mutex);
    write_batches(self, batches);
    pthread_mutex_lock(&self->front.mutex);
    self->writing = false;
}

/* A caller that waits for its commit writes it itself: waking the writer thread, and being woken by
 * it, takes as long as a write to a fast disk. Called with the mutex, while no other thread writes.
 * The store may be closed as soon as the mutex is released. */
static void lead(struct sqlite_store *self) {
    write_some(self);
    if (self->first || self->stopping)
        pthread_cond_signal(&self->submitted);
}

/* Called with the mutex. */
static void enqueue(struct sqlite_store *self, struct commit_batch *batch) {
    *self->last = batch;
    self->last = &batch->next;
    if (self->writing) /* the writing thread checks for new commits before it stops */
        return;
    if (batch->commit->caller_waits && self->options.threads)
        lead(self);
    else
        pthread_cond_signal(&self->submitted);
}

/* The remaining space on the disk is for commits that free space. */
static bool is_refused(struct sqlite_store *self, const struct store_commit *commit) {
    pthread_mutex_lock(&self->front.mutex);
    bool full = self->disk_full;
    pthread_mutex_unlock(&self->front.mutex);
    return full && !reserve_is_for(commit);
}

/* ---- the records of large bodies ---- */

/* Holds the body of an op while the op has a stub in its place. */
struct aside {
    struct bytes body;
    char stub[LARGE_STUB_SIZE];
};

struct making {
    struct sqlite_store *self;
    struct store_commit *commit;
    struct aside *asides; /* indexed by op; NULL: none was needed yet */
    struct commit_batch_large *large;
    size_t count;
};

static void put_aside(struct making *making, size_t place, const char *name, uint64_t size) {
    if (!making->asides)
        making->asides = memory_array(making->commit->count, sizeof *making->asides);
    struct aside *aside = &making->asides[place];
    struct store_op *op = &making->commit->ops[place];
    large_stub(name, size, aside->stub);
    aside->body = op->body;
    op->body = (struct bytes){aside->stub, LARGE_STUB_LEN};
}

static void take_back(struct making *making) {
    for (size_t i = 0; making->asides && i < making->commit->count; i++) {
        if (making->asides[i].stub[0])
            making->commit->ops[i].body = making->asides[i].body;
    }
    free(making->asides);
}

/* Finds the current file of the op's message. If the message cannot be read, its file is left to
 * the next start. */
static void find_old(struct making *making, const struct store_op *op, char *name) {
    struct reader_large found;
    bool changes = op->kind == STORE_FORGET || op->kind == STORE_UPDATE;
    if (changes && op->seq != 0 && large_any(making->self->large) &&
        reader_large(making->self, op->seq, &found, NULL) == STATUS_OK)
        memcpy(name, found.name, sizeof found.name);
}

/* The body is copied, because it belongs to the caller after submit returns, and is written later.
 */
static bool set_aside(struct making *making, size_t place) {
    struct sqlite_store *self = making->self;
    struct store_op *op = &making->commit->ops[place];
    bool has_envelope = op->kind == STORE_PUT || op->kind == STORE_UPDATE;
    struct commit_batch_large large = {.place = place};
    find_old(making, op, large.old);
    if (has_envelope && large_takes(self->large, op->body)) {
        large.body = bytes_try_dup(op->body);
        if (!large.body)
            return false;
        large.len = op->body.len;
        large_reserve(self->large, op, large.name);
    } else if (large.old[0] && op->kind == STORE_UPDATE && !op->body.ptr) {
        if (!large_rename(self->large, large.old, op->envelope, large.name))
            return true;
        large.len = op->envelope->size;
    }
    if (!large.name[0] && !large.old[0])
        return true;
    if (large.name[0])
        put_aside(making, place, large.name, large.len);
    making->large = memory_grow(making->large, (making->count + 1) * sizeof *making->large);
    making->large[making->count++] = large;
    return true;
}

static void give_up(struct making *making) {
    for (size_t i = 0; i < making->count; i++) {
        if (making->large[i].name[0])
            large_unreserve(making->self->large, making->large[i].name);
        free(making->large[i].body);
    }
    free(making->large);
}

static struct commit_batch *make_batch(struct sqlite_store *self, struct store_commit *commit) {
    struct making making = {.self = self, .commit = commit};
    struct commit_batch *batch = NULL;
    bool whole = true;
    for (size_t i = 0; whole && i < commit->count; i++)
        whole = set_aside(&making, i);
    if (whole)
        batch = commit_batch_new(commit);
    else
        err_set(&commit->err, STATUS_BUSY, "there is no memory for a large body");
    take_back(&making);
    if (batch) {
        batch->large = making.large;
        batch->large_count = making.count;
    } else {
        give_up(&making);
    }
    return batch;
}

/* Called before the commit is queued. */
static void refuse(struct sqlite_store *self, struct commit_batch *batch, enum status status) {
    struct store_commit *commit = batch->commit;
    batch->status = status;
    settle_large(self, batch);
    commit_batch_free(batch);
    commit->done(commit, status);
}

/* Called with the mutex. */
static void look_later(struct sqlite_store *self, struct commit_batch *batch) {
    *self->looking_last = batch;
    self->looking_last = &batch->next;
    pthread_cond_signal(&self->look_asked);
}

void writer_submit(struct store *store, struct store_commit *commit) {
    struct sqlite_store *self = store_internal_of(store);
    struct commit_batch_hooks hooks = changes_hooks(self);
    if (is_refused(self, commit)) {
        commit->done(commit, err_set(&commit->err, STATUS_FULL, "%s", parts_full_text));
        return;
    }
    struct commit_batch *batch = make_batch(self, commit);
    if (!batch) {
        commit->done(commit, STATUS_BUSY);
        return;
    }
    enum status status = STATUS_OK;
    pthread_mutex_lock(&self->front.mutex);
    commit_batch_prepare(batch, &self->front.tables);
    bool look = prefetch_is_needed(self, batch);
    bool later = look && self->options.threads && !commit->caller_waits;
    if (later)
        look_later(self, batch);
    else if (look)
        status = prefetch_and_stage(self, batch);
    else
        status = commit_batch_stage(batch, ++self->tickets, &self->front.tables, &hooks);
    if (status == STATUS_OK && !later)
        enqueue(self, batch);
    pthread_mutex_unlock(&self->front.mutex);
    if (status != STATUS_OK)
        refuse(self, batch, status);
}

/* Called with the mutex, which is released meanwhile. */
static void look_up_first(struct sqlite_store *self) {
    struct commit_batch *batch = self->looking_first;
    self->looking_first = batch->next;
    if (!self->looking_first)
        self->looking_last = &self->looking_first;
    batch->next = NULL;
    enum status status = prefetch_and_stage(self, batch);
    if (status == STATUS_OK) {
        enqueue(self, batch);
        return;
    }
    pthread_mutex_unlock(&self->front.mutex);
    refuse(self, batch, status);
    pthread_mutex_lock(&self->front.mutex);
}

void *writer_look_up(void *arg) {
    struct sqlite_store *self = arg;
    pthread_mutex_lock(&self->front.mutex);
    while (!self->looking_stopping || self->looking_first) {
        if (self->looking_first)
            look_up_first(self);
        else
            pthread_cond_wait(&self->look_asked, &self->front.mutex);
    }
    pthread_mutex_unlock(&self->front.mutex);
    return NULL;
}

void writer_step(struct sqlite_store *self) {
    pthread_mutex_lock(&self->front.mutex);
    while (self->first)
        write_some(self);
    pthread_mutex_unlock(&self->front.mutex);
}

void *writer_run(void *arg) {
    struct sqlite_store *self = arg;
    pthread_mutex_lock(&self->front.mutex);
    while (!self->stopping || self->first || self->writing) {
        if (self->first && !self->writing)
            write_some(self);
        else
            pthread_cond_wait(&self->submitted, &self->front.mutex);
    }
    pthread_mutex_unlock(&self->front.mutex);
    return NULL;
}

void writer_abandon(struct sqlite_store *self) {
    struct commit_batch_hooks hooks = changes_hooks(self);
    for (struct commit_batch *batch = self->first, *next; batch; batch = next) {
        next = batch->next;
        if (batch->status == STATUS_OK)
            commit_batch_undo(batch, &self->front.tables, &hooks);
        commit_batch_free(batch);
    }
    self->first = NULL;
}
