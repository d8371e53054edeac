#include "store/embedded/sqlite_store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread/thread.h"
#include "store/cluster_alone.h"
#include "store/embedded/sqlite/fold/row_builder.h"
#include "store/embedded/sqlite/fold/fold.h"
#include "store/embedded/journal/journal_file.h"
#include "store/embedded/sqlite/note_rows.h"
#include "store/embedded/pages/large_rows.h"
#include "store/embedded/sqlite/list/list_rows.h"
#include "store/embedded/store_lock.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/pages/paging.h"
#include "store/embedded/store_internal.h"
#include "store/embedded/reader.h"
#include "store/embedded/recover.h"
#include "store/embedded/pages/reserve.h"
#include "store/embedded/sqlite/list/time_bounds.h"
#include "store/embedded/sqlite/fold/wal.h"
#include "store/embedded/writer.h"

/* ---- health ---- */

static uint64_t wal_bytes(const struct sqlite_store *self) {
    struct buf path;
    struct stat found;
    buf_init_heap(&path, 2 * strlen(self->options.path) + 16);
    buf_printf(&path, "%s-wal", self->options.path);
    uint64_t size = stat(buf_cstr(&path), &found) == 0 ? (uint64_t)found.st_size : 0;
    buf_free(&path);
    return size;
}

static void health(struct store *store, struct store_health *out) {
    struct sqlite_store *self = store_internal_of(store);
    pthread_mutex_lock(&self->front.mutex);
    *out = self->health;
    if (self->disk_full) {
        out->writable = false;
        err_set(&out->trouble, STATUS_FULL, "%s", parts_full_text);
    }
    out->unlisted = store_internal_behind(self);
    uint64_t reserve = self->reserve_bytes;
    pthread_mutex_unlock(&self->front.mutex);
    const struct store_gauge gauges[] = {
        /* read from an atomic: health must not wait for an fsync */
        {"impound_store_journal_bytes", "Size of the journal.",
         self->journal->vtable->bytes(self->journal)},
        {"impound_store_wal_bytes", "Size of SQLite's write-ahead log.",
         self->options.threads ? wal_bytes(self) : 0},
        {"impound_store_reserve_bytes",
         "Disk space reserved for deletions; 0 while the disk is full.", reserve},
    };
    memcpy(out->gauges, gauges, sizeof gauges);
    out->gauge_count = sizeof gauges / sizeof *gauges;
}

/* ---- opening and closing ---- */

static void init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attr);
    pthread_condattr_destroy(&attr);
}

static char *journal_dir(const char *path) {
    struct buf dir;
    buf_init_heap(&dir, strlen(path) + 8);
    buf_printf(&dir, "%s.d", path);
    return buf_take(&dir, NULL);
}

static void close_store(struct store *store);

static const struct store_vtable vtable = {
    .kind = "sqlite",
    .queue_number = front_queue_number,
    .queue_names = front_queue_names,
    .submit = writer_submit,
    .take = reader_take,
    .take_one = reader_take_one,
    .take_any = reader_take_any,
    .take_blocked = reader_take_blocked,
    .take_for_room = reader_take_for_room,
    .awaiting_room = front_awaiting_room,
    .set_order = paging_set_order,
    .give_back = reader_give_back,
    .next_ready = front_next_ready,
    .counts = front_counts,
    .next_seq = front_next_seq,
    .queue_facts = front_queue_facts,
    .dlq_depth = front_dlq_depth,
    .health = health,
    .listen = front_listen,
    .close = close_store,
};

static const struct letters_vtable letters = {
    .get = reader_get,
    .get_seq = reader_get_seq,
    .holds = reader_holds,
    .list = list_rows_read,
    .sum = list_rows_sum,
    .note = note_rows_get,
    .notes = note_rows_list,
    .groups = front_groups,
    .dlq = front_dlq,
    .dlq_names = front_dlq_names,
};

/* A commit of one message must fit into a segment of the journal, with room for its envelope. */
static uint64_t large_above(const struct sqlite_store_options *options) {
    uint64_t segment =
        options->journal_segment_bytes ? options->journal_segment_bytes : JOURNAL_SEGMENT_BYTES;
    uint64_t most = segment / 2;
    return options->large_bytes < most ? options->large_bytes : most;
}

static struct sqlite_store *store_new(const struct sqlite_store_options *options) {
    struct sqlite_store *self = memory_new(sizeof *self);
    front_init(&self->front, &vtable, &letters);
    self->front.tables.keeps.file = true;
    paging_init(self, options->waiting_max);
    self->options = *options;
    self->options.path = bytes_dup(bytes_of(options->path));
    self->options.vfs = options->vfs ? bytes_dup(bytes_of(options->vfs)) : NULL;
    self->dir = journal_dir(options->path);
    self->options.large_bytes = large_above(options);
    self->large = large_new(options->disk, options->path, self->options.large_bytes);
    self->lock_file = -1;
    self->last = &self->first;
    self->looking_last = &self->looking_first;
    self->sealed_last = &self->sealed_first;
    self->fold_due = MONO_NEVER;
    self->health.writable = true;
    self->opened = clock_began(options->clock);
    self->spread = time_bounds_new();
    self->journal = options->journal;
    self->cluster = options->cluster ? options->cluster : &cluster_alone;
    init_condition(&self->look_asked);
    init_condition(&self->submitted);
    init_condition(&self->fold_asked);
    init_condition(&self->fold_ended);
    list_init(&self->recent);
    list_init(&self->changes);
    return self;
}

