#include "store/sqlite/writer.h"

#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/health.h"
#include "store/sqlite/changes.h"
#include "store/sqlite/fold.h"
#include "store/sqlite/large.h"
#include "store/sqlite/paging.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/reserve.h"

/* ---- one group ---- */

struct group {
    struct batch *batches; /* in order */
    size_t count;          /* of records */
    struct bytes *records;
    uint64_t *positions;
    uint64_t end; /* of the journal, behind it */
    enum status status;
    struct err err;
    bool *ready; /* by queue number - 1: something waits there now */
    size_t queue_count;
};

static bool is_one_group(const struct sqlite_store *self, size_t records, size_t bytes) {
    return bytes <= GROUP_BYTES_MAX && journal_takes(self->journal, records, bytes);
}

/* Cuts off the front of what waits, as much as one group takes: nobody is refused for the size of
 * others. With the mutex. */
static struct batch *next_batches(struct sqlite_store *self) {
    struct batch *first = self->first, *last = first;
    if (!first)
        return NULL;
    size_t records = first->records, bytes = first->bytes;
    for (struct batch *next; (next = last->next); last = next) {
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

static void gather(struct group *group) {
    for (struct batch *batch = group->batches; batch; batch = batch->next) {
        if (batch->status == STATUS_OK)
            group->count += batch->records;
    }
    group->records = memory_array(group->count + 1, sizeof *group->records);
    group->positions = memory_array(group->count + 1, sizeof *group->positions);
    struct bytes *at = group->records;
    for (struct batch *batch = group->batches; batch; batch = batch->next) {
        if (batch->status == STATUS_OK) {
            batch_records(batch, at);
            at += batch->records;
        }
    }
}

static enum status append(struct sqlite_store *self, struct group *group) {
    pthread_mutex_lock(&self->journal_mutex);
    enum status status =
        journal_append(self->journal, group->records, group->count, group->positions, &group->err);
    if (status == STATUS_OK)
        status = journal_sync(self->journal, &group->err);
    group->end = journal_end(self->journal);
    pthread_mutex_unlock(&self->journal_mutex);
    return status;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* the clock port's milliseconds are too coarse here */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A journal at its bound waits for the fold, which lets its segments be used again. */
static void write_group(struct sqlite_store *self, struct group *group, double *seconds) {
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

static void note_ready(struct group *group, const struct batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_op *op = &batch->ops[i];
        if (batch_op_wakes(op))
            group->ready[op->queue->number - 1] = true;
    }
}

static void note_health(struct sqlite_store *self, const struct group *group, double seconds) {
    if (group->count == 0 || group->status == STATUS_TOO_LARGE) /* that is the commit's own fault */
        return;
    if (group->status == STATUS_OK)
        health_note_commit(&self->health, seconds);
    if (group->status != STATUS_OK && self->health.writable)
        log_error("the store cannot commit: %s", group->err.text);
    if (group->status == STATUS_OK && !self->health.writable)
        log_info("the store can commit again");
    self->health.writable = group->status == STATUS_OK;
    self->health.trouble = group->err;
}

static void apply_group(struct sqlite_store *self, struct group *group) {
    struct batch_hooks hooks = changes_hooks(self);
    struct instant now = clock_now(self->options.clock);
    const uint64_t *positions = group->positions;
    group->queue_count = self->front.tables.queue_count;
    group->ready = memory_array(group->queue_count + 1, sizeof *group->ready);
    for (struct batch *batch = group->batches; batch; batch = batch->next) {
        if (batch->status != STATUS_OK)
            continue;
        size_t count = batch->records;
        note_ready(group, batch);
        batch_apply(batch, &self->front.tables, &hooks, positions, &now);
        positions += count;
    }
    paging_drop(self);
    if (group->count > 0) {
        self->applied_end = group->end;
        fold_note_commit(self, now.mono);
    }
}

static void fail_batch(struct sqlite_store *self, struct batch *batch, const struct group *group) {
    struct batch_hooks hooks = changes_hooks(self);
    if (batch->status != STATUS_OK)
        return;
    batch->status = group->status;
    batch->commit->err = group->err;
    batch_undo(batch, &self->front.tables, &hooks);
}

static bool leans_on_failed(const struct batch *batch, const struct batch *earlier) {
    for (; earlier && earlier != batch; earlier = earlier->next) {
        if (earlier->status != STATUS_OK && batch->leans_first <= earlier->ticket &&
            earlier->ticket <= batch->leans_last)
            return true;
    }
    return false;
}

/* What waits and duplicates an id that failed goes the same way: its answer would be a promise that
 * nobody keeps. */
static void fail_group(struct sqlite_store *self, struct group *group) {
    for (struct batch *batch = group->batches; batch; batch = batch->next)
        fail_batch(self, batch, group);
    for (struct batch *batch = self->first; batch; batch = batch->next) {
        if (batch->leans_last > 0 &&
            (leans_on_failed(batch, group->batches) || leans_on_failed(batch, self->first)))
            fail_batch(self, batch, group);
    }
}

/* Who listens may be gone once its last commit is answered, so it hears of what is ready first. */
static void tell_ready(struct sqlite_store *self, const struct group *group) {
    pthread_mutex_lock(&self->front.mutex);
    void (*ready)(void *arg, uint32_t queue) = self->front.ready;
    void *arg = self->front.ready_arg;
    pthread_mutex_unlock(&self->front.mutex);
    for (size_t i = 0; ready && group->ready && i < group->queue_count; i++) {
        if (group->ready[i])
            ready(arg, (uint32_t)i + 1);
    }
}

/* What was forgotten for good needs its file no longer. */
static void remove_large(struct sqlite_store *self, const struct batch *batch) {
    for (size_t i = 0; batch->status == STATUS_OK && i < batch->large_count; i++)
        if (batch->ops[batch->large[i].place].record)
            large_remove(self->large, batch->large[i].name, batch->large_writes);
}

static void answer(struct sqlite_store *self, struct group *group) {
    for (struct batch *batch = group->batches, *next; batch; batch = next) {
        next = batch->next;
        remove_large(self, batch);
        batch->commit->done(batch->commit, batch->status);
        batch_free(batch);
    }
}

static void write_batches(struct sqlite_store *self, struct batch *batches) {
    struct group group = {.batches = batches};
    double seconds = 0;
    gather(&group);
    fold_keep_bound(self);
    write_group(self, &group, &seconds);
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
    free(group.ready);
}

/* ---- who writes ---- */

/* One group. With the mutex, which is let go meanwhile. */
static void write_some(struct sqlite_store *self) {
    struct batch *batches = next_batches(self);
    self->writing = true;
    pthread_mutex_unlock(&self->front.mutex);
    write_batches(self, batches);
    pthread_mutex_lock(&self->front.mutex);
    self->writing = false;
}

/* Who waits for a commit writes it: waking the thread, and being woken by it, takes as long as a
 * fast disk does. With the mutex, and nobody writes. The store may be closed as soon as it is let
 * go. */
static void lead(struct sqlite_store *self) {
    write_some(self);
    if (self->first || self->stopping)
        pthread_cond_signal(&self->submitted);
}

/* With the mutex. */
static void enqueue(struct sqlite_store *self, struct batch *batch) {
    *self->last = batch;
    self->last = &batch->next;
    if (self->writing) /* and looks again before it rests */
        return;
    if (batch->commit->waits && self->options.threads)
        lead(self);
    else
        pthread_cond_signal(&self->submitted);
}

/* What is left of the disk is for freeing room. */
static bool is_refused(struct sqlite_store *self, const struct store_commit *commit) {
    pthread_mutex_lock(&self->front.mutex);
    bool full = self->disk_full;
    pthread_mutex_unlock(&self->front.mutex);
    return full && !reserve_is_for(commit);
}

/* ---- large bodies ---- */

/* One whose stub stands in its op's place while the record is made. */
struct aside {
    struct store_op *op;
    struct bytes body;
    char stub[LARGE_STUB_LEN + 1];
    struct aside *next;
};

static enum status write_aside(struct sqlite_store *self, struct store_commit *commit,
                               struct aside **asides) {
    for (size_t i = 0; i < commit->count; i++) {
        struct store_op *op = &commit->ops[i];
        bool has_body = op->kind == STORE_PUT || op->kind == STORE_UPDATE;
        if (!has_body || !large_takes(self->large, op->body))
            continue;
        struct aside *aside = memory_new(sizeof *aside);
        *aside = (struct aside){.op = op, .body = op->body, .next = *asides};
        *asides = aside;
        enum status status = large_write(self->large, op, aside->stub, &commit->err);
        if (status != STATUS_OK)
            return status;
        op->body = (struct bytes){aside->stub, LARGE_STUB_LEN};
    }
    return STATUS_OK;
}

static void take_back(struct aside *asides) {
    for (struct aside *next; asides; asides = next) {
        next = asides->next;
        asides->op->body = asides->body;
        free(asides);
    }
}

static void note_large(struct sqlite_store *self, struct batch *batch) {
    if (!large_any(self->large))
        return;
    batch->large_writes = large_writes(self->large);
    for (size_t i = 0; i < batch->count; i++) {
        const struct store_op *op = &batch->commit->ops[i];
        struct batch_large found = {.place = i};
        if (op->kind != STORE_FORGET || op->seq == 0 ||
            reader_large_name(self, op->seq, found.name, NULL) != STATUS_OK || !found.name[0])
            continue; /* what cannot be read is removed at the next start, if it may be */
        batch->large = memory_grow(batch->large, (batch->large_count + 1) * sizeof *batch->large);
        batch->large[batch->large_count++] = found;
    }
}

static struct batch *make_batch(struct sqlite_store *self, struct store_commit *commit,
                                enum status *status) {
    struct aside *asides = NULL;
    struct batch *batch = NULL;
    *status = write_aside(self, commit, &asides);
    if (*status == STATUS_OK)
        batch = batch_new(commit);
    take_back(asides);
    if (*status == STATUS_OK && !batch)
        *status = STATUS_BUSY;
    if (batch)
        note_large(self, batch);
    return batch;
}

void writer_submit(struct store *store, struct store_commit *commit) {
    struct sqlite_store *self = parts_of(store);
    struct batch_hooks hooks = changes_hooks(self);
    if (is_refused(self, commit)) {
        commit->done(commit, err_set(&commit->err, STATUS_FULL, "%s", parts_full_text));
        return;
    }
    enum status made;
    struct batch *batch = make_batch(self, commit, &made);
    if (!batch) {
        commit->done(commit, made);
        return;
    }
    pthread_mutex_lock(&self->front.mutex);
    enum status status = batch_stage(batch, ++self->tickets, &self->front.tables, &hooks);
    changes_end_view(self);
    if (status == STATUS_OK)
        enqueue(self, batch);
    pthread_mutex_unlock(&self->front.mutex);
    if (status != STATUS_OK) {
        batch_free(batch);
        commit->done(commit, status);
    }
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
    struct batch_hooks hooks = changes_hooks(self);
    for (struct batch *batch = self->first, *next; batch; batch = next) {
        next = batch->next;
        if (batch->status == STATUS_OK)
            batch_undo(batch, &self->front.tables, &hooks);
        batch_free(batch);
    }
    self->first = NULL;
}
