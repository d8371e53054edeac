/* The writer's side. `current` is the last segment. Groups are appended to it until one does not
 * fit or until it is sealed: at open (otherwise unsynced groups of an earlier process after the end
 * might be replayed after new groups) or by a failure. Then journal_rotate makes the next segment,
 * whose header permanently records where this one ends. Nothing is appended to a segment before its
 * header and name are durable, and no header is written before the data that it refers to is
 * durable. */
#include "store/embedded/journal/journal_file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/embedded/safe_names.h"
#include "store/embedded/journal/journal_fresh.h"
#include "store/embedded/journal/journal_recover.h"
#include "store/embedded/journal/journal_rotate.h"

enum { SEGMENT_BLOCKS_MIN = 2, SEGMENTS_MIN = 2 };

static const uint64_t segment_bytes_max = UINT64_C(1) << 31; /* lengths in a segment have 32 bits */

static enum status check_options(const struct journal_options *options, struct err *err) {
    uint64_t bytes = options->segment_bytes;
    if (bytes % JOURNAL_BLOCK || bytes < SEGMENT_BLOCKS_MIN * JOURNAL_BLOCK ||
        bytes > segment_bytes_max)
        return err_set(err, STATUS_INVALID,
                       "a journal segment of %" PRIu64 " bytes: it must be a multiple of %d from "
                       "%d to %" PRIu64,
                       bytes, JOURNAL_BLOCK, SEGMENT_BLOCKS_MIN * JOURNAL_BLOCK, segment_bytes_max);
    if (options->max_bytes && options->max_bytes < SEGMENTS_MIN * bytes)
        return err_set(err, STATUS_INVALID,
                       "a journal of at most %" PRIu64 " bytes: it needs at least %d segments of "
                       "%" PRIu64,
                       options->max_bytes, SEGMENTS_MIN, bytes);
    return STATUS_OK;
}

/* The name of the directory must be durable before any file in it is. */
static enum status make_dir(const struct journal_options *options, struct err *err) {
    int error = options->disk->vtable->make_dir(options->disk, options->dir);
    if (!error)
        error = safe_names_sync_parent(options->disk, options->dir);
    if (error)
        return err_set(err, STATUS_IO, "making %s: %s", options->dir, strerror(error));
    return STATUS_OK;
}

static void set_marks(struct journal_files *journal, struct journal_segment *last) {
    journal->current = last;
    journal->sealed = true;
    journal->tail = (struct journal_mark){last->number, last->end};
    if (journal_segment_is_empty(last))
        journal->tail = (struct journal_mark){last->header.previous, last->header.previous_end};
    journal->synced = journal->tail;
    journal->durable_end = last->end;
    atomic_store(&journal->end, last->end);
}

/* Replayed records may be folded at once, so they must be durable, and so must the name of the last
 * segment. */
static enum status adopt(struct journal_files *journal, const struct journal_recover *task,
                         struct err *err) {
    struct journal_table *table = &journal->table;
    struct disk *disk = journal->options.disk;
    for (size_t i = 0; i < table->count; i++)
        table->segments[i]->reusable = !table->segments[i]->linked;
    journal->spoiled = table->has_spare;
    journal_fresh_sweep(journal);
    if (table->count) {
        struct journal_segment *last = table->segments[table->count - 1];
        enum status status = journal_recover_secure(task, last, err);
        if (status)
            return status;
        int error = disk->vtable->sync_dir(disk, journal->dir);
        if (error)
            return journal_segment_trouble(error, "syncing its name", last->number, err);
        set_marks(journal, last);
    }
    journal_rotate_count(journal);
    return STATUS_OK;
}

static enum status recover(struct journal_files *journal, struct journal_recover *task,
                           struct err *err) {
    enum status status = make_dir(&journal->options, err);
    if (!status)
        status = journal_table_load(&journal->table, &journal->options, err);
    if (!status)
        status = journal_table_link(&journal->table, task->from, err);
    if (!status)
        status = journal_recover(task, &journal->table, err);
    if (!status)
        status = adopt(journal, task, err);
    journal->next_sequence = task->next_sequence;
    return status;
}

enum status journal_open(const struct journal_options *options, uint64_t from,
                         enum status (*replay)(void *arg, uint64_t position, struct bytes record),
                         void *arg, struct journal_files **out, struct err *err) {
    struct journal_files *journal = memory_new(sizeof *journal);
    journal->options = *options;
    if (!journal->options.segment_bytes)
        journal->options.segment_bytes = JOURNAL_SEGMENT_BYTES;
    journal->dir = bytes_dup(bytes_of(options->dir));
    journal->options.dir = journal->dir;
    pthread_mutex_init(&journal->lock, NULL);
    enum status status = check_options(&journal->options, err);
    struct journal_recover task = {
        .from = from, .between_groups = options->between_groups, .replay = replay, .arg = arg};
    if (!status)
        status = recover(journal, &task, err);
    if (status) {
        journal_close(journal);
        return status;
    }
    *out = journal;
    return STATUS_OK;
}

