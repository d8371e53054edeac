#include "store/embedded/sqlite/fold/row_builder.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread/thread.h"
#include "store/embedded/sqlite/fold/fold.h"
#include "store/embedded/sqlite/rows.h"
#include "store/embedded/sqlite/fold/snapshot_read.h"

enum {
    RING = 32,            /* maximum number of batches between the two threads */
    RING_LOW = RING / 2,  /* number of batches at which the waiting row builder is woken */
    RING_HIGH = RING / 4, /* number of batches at which the waiting fold is woken */
    ENTRIES_MIN = 1024,   /* for fewer entries, waking a thread costs more than it saves */
    GIVE_WAY_BATCHES = 4,
};

/* The rows of one fold. The row builder's mutex guards the counts and flags. */
struct drafting {
    struct row_builder *drafter; /* NULL: the fold thread builds the rows itself */
    struct sqlite_store *self;
    const struct snapshot *snapshot;
    struct error_texts *texts;
    size_t *left, *left_count;
    struct rows_batch *ring[RING];
    size_t drafted, written; /* number of batches */
    bool ended;              /* no more batches are built */
    bool stopped;            /* writing failed: no more batches are needed */
    enum status draft_status, write_status;
    struct err draft_err, *err;
};

struct row_builder {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    struct drafting *work;  /* NULL: none */
    void (*job)(void *arg); /* NULL: nothing is deferred */
    void *job_arg;
    bool on_job;
    bool stopping;
};

/* ---- writing, by the fold ---- */

static void write_batch(struct drafting *drafting) {
    struct rows_batch *batch = drafting->ring[drafting->written % RING];
    if (drafting->write_status == STATUS_OK)
        drafting->write_status =
            rows_batch_write(batch, drafting->self->fold_db, drafting->texts, drafting->err);
    if (drafting->written % GIVE_WAY_BATCHES == 0)
        fold_give_way(drafting->self);
}

/* Called with the mutex. */
static bool is_batch_waiting(struct drafting *drafting) {
    struct row_builder *drafter = drafting->drafter;
    if (drafting->drafted == drafting->written) {
        while (drafting->drafted - drafting->written < RING_HIGH && !drafting->ended)
            pthread_cond_wait(&drafter->changed, &drafter->mutex);
    }
    return drafting->drafted > drafting->written;
}

static void write_drafted(struct drafting *drafting) {
    struct row_builder *drafter = drafting->drafter;
    pthread_mutex_lock(&drafter->mutex);
    while (is_batch_waiting(drafting)) {
        pthread_mutex_unlock(&drafter->mutex);
        write_batch(drafting);
        pthread_mutex_lock(&drafter->mutex);
        drafting->written++;
        drafting->stopped = drafting->write_status != STATUS_OK;
        if (drafting->drafted - drafting->written == RING_LOW || drafting->stopped)
            pthread_cond_signal(&drafter->changed);
    }
    pthread_mutex_unlock(&drafter->mutex);
}

/* ---- drafting, by the row builder or by the fold thread ---- */

/* The current batch is ready. False: no more batches are needed. */
static bool hand_over(struct drafting *drafting) {
    struct row_builder *drafter = drafting->drafter;
    if (!drafter) {
        write_batch(drafting);
        drafting->drafted = ++drafting->written;
        return drafting->write_status == STATUS_OK;
    }
    pthread_mutex_lock(&drafter->mutex);
    drafting->drafted++;
    if (drafting->drafted - drafting->written == RING_HIGH)
        pthread_cond_signal(&drafter->changed);
    if (drafting->drafted - drafting->written == RING) {
        while (drafting->drafted - drafting->written > RING_LOW && !drafting->stopped)
            pthread_cond_wait(&drafter->changed, &drafter->mutex);
    }
    bool wanted = !drafting->stopped;
    pthread_mutex_unlock(&drafter->mutex);
    return wanted;
}

static bool is_for_drafts(const struct snapshot *snapshot, size_t place) {
    const struct snapshot_entry *entry = &snapshot->entries[place];
    return entry->fresh && !snapshot->tried && entry->envelope_place != PLACE_FILE;
}

/* False: no more batches are needed, or the entry cannot be read. */
static bool draft_entry(struct drafting *drafting, struct snapshot_reader *reader, size_t place) {
    struct rows_batch *batch = drafting->ring[drafting->drafted % RING];
    struct row row;
    if (drafting->snapshot->entries[place].forgotten)
        return true;
    if (is_for_drafts(drafting->snapshot, place)) {
        drafting->draft_status =
            snapshot_read_row(reader, drafting->snapshot, place, &row, &drafting->draft_err);
        if (drafting->draft_status != STATUS_OK)
            return false;
        if (rows_batch_draft(batch, drafting->self->packs, &row))
            return rows_batch_count(batch) < DATABASE_ROWS || hand_over(drafting);
    }
    drafting->left[(*drafting->left_count)++] = place;
    return true;
}