/* Frees all memory, and leaves the files unchanged. */
static void store_free(struct sqlite_store *self) {
    row_builder_free(self->drafter);
    fold_abandon(self);
    if (self->journal)
        self->journal->vtable->close(self->journal);
    for (size_t i = 0; i < 3; i++) {
        if (self->connections[i].db)
            database_close(&self->connections[i]);
    }
    wal_close(self->wal);
    packs_free(self->packs);
    time_bounds_free(self->spread);
    large_free(self->large);
    store_lock_release(&self->lock_file);
    pthread_cond_destroy(&self->look_asked);
    pthread_cond_destroy(&self->submitted);
    pthread_cond_destroy(&self->fold_asked);
    pthread_cond_destroy(&self->fold_ended);
    front_free(&self->front);
    free((char *)self->options.path);
    free((char *)self->options.vfs);
    free(self->dir);
    free(self);
}

/* A simulation has its own disk, which no other process uses. */
static enum status lock(struct sqlite_store *self, struct err *err) {
    if (!self->options.threads)
        return STATUS_OK;
    return store_lock_take(self->options.disk, self->dir, &self->lock_file, err);
}

/* SQLite would create its file with a mode that other users can read; messages may be confidential.
 * The WAL gets the same mode as the file. An empty file is a valid empty database. */
static void make_private(const struct sqlite_store_options *options) {
    struct disk *disk = options->disk;
    struct disk_file *file;
    if (!options->vfs && disk->vtable->open(disk, options->path, 1, &file) == 0)
        disk->vtable->close(disk, file);
}

static enum status open_connections(struct sqlite_store *self, struct err *err) {
    struct database_options options = {.path = self->options.path,
                                       .vfs = self->options.vfs,
                                       .alone = !self->options.threads,
                                       .checkpoint = true};
    struct database **roles[] = {&self->fold_db, &self->lookup_db, &self->list_db};
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < 3; i++) {
        *roles[i] = &self->connections[self->options.threads ? i : 0];
        options.cache_kib = i == 0 ? FOLD_CACHE_KIB : DATABASE_CACHE_KIB;
        if (!(*roles[i])->db)
            status = database_open(&options, *roles[i], err);
    }
    if (status == STATUS_OK)
        status = wal_open(self->options.threads ? &options : NULL, self->fold_db,
                          self->options.wal_pages, &self->wal, err);
    return status;
}

static enum status open_packs(struct sqlite_store *self, struct err *err) {
    struct packs_options options = {
        .disk = self->options.disk, .dir = self->dir, .pack_bytes = self->options.pack_bytes};
    enum status status = packs_open(&options, self->fold_db, &self->packs, err);
    for (size_t i = 0; i < 3; i++) {
        self->connections[i].packs = self->packs;
        self->connections[i].spread = self->spread;
    }
    return status;
}

/* Runs on a connection of its own, and no other thread waits for it: it takes seconds for ten
 * million letters. */
static void *read_spread(void *arg) {
    struct sqlite_store *self = arg;
    struct database_options options = {.path = self->options.path, .vfs = self->options.vfs};
    struct database database;
    struct err err;
    enum status status = database_open(&options, &database, &err);
    if (status == STATUS_OK) {
        status = time_bounds_read(self->spread, &database, &err);
        database_close(&database);
    }
    if (status != STATUS_OK)
        log_warn("filters that few letters match will be slow until the next start: %s", err.text);
    return NULL;
}

static void start_threads(struct sqlite_store *self) {
    if (!self->options.threads)
        return;
    self->drafter = row_builder_new();
    thread_start(&self->lookup_thread, "store-lookup", writer_look_up, self);
    thread_start(&self->writer_thread, "store-writer", writer_run, self);
    thread_start(&self->fold_thread, "store-fold", fold_run, self);
    thread_start(&self->spread_thread, "store-spread", read_spread, self);
}

static void stop_threads(struct sqlite_store *self) {
    if (!self->options.threads)
        return;
    time_bounds_stop(self->spread);
    pthread_join(self->spread_thread, NULL);
    pthread_mutex_lock(&self->front.mutex);
    self->looking_stopping = true;
    pthread_cond_signal(&self->look_asked);
    pthread_mutex_unlock(&self->front.mutex);
    pthread_join(self->lookup_thread, NULL);
    pthread_mutex_lock(&self->front.mutex);
    self->stopping = true;
    pthread_cond_signal(&self->submitted);
    pthread_mutex_unlock(&self->front.mutex);
    pthread_join(self->writer_thread, NULL);
    pthread_mutex_lock(&self->front.mutex);
    self->fold_stopping = true;
    pthread_cond_signal(&self->fold_asked);
    pthread_mutex_unlock(&self->front.mutex);
    pthread_join(self->fold_thread, NULL);
}