void journal_close(struct journal_files *journal) {
    if (!journal)
        return;
    journal_table_free(&journal->table);
    if (journal->fresh)
        journal->options.disk->vtable->close(journal->options.disk, journal->fresh);
    if (journal->spare)
        journal->options.disk->vtable->close(journal->options.disk, journal->spare);
    pthread_mutex_destroy(&journal->lock);
    free(journal->group);
    free(journal->dir);
    free(journal);
}

static uint64_t payload_of(size_t records, size_t bytes) {
    return (uint64_t)records * JOURNAL_RECORD_BYTES + bytes;
}

static uint64_t payload_max(const struct journal_files *journal) {
    return journal->options.segment_bytes - JOURNAL_BLOCK - JOURNAL_GROUP_BYTES;
}

bool journal_takes(const struct journal_files *journal, size_t records, size_t bytes) {
    return payload_of(records, bytes) <= payload_max(journal);
}

static enum status measure(const struct journal_files *journal, const struct bytes *records,
                           size_t count, uint64_t *payload, struct err *err) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += records[i].len;
    *payload = payload_of(count, bytes);
    if (!journal_takes(journal, count, bytes))
        return err_set(err, STATUS_TOO_LARGE,
                       "a group of %zu records is larger than the %" PRIu64
                       " bytes that a journal segment takes",
                       count, payload_max(journal));
    return STATUS_OK;
}

static enum status make_room(struct journal_files *journal, uint64_t size, struct err *err) {
    if (size <= journal->group_cap)
        return STATUS_OK;
    free(journal->group);
    journal->group = memory_try_pages(size);
    journal->group_cap = journal->group ? size : 0;
    return journal->group ? STATUS_OK
                          : err_set(err, STATUS_BUSY,
                                    "there is no memory for a group of %" PRIu64 " bytes", size);
}

static void fill_group(struct journal_files *journal, const struct bytes *records, size_t count,
                       uint64_t payload, uint64_t *positions) {
    uint64_t size = journal_format_group_size(payload);
    uint64_t start = journal->current->end;
    size_t at = JOURNAL_GROUP_BYTES;
    for (size_t i = 0; i < count; i++) {
        positions[i] = start + at;
        at += journal_format_put_record(journal->group + at, positions[i], records[i]);
    }
    memset(journal->group + at, 0, size - at);
    struct journal_group group = {.sequence = journal->next_sequence,
                                  .segment = journal->current->number,
                                  .durable_end = journal->durable_end,
                                  .payload = (uint32_t)payload,
                                  .count = (uint32_t)count,
                                  .salt = journal->current->header.salt};
    journal_format_put_group(journal->group, &group);
}

enum status journal_append(struct journal_files *journal, const struct bytes *records, size_t count,
                           uint64_t *positions, struct err *err) {
    assert(count > 0);
    if (journal->lost)
        return err_set(err, STATUS_IO, "what was appended before is lost; journal_sync tells");
    uint64_t payload;
    enum status status = measure(journal, records, count, &payload, err);
    if (status)
        return status;
    uint64_t size = journal_format_group_size(payload);
    status = make_room(journal, size, err);
    if (!status)
        status = journal_rotate_for(journal, size, err);
    if (status)
        return status;
    fill_group(journal, records, count, payload, positions);
    struct journal_segment *current = journal->current;
    struct disk *disk = journal->options.disk;
    int error = disk->vtable->write(
        disk, current->file, current->end - current->number * current->bytes, journal->group, size);
    if (error) {
        uint64_t number = current->number;
        journal_rotate_away(journal);
        return journal_segment_trouble(error, "writing", number, err);
    }
    journal->next_sequence++;
    journal_rotate_set_tail(journal, (struct journal_mark){current->number, current->end + size});
    return STATUS_OK;
}

enum status journal_sync(struct journal_files *journal, struct err *err) {
    if (journal->lost) {
        journal->lost = false;
        return err_set(err, STATUS_IO, "what was appended since the last sync is lost");
    }
    if (journal->tail.end > journal->durable_end) {
        struct journal_segment *current = journal->current;
        struct disk *disk = journal->options.disk;
        int error = disk->vtable->sync(disk, current->file);
        if (error) {
            uint64_t number = current->number;
            journal_rotate_back(journal);
            return journal_segment_trouble(error, "syncing", number, err);
        }
        journal->durable_end = journal->tail.end;
    }
    journal->synced = journal->tail;
    return STATUS_OK;
}

enum status journal_recycle(struct journal_files *journal, uint64_t position, struct err *err) {
    (void)err;
    uint64_t bytes = journal->options.segment_bytes;
    pthread_mutex_lock(&journal->lock);
    for (size_t i = 0; i < journal->table.count; i++) {
        struct journal_segment *segment = journal->table.segments[i];
        if (segment != journal->current && (segment->number + 1) * bytes <= position)
            segment->reusable = true;
    }
    pthread_mutex_unlock(&journal->lock);
    journal_rotate_trim(journal);
    journal_rotate_count(journal);
    return STATUS_OK;
}

enum status journal_prepare(struct journal_files *journal, struct err *err) {
    return journal_fresh_make(journal, err);
}

uint64_t journal_end(const struct journal_files *journal) {
    return atomic_load(&journal->end);
}

uint64_t journal_bytes(const struct journal_files *journal) {
    return atomic_load(&journal->bytes);
}