static void draft_all(struct drafting *drafting) {
    const struct snapshot *snapshot = drafting->snapshot;
    struct snapshot_reader reader = snapshot_read_begin(drafting->self->journal);
    bool wanted = true;
    for (size_t i = 0; wanted && i < snapshot->entry_count; i++)
        wanted = draft_entry(drafting, &reader, i);
    if (wanted && rows_batch_count(drafting->ring[drafting->drafted % RING]) > 0)
        hand_over(drafting);
    snapshot_read_end(&reader);
}

/* ---- the deferred job ---- */

/* Called with the mutex, which is released meanwhile. */
static void do_job(struct row_builder *drafter) {
    void (*job)(void *arg) = drafter->job;
    if (!job)
        return;
    drafter->job = NULL;
    drafter->on_job = true;
    pthread_mutex_unlock(&drafter->mutex);
    job(drafter->job_arg);
    pthread_mutex_lock(&drafter->mutex);
    drafter->on_job = false;
    pthread_cond_signal(&drafter->changed);
}

void row_builder_defer(struct row_builder *drafter, void (*job)(void *arg), void *arg) {
    pthread_mutex_lock(&drafter->mutex);
    assert(!drafter->job && !drafter->on_job);
    drafter->job = job;
    drafter->job_arg = arg;
    pthread_mutex_unlock(&drafter->mutex);
}

void row_builder_finish(struct row_builder *drafter) {
    if (!drafter)
        return;
    pthread_mutex_lock(&drafter->mutex);
    do_job(drafter);
    while (drafter->on_job)
        pthread_cond_wait(&drafter->changed, &drafter->mutex);
    pthread_mutex_unlock(&drafter->mutex);
}

/* ---- the thread ---- */

static void *drafter_run(void *arg) {
    struct row_builder *drafter = arg;
    pthread_mutex_lock(&drafter->mutex);
    while (!drafter->stopping) {
        struct drafting *work = drafter->work;
        if (!work) {
            pthread_cond_wait(&drafter->changed, &drafter->mutex);
            continue;
        }
        pthread_mutex_unlock(&drafter->mutex);
        draft_all(work);
        pthread_mutex_lock(&drafter->mutex);
        drafter->work = NULL;
        work->ended = true;
        pthread_cond_signal(&drafter->changed);
        do_job(drafter);
    }
    pthread_mutex_unlock(&drafter->mutex);
    return NULL;
}

struct row_builder *row_builder_new(void) {
    struct row_builder *drafter = memory_new(sizeof *drafter);
    pthread_mutex_init(&drafter->mutex, NULL);
    pthread_cond_init(&drafter->changed, NULL);
    thread_start(&drafter->thread, "store-drafter", drafter_run, drafter);
    return drafter;
}

void row_builder_free(struct row_builder *drafter) {
    if (!drafter)
        return;
    pthread_mutex_lock(&drafter->mutex);
    drafter->stopping = true;
    pthread_cond_signal(&drafter->changed);
    pthread_mutex_unlock(&drafter->mutex);
    pthread_join(drafter->thread, NULL);
    pthread_cond_destroy(&drafter->changed);
    pthread_mutex_destroy(&drafter->mutex);
    free(drafter);
}

static void run(struct drafting *drafting) {
    struct row_builder *drafter = drafting->drafter;
    if (!drafter) {
        draft_all(drafting);
        return;
    }
    pthread_mutex_lock(&drafter->mutex);
    drafter->work = drafting;
    pthread_cond_signal(&drafter->changed);
    pthread_mutex_unlock(&drafter->mutex);
    write_drafted(drafting);
}

enum status row_builder_write(struct row_builder *drafter, struct sqlite_store *self,
                              const struct snapshot *snapshot, struct error_texts *texts,
                              size_t *left, size_t *left_count, struct err *err) {
    struct drafting drafting = {.drafter = snapshot->entry_count < ENTRIES_MIN ? NULL : drafter,
                                .self = self,
                                .snapshot = snapshot,
                                .texts = texts,
                                .left = left,
                                .left_count = left_count,
                                .err = err};
    size_t batches = drafting.drafter ? RING : 1;
    *left_count = 0;
    for (size_t i = 0; i < RING; i++)
        drafting.ring[i] = i < batches ? rows_batch_new() : drafting.ring[0];
    run(&drafting);
    for (size_t i = 0; i < batches; i++)
        rows_batch_free(drafting.ring[i]);
    if (drafting.write_status != STATUS_OK)
        return drafting.write_status;
    if (drafting.draft_status != STATUS_OK && err)
        *err = drafting.draft_err;
    return drafting.draft_status;
}