static enum status recover(struct sqlite_store *self, struct err *err) {
    struct err trouble;
    enum status status = open_packs(self, &trouble);
    if (status == STATUS_OK)
        status = recover_all(self, &trouble);
    /* Only after the recovery, which fails if the file is an old copy: that may not list all packs
     * that are in use. */
    if (status == STATUS_OK && !self->on_trial)
        packs_remove_unknown(self->packs);
    if (status == STATUS_CORRUPT)
        return err_set(err, status,
                       "%.400s; `impound doctor` says what is damaged and what can be done",
                       trouble.text);
    return status == STATUS_OK ? status : err_set(err, status, "%s", trouble.text);
}

static void note_large(void *arg, uint64_t seq, const struct reader_large *found) {
    (void)seq;
    large_note(arg, found->name, found->content_hash, found->size);
}

/* Files without a reference are of commits that were never made, or of messages that were removed.
 * If some messages could not be read, all files stay. */
static void sweep_large(struct sqlite_store *self) {
    struct err err = {0};
    if (!large_any(self->large))
        return;
    enum status status = large_rows_held(self, note_large, self->large, &err);
    if (status != STATUS_OK)
        log_warn("files in %s are kept, whether they are used or not: %s", large_dir(self->large),
                 err.text);
    large_sweep(self->large, status == STATUS_OK);
}

/* Opens everything except the threads. On an error everything is closed. */
static enum status open_once(const struct sqlite_store_options *options, struct sqlite_store **out,
                             struct err *err) {
    struct sqlite_store *self = store_new(options);
    enum status status = lock(self, err);
    if (status == STATUS_OK) {
        make_private(options);
        status = open_connections(self, err);
    }
    if (status == STATUS_OK)
        status = recover(self, err);
    if (status == STATUS_OK)
        *out = self;
    else
        store_free(self);
    return status;
}

/* On a full disk even opening may need some space. */
static bool make_room_to_open(const struct sqlite_store_options *options) {
    char *dir = journal_dir(options->path);
    bool made = reserve_remove(options->disk, dir);
    free(dir);
    return made;
}

enum status sqlite_store_open(const struct sqlite_store_options *options, struct store **out,
                              struct err *err) {
    struct sqlite_store *self = NULL;
    enum status status = open_once(options, &self, err);
    if (status == STATUS_FULL && !options->journal && make_room_to_open(options))
        status = open_once(options, &self, err);
    if (status != STATUS_OK)
        return status;
    reserve_open(self);
    sweep_large(self);
    start_threads(self);
    *out = &self->front.port;
    return STATUS_OK;
}

struct store_check {
    struct large *large;
    struct sqlite_store_trial *trial;
};

static void check_large(void *arg, uint64_t seq, const struct reader_large *found) {
    struct store_check *checking = arg;
    struct err err;
    large_note(checking->large, found->name, found->content_hash, found->size);
    if (large_check(checking->large, found->name, found->size, found->content_hash, &err) ==
        STATUS_OK)
        return;
    checking->trial->damaged++;
    buf_printf(checking->trial->report, "message %llu: %s\n", (unsigned long long)seq, err.text);
}

/* Unreadable messages are reported by the check of the rows. */
static void try_large(struct sqlite_store *self, struct sqlite_store_trial *trial) {
    struct store_check checking = {self->large, trial};
    large_expect(self->large);
    if (large_rows_held(self, check_large, &checking, NULL) == STATUS_OK)
        trial->orphans = large_orphans(self->large);
}

enum status sqlite_store_try(const struct sqlite_store_options *options,
                             struct sqlite_store_trial *trial, struct err *err) {
    struct sqlite_store_options alone = *options;
    alone.threads = false;
    struct sqlite_store *self = store_new(&alone);
    self->on_trial = true;
    enum status status = open_connections(self, err);
    if (status == STATUS_OK)
        status = recover(self, err);
    if (status == STATUS_OK)
        try_large(self, trial);
    store_free(self);
    return status;
}

static void close_store(struct store *store) {
    struct sqlite_store *self = store_internal_of(store);
    struct err err;
    if (self->options.threads)
        stop_threads(self);
    else
        writer_step(self);
    if (fold_all(self, &err) != STATUS_OK)
        log_warn("the last fold failed and will be made at the next start: %s", err.text);
    store_free(self);
}

void sqlite_store_step(struct store *store) {
    writer_step(store_internal_of(store));
}

void sqlite_store_fold(struct store *store) {
    struct err err;
    if (fold_all(store_internal_of(store), &err) != STATUS_OK)
        log_warn("the fold failed: %s", err.text);
    else
        fold_compact(store_internal_of(store));
}

void sqlite_store_crash(struct store *store) {
    struct sqlite_store *self = store_internal_of(store);
    writer_abandon(self);
    database_abandon(self->fold_db);
    store_free(self);
}
