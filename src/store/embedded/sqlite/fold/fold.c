#include "store/embedded/sqlite/fold/fold.h"

#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/embedded/sqlite/fold/row_builder.h"
#include "store/embedded/sqlite/note_rows.h"
#include "store/embedded/pages/packs_compact.h"
#include "store/embedded/pages/reserve.h"
#include "store/embedded/sqlite/fold/snapshot.h"
#include "store/embedded/sqlite/fold/wal.h"

enum {
    ROOM_WAIT_MS = 60 * 1000,
    PACE_MS = 50, /* interval of the measurement of the commit rate */
    /* Bytes appended to the journal per millisecond that count as a burst. */
    BURST_BYTES_A_MS = 32 << 10,
    REST_MAX_US = 50 * 1000,
    /* Settled entries after which unused memory is returned to the system; they use about 1 KiB
     * each. */
    TRIM_ENTRIES = 128 << 10,
};

/* One transaction of the SQLite file, including the records that it puts into the packs. */
static enum status transact(struct sqlite_store *self,
                            enum status (*write)(struct sqlite_store *self, const void *what,
                                                 struct err *err),
                            const void *what, struct err *err) {
    database_lock(self->fold_db);
    sqlite3 *db = self->fold_db->db;
    enum status status = wal_trust(self->wal, err);
    if (status == STATUS_OK)
        status = database_run(db, "BEGIN IMMEDIATE", err);
    if (status == STATUS_OK) {
        status = write(self, what, err);
        if (status == STATUS_OK)
            status = packs_flush(self->packs, self->fold_db, err);
        enum packs_outcome outcome = PACKS_NOT_COMMITTED;
        if (status == STATUS_OK) {
            status = database_run(db, "COMMIT", err);
            outcome = status == STATUS_OK ? PACKS_COMMITTED : PACKS_IN_DOUBT;
        }
        if (status != STATUS_OK) {
            wal_doubt(self->wal);
            database_run(db, "ROLLBACK", NULL);
        }
        packs_settle(self->packs, self->fold_db, outcome);
    }
    database_unlock(self->fold_db);
    return status;
}

static enum status write_snapshot(struct sqlite_store *self, const void *what, struct err *err) {
    const struct snapshot *snapshot = what;
    enum status status = snapshot_write(snapshot, self, err);
    return status == STATUS_OK ? note_rows_sweep(self, snapshot->keep_count, err) : status;
}

static enum status write_compacted(struct sqlite_store *self, const void *what, struct err *err) {
    return packs_compact(self->packs, what, self->fold_db, err);
}

static void recycle(struct sqlite_store *self, uint64_t position) {
    struct err err;
    if (self->journal->vtable->drop(self->journal, position, &err) != STATUS_OK)
        log_warn("what is folded could not be dropped from the journal: %s", err.text);
}

/* ---- the queue of snapshots ---- */

/* Called with the mutex. */
static void seal(struct sqlite_store *self) {
    struct snapshot *snapshot = snapshot_seal(self);
    *self->sealed_last = snapshot;
    self->sealed_last = &snapshot->next;
}

/* Called with the mutex: the first snapshot in the queue. If it is empty and there are changes,
 * they are sealed first. */
static struct snapshot *next_snapshot(struct sqlite_store *self) {
    if (!self->sealed_first) {
        self->fold_wanted = false;
        self->fold_due = MONO_NEVER;
        if (self->applied_end != self->folded_end)
            seal(self);
    }
    if (self->sealed_first)
        snapshot_prepare(self->sealed_first);
    return self->sealed_first;
}

/* Called with the mutex, after the snapshot was written. True if another one is queued. */
static bool leave_line(struct sqlite_store *self, struct snapshot *snapshot) {
    self->sealed_first = snapshot->next;
    if (!self->sealed_first)
        self->sealed_last = &self->sealed_first;
    self->unsettled = snapshot;
    return self->sealed_first != NULL;
}

static void tell_ended(struct sqlite_store *self) {
    pthread_mutex_lock(&self->front.mutex);
    pthread_cond_broadcast(&self->fold_ended);
    pthread_mutex_unlock(&self->front.mutex);
}

