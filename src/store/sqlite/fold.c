#include "store/sqlite/fold.h"

#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/sqlite/snapshot.h"

static enum status write_file(struct sqlite_store *self, const struct snapshot *snapshot,
                              struct err *err) {
    database_lock(self->fold_db);
    sqlite3 *db = self->fold_db->db;
    enum status status = database_run(db, "BEGIN IMMEDIATE", err);
    if (status == STATUS_OK) {
        status = snapshot_write(snapshot, self->journal, self->fold_db, err);
        if (status == STATUS_OK)
            status = database_run(db, "COMMIT", err);
        if (status != STATUS_OK)
            database_run(db, "ROLLBACK", NULL);
    }
    database_unlock(self->fold_db);
    return status;
}

static void recycle(struct sqlite_store *self, uint64_t position) {
    struct err err;
    pthread_mutex_lock(&self->journal_mutex);
    if (journal_recycle(self->journal, position, &err) != STATUS_OK)
        log_warn("journal segments could not be recycled: %s", err.text);
    pthread_mutex_unlock(&self->journal_mutex);
}

enum status fold_step(struct sqlite_store *self, struct err *err) {
    pthread_mutex_lock(&self->mutex);
    self->fold_wanted = false;
    self->fold_due = MONO_NEVER;
    if (self->applied_end == self->folded_end) {
        pthread_mutex_unlock(&self->mutex);
        return STATUS_OK;
    }
    self->folds_begun++;
    struct snapshot *snapshot = snapshot_take(self);
    pthread_mutex_unlock(&self->mutex);

    enum status status = write_file(self, snapshot, err);
    pthread_mutex_lock(&self->mutex);
    snapshot_settle(snapshot, self, status == STATUS_OK);
    pthread_mutex_unlock(&self->mutex);

    if (status == STATUS_OK) /* only now does nobody read that part of the journal any more */
        recycle(self, snapshot->position);
    pthread_mutex_lock(&self->mutex);
    if (status == STATUS_OK)
        self->folds_ended = self->folds_begun;
    pthread_cond_broadcast(&self->fold_ended);
    pthread_mutex_unlock(&self->mutex);
    snapshot_free(snapshot);
    return status;
}

/* ---- when ---- */

void fold_note_commit(struct sqlite_store *self, struct mono now) {
    if (self->fold_due.ms == MONO_NEVER.ms) {
        self->fold_due = mono_after(now, FOLD_DELAY_MS);
        pthread_cond_signal(&self->fold_asked);
    }
    if (self->change_count >= FOLD_CHANGES && !self->fold_wanted) {
        self->fold_wanted = true;
        pthread_cond_signal(&self->fold_asked);
    }
}

static struct timespec deadline_after(int64_t ms) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (ms % 1000) * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000L;
    }
    return at;
}

/* With the mutex: until a fold is wanted or due, or the store stops. */
static void wait_for_work(struct sqlite_store *self) {
    while (!self->fold_stopping && !self->fold_wanted) {
        if (self->fold_due.ms == MONO_NEVER.ms) {
            pthread_cond_wait(&self->fold_asked, &self->mutex);
            continue;
        }
        int64_t left = self->fold_due.ms - clock_now(self->options.clock).mono.ms;
        if (left <= 0)
            return;
        struct timespec until = deadline_after(left);
        pthread_cond_timedwait(&self->fold_asked, &self->mutex, &until);
    }
}

static void fold_or_retry_later(struct sqlite_store *self) {
    struct err err;
    enum status status = fold_step(self, &err);
    pthread_mutex_lock(&self->mutex);
    if (status != STATUS_OK) {
        log_warn("the fold will be tried again: %s", err.text);
        self->fold_due = mono_after(clock_now(self->options.clock).mono, FOLD_RETRY_MS);
    }
    pthread_mutex_unlock(&self->mutex);
}

void *fold_run(void *arg) {
    struct sqlite_store *self = arg;
    pthread_mutex_lock(&self->mutex);
    while (!self->fold_stopping) {
        wait_for_work(self);
        if (self->fold_stopping)
            break;
        pthread_mutex_unlock(&self->mutex);
        fold_or_retry_later(self);
        pthread_mutex_lock(&self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* ---- waiting for it ---- */

/* With the mutex: asks for a fold of all that is applied and returns its number. */
static uint64_t ask(struct sqlite_store *self) {
    self->fold_wanted = true;
    pthread_cond_signal(&self->fold_asked);
    return self->folds_begun + 1;
}

static void wait_until_ended(struct sqlite_store *self, uint64_t number, int64_t ms) {
    struct timespec until = deadline_after(ms);
    while (self->folds_ended < number && self->applied_end != self->folded_end) {
        if (pthread_cond_timedwait(&self->fold_ended, &self->mutex, &until) != 0)
            return;
    }
}

bool fold_make_room(struct sqlite_store *self) {
    pthread_mutex_lock(&self->mutex);
    uint64_t before = self->folded_end;
    bool possible = self->applied_end != before;
    if (possible && self->options.threads)
        wait_until_ended(self, ask(self), FOLD_RETRY_MS * 60);
    pthread_mutex_unlock(&self->mutex);
    struct err err;
    if (possible && !self->options.threads && fold_step(self, &err) != STATUS_OK)
        log_warn("no room in the journal, and the fold failed: %s", err.text);
    pthread_mutex_lock(&self->mutex);
    bool shorter = self->folded_end != before;
    pthread_mutex_unlock(&self->mutex);
    return shorter;
}

uint64_t fold_wait(struct sqlite_store *self) {
    if (!self->options.threads) {
        struct err err;
        if (fold_step(self, &err) != STATUS_OK)
            log_warn("a list is behind, because the fold failed: %s", err.text);
    }
    pthread_mutex_lock(&self->mutex);
    if (self->options.threads && self->applied_end != self->folded_end)
        wait_until_ended(self, ask(self), LIST_WAIT_MS);
    uint64_t behind = self->change_count + self->folding_count;
    pthread_mutex_unlock(&self->mutex);
    return behind;
}