/* Drops the written entries from memory, recycles the journal, and runs a checkpoint if one is due.
 */
static void settle(void *arg) {
    struct sqlite_store *self = arg;
    struct snapshot *snapshot = self->unsettled;
    snapshot_settle_entries(snapshot, self);
    /* Until now, bytes of these entries could be read from the journal. */
    recycle(self, snapshot->position);
    pthread_mutex_lock(&self->front.mutex);
    snapshot_settle(snapshot, self);
    pthread_mutex_unlock(&self->front.mutex);
    self->settled_count += snapshot->entry_count;
    tell_ended(self);
    snapshot_free(snapshot);
    wal_checkpoint(self->wal);
}

/* A fold is settled while the next one is written, and always before that one is settled. */
static void finish(struct sqlite_store *self, struct snapshot *snapshot) {
    pthread_mutex_lock(&self->front.mutex);
    bool more = leave_line(self, snapshot);
    pthread_mutex_unlock(&self->front.mutex);
    bool at_once = wal_look(self->wal);
    if (more && self->drafter && !at_once)
        row_builder_defer(self->drafter, settle, self);
    else
        settle(self);
}

static void note_failure(struct sqlite_store *self, struct snapshot *snapshot) {
    snapshot->tried = true;
    pthread_mutex_lock(&self->front.mutex);
    self->fold_failures++;
    pthread_mutex_unlock(&self->front.mutex);
    tell_ended(self);
}

/* On a full disk folded segments are not kept for reuse. */
static void shrink(struct sqlite_store *self) {
    if (self->journal->vtable->shrink)
        self->journal->vtable->shrink(self->journal);
}

static enum status fold_one(struct sqlite_store *self, struct err *err) {
    pthread_mutex_lock(&self->front.mutex);
    struct snapshot *snapshot = next_snapshot(self);
    pthread_mutex_unlock(&self->front.mutex);
    if (!snapshot)
        return STATUS_OK;
    enum status status = transact(self, write_snapshot, snapshot, err);
    row_builder_finish(self->drafter);
    if (status == STATUS_FULL && reserve_give_up(self)) {
        snapshot->tried = true;
        shrink(self);
        status = transact(self, write_snapshot, snapshot, err);
        row_builder_finish(self->drafter);
    }
    if (status == STATUS_OK)
        finish(self, snapshot);
    else
        note_failure(self, snapshot);
    return status;
}

static bool is_behind(struct sqlite_store *self) {
    pthread_mutex_lock(&self->front.mutex);
    bool behind = self->applied_end != self->folded_end;
    pthread_mutex_unlock(&self->front.mutex);
    return behind;
}

enum status fold_all(struct sqlite_store *self, struct err *err) {
    enum status status = STATUS_OK;
    while (status == STATUS_OK && is_behind(self))
        status = fold_one(self, err);
    reserve_take_back(self);
    return status;
}

bool fold_compact(struct sqlite_store *self) {
    struct err err;
    const struct pack *pack = packs_wasteful(self->packs);
    if (!pack)
        return false;
    if (transact(self, write_compacted, pack, &err) == STATUS_OK) {
        (void)wal_look(self->wal);
        wal_checkpoint(self->wal);
        return true;
    }
    log_warn("a pack keeps its unused room for now: %s", err.text);
    return false;
}

void fold_abandon(struct sqlite_store *self) {
    for (struct snapshot *snapshot = self->sealed_first, *next; snapshot; snapshot = next) {
        next = snapshot->next;
        snapshot_free(snapshot);
    }
    self->sealed_first = NULL;
}

/* ---- timing ---- */

static size_t most_changes(const struct sqlite_store *self) {
    size_t most = self->options.fold_changes ? self->options.fold_changes : FOLD_CHANGES;
    return self->disk_full && most > FULL_FOLD_CHANGES ? FULL_FOLD_CHANGES : most;
}

static bool is_fold_full(const struct sqlite_store *self) {
    const struct notes *keeps = &self->front.tables.keeps;
    return self->change_count + keeps->change_count >= most_changes(self) ||
           keeps->changed_bytes >= FOLD_KEEP_BYTES;
}

static void note_pace(struct sqlite_store *self, struct mono now) {
    int64_t ms = now.ms - self->pace_since.ms;
    if (ms < PACE_MS)
        return;
    if ((self->applied_end - self->pace_from) / (uint64_t)ms >= BURST_BYTES_A_MS)
        self->burst_at = now;
    self->pace_since = now;
    self->pace_from = self->applied_end;
}

void fold_note_commit(struct sqlite_store *self, struct mono now) {
    note_pace(self, now);
    if (self->sealed_end == self->folded_end && self->fold_due.ms == MONO_NEVER.ms)
        self->behind_since = now;
    if (is_fold_full(self)) {
        seal(self);
        pthread_cond_signal(&self->fold_asked);
    } else if (self->fold_due.ms == MONO_NEVER.ms) {
        self->fold_due = mono_after(now, FOLD_DELAY_MS);
        pthread_cond_signal(&self->fold_asked);
    }
}

/* True if commits come at a high rate, and no caller waits for the fold. */
static bool is_burst(struct sqlite_store *self) {
    pthread_mutex_lock(&self->front.mutex);
    struct mono now = clock_now(self->options.clock).mono;
    bool burst = now.ms - self->burst_at.ms < 2 * PACE_MS &&
                 now.ms - self->behind_since.ms < GIVE_WAY_MS && !self->fold_wanted &&
                 !self->fold_stopping;
    pthread_mutex_unlock(&self->front.mutex);
    return burst;
}

static int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void fold_give_way(struct sqlite_store *self) {
    if (!self->options.threads)
        return;
    if (is_burst(self)) {
        int64_t rest = (now_us() - self->fold_worked_us) * (GIVE_WAY_SHARE - 1);
        rest = rest < REST_MAX_US ? rest : REST_MAX_US;
        nanosleep(&(struct timespec){.tv_nsec = (long)(rest * 1000)}, NULL);
    }
    self->fold_worked_us = now_us();
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

/* Called with the mutex: waits until a fold is wanted or due, or the store stops. */
static void wait_for_work(struct sqlite_store *self) {
    while (!self->fold_stopping && !self->fold_wanted && !self->sealed_first) {
        int64_t left = self->fold_due.ms - clock_now(self->options.clock).mono.ms;
        if (left <= 0)
            return;
        if (self->disk_full) { /* disk space may become available */
            struct timespec soon = deadline_after(left < FOLD_RETRY_MS ? left : FOLD_RETRY_MS);
            pthread_cond_timedwait(&self->fold_asked, &self->front.mutex, &soon);
            return;
        }
        if (self->fold_due.ms == MONO_NEVER.ms) {
            pthread_cond_wait(&self->fold_asked, &self->front.mutex);
            continue;
        }
        struct timespec until = deadline_after(left);
        pthread_cond_timedwait(&self->fold_asked, &self->front.mutex, &until);
    }
}

/* Rate-limited: a fold is retried every second, and a disk may stay full for a day. */
static void tell_trouble(struct sqlite_store *self, const struct err *err) {
    if (log_throttle_is_due(&self->fold_trouble, clock_now(self->options.clock).mono))
        log_warn("the fold failed and is tried again until it works: %s", err->text);
}

static void fold_or_retry_later(struct sqlite_store *self) {
    struct err err;
    if (fold_one(self, &err) == STATUS_OK) {
        if (log_throttle_ends(&self->fold_trouble))
            log_info("the fold works again");
        return;
    }
    tell_trouble(self, &err);
    struct timespec until = deadline_after(FOLD_RETRY_MS);
    pthread_mutex_lock(&self->front.mutex);
    while (!self->fold_stopping &&
           pthread_cond_timedwait(&self->fold_asked, &self->front.mutex, &until) == 0)
        ;
    pthread_mutex_unlock(&self->front.mutex);
}

static bool is_idle(struct sqlite_store *self) {
    pthread_mutex_lock(&self->front.mutex);
    bool due = self->fold_due.ms <= clock_now(self->options.clock).mono.ms;
    bool idle = !self->sealed_first && !self->fold_wanted && !due && !self->fold_stopping;
    pthread_mutex_unlock(&self->front.mutex);
    return idle;
}

static bool is_disk_full(struct sqlite_store *self) {
    pthread_mutex_lock(&self->front.mutex);
    bool full = self->disk_full;
    pthread_mutex_unlock(&self->front.mutex);
    return full;
}

/* No work is pending: a failure here costs only speed or space, and the work is retried later. */
static void use_idle_time(struct sqlite_store *self) {
    struct err err;
    reserve_take_back(self);
    const struct journal_vtable *journal = self->journal->vtable;
    if (journal->prepare && is_idle(self) && !is_disk_full(self) &&
        journal->prepare(self->journal, &err) != STATUS_OK)
        log_warn("%s", err.text);
    while (is_idle(self) && fold_compact(self))
        ;
    if (is_idle(self) && self->settled_count >= TRIM_ENTRIES) {
        memory_trim();
        self->settled_count = 0;
    }
}

void *fold_run(void *arg) {
    struct sqlite_store *self = arg;
    pthread_mutex_lock(&self->front.mutex);
    while (!self->fold_stopping) {
        wait_for_work(self);
        if (self->fold_stopping)
            break;
        pthread_mutex_unlock(&self->front.mutex);
        fold_or_retry_later(self);
        use_idle_time(self);
        pthread_mutex_lock(&self->front.mutex);
    }
    pthread_mutex_unlock(&self->front.mutex);
    return NULL;
}

/* ---- waiting for a fold ---- */

/* Called with the mutex, with threads running: waits at most `ms` until the file is at `position`.
 * Stops early if a fold fails meanwhile and `patient` is not set. */
static void wait_for(struct sqlite_store *self, uint64_t position, int64_t ms, bool patient) {
    struct timespec until = deadline_after(ms);
    uint64_t failures = self->fold_failures;
    self->fold_wanted = true;
    pthread_cond_signal(&self->fold_asked);
    while (self->folded_end < position && (patient || self->fold_failures == failures)) {
        if (pthread_cond_timedwait(&self->fold_ended, &self->front.mutex, &until) != 0)
            return;
    }
}

uint64_t fold_end(struct sqlite_store *self) {
    pthread_mutex_lock(&self->front.mutex);
    uint64_t end = self->folded_end;
    pthread_mutex_unlock(&self->front.mutex);
    return end;
}

bool fold_make_room(struct sqlite_store *self, uint64_t before) {
    pthread_mutex_lock(&self->front.mutex);
    bool possible = self->folded_end == before && self->applied_end != before;
    if (possible && self->options.threads)
        wait_for(self, before + 1, ROOM_WAIT_MS, false);
    pthread_mutex_unlock(&self->front.mutex);
    struct err err;
    if (possible && !self->options.threads && fold_one(self, &err) != STATUS_OK)
        log_warn("no room in the journal, and the fold failed: %s", err.text);
    return fold_end(self) != before;
}

void fold_keep_bound(struct sqlite_store *self) {
    bool over;
    uint64_t end;
    do {
        pthread_mutex_lock(&self->front.mutex);
        end = self->folded_end;
        over = store_internal_behind(self) > BEHIND_MAX ||
               self->front.tables.keeps.bytes > KEEP_BYTES_MAX;
        pthread_mutex_unlock(&self->front.mutex);
    } while (over && fold_make_room(self, end));
}

uint64_t fold_wait(struct sqlite_store *self) {
    if (!self->options.threads) {
        struct err err;
        if (fold_all(self, &err) != STATUS_OK)
            log_warn("a list is behind, because the fold failed: %s", err.text);
    }
    pthread_mutex_lock(&self->front.mutex);
    if (self->options.threads && self->applied_end != self->folded_end)
        wait_for(self, self->applied_end, LIST_WAIT_MS, true);
    uint64_t behind = store_internal_behind(self);
    pthread_mutex_unlock(&self->front.mutex);
    return behind;
}
