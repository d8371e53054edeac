/* The next segment is made under the spare's name, from a reusable segment if there is one (its
 * blocks were written before, so an fsync needs no change of file system metadata), otherwise from
 * a new file:
 *
 *   rename old to spare, or create spare → sync_dir → allocate → write header → sync
 *   → rename spare to its number → sync_dir → groups
 *
 * Power may fail between any two of these steps: a spare found at open is removed, and a file whose
 * name is a number has an intact header. */
#include "store/embedded/journal/journal_rotate.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "store/embedded/journal/journal_fresh.h"

void journal_rotate_set_tail(struct journal_files *journal, struct journal_mark tail) {
    pthread_mutex_lock(&journal->lock);
    for (size_t i = 0; i < journal->table.count; i++) {
        struct journal_segment *segment = journal->table.segments[i];
        if (segment->number == tail.segment)
            segment->end = tail.end;
        else if (segment->number > tail.segment)
            segment->end = journal_segment_start(segment);
    }
    pthread_mutex_unlock(&journal->lock);
    journal->tail = tail;
    atomic_store(&journal->end, tail.end);
}

void journal_rotate_count(struct journal_files *journal) {
    uint64_t used = 0;
    pthread_mutex_lock(&journal->lock);
    for (size_t i = 0; i < journal->table.count; i++)
        used += !journal->table.segments[i]->reusable;
    pthread_mutex_unlock(&journal->lock);
    atomic_store(&journal->bytes, used * journal->options.segment_bytes);
}

static enum status trouble(const struct journal_files *journal, const char *doing, int error,
                           struct err *err) {
    uint64_t number = journal->current ? journal->current->number + 1 : 1;
    return journal_segment_trouble(error, doing, number, err);
}

static bool path_of(const struct journal_files *journal, uint64_t number,
                    char path[JOURNAL_PATH_MAX]) {
    char name[JOURNAL_NAME_MAX];
    journal_segment_name(number, name);
    return journal_segment_path(journal->dir, name, path);
}

/* Removes a reusable segment without readers from the table, and returns it. */
static struct journal_segment *take_reusable(struct journal_files *journal) {
    struct journal_segment *found = NULL;
    pthread_mutex_lock(&journal->lock);
    for (size_t i = 0; i < journal->table.count && !found; i++) {
        struct journal_segment *segment = journal->table.segments[i];
        if (segment->reusable && segment->pins == 0)
            found = segment;
    }
    if (found)
        journal_table_remove(&journal->table, found);
    pthread_mutex_unlock(&journal->lock);
    return found;
}

static enum status spare_from(struct journal_files *journal, struct journal_segment *old,
                              const char *spare, struct err *err) {
    struct disk *disk = journal->options.disk;
    char path[JOURNAL_PATH_MAX];
    bool fits = path_of(journal, old->number, path);
    assert(fits);
    int error = disk->vtable->rename(disk, path, spare);
    if (error) {
        pthread_mutex_lock(&journal->lock);
        journal_table_add(&journal->table, old);
        pthread_mutex_unlock(&journal->lock);
        return trouble(journal, "renaming a used segment", error, err);
    }
    journal->table.has_spare = true;
    journal->spare = old->file;
    old->file = NULL;
    journal_segment_free(old);
    return STATUS_OK;
}

static enum status spare_new(struct journal_files *journal, const char *spare, struct err *err) {
    struct disk *disk = journal->options.disk;
    uint64_t bytes = (journal->table.count + 1) * journal->options.segment_bytes;
    uint64_t max = journal->options.max_bytes;
    if (!journal->table.has_spare && max && bytes > max)
        return err_set(err, STATUS_FULL,
                       "the journal holds %" PRIu64 " bytes that are not folded yet, of at most "
                       "%" PRIu64,
                       bytes - journal->options.segment_bytes, max);
    int error = disk->vtable->open(disk, spare, 1, &journal->spare);
    if (error)
        return trouble(journal, "creating", error, err);
    journal->table.has_spare = true;
    return STATUS_OK;
}

/* After a failed fsync the page cache may differ from the disk, so the contents of the file cannot
 * be relied on. */
static enum status drop_spoiled(struct journal_files *journal, const char *spare, struct err *err) {
    struct disk *disk = journal->options.disk;
    int error = journal->spoiled ? disk->vtable->remove(disk, spare) : 0;
    if (error && error != ENOENT)
        return trouble(journal, "removing what failed before", error, err);
    if (journal->spoiled)
        journal->table.has_spare = false;
    journal->spoiled = false;
    return STATUS_OK;
}

static void spoil(struct journal_files *journal) {
    struct disk *disk = journal->options.disk;
    disk->vtable->close(disk, journal->spare);
    journal->spare = NULL;
    journal->spoiled = true;
}

static enum status get_spare(struct journal_files *journal, const char *spare, struct err *err) {
    enum status status = drop_spoiled(journal, spare, err);
    if (status)
        return status;
    struct journal_segment *old = journal->table.has_spare ? NULL : take_reusable(journal);
    if (old)
        return spare_from(journal, old, spare, err);
    if (!journal->table.has_spare && journal_fresh_take(journal, spare))
        return STATUS_OK;
    return spare_new(journal, spare, err);
}

static uint64_t reusable_bytes(struct journal_files *journal) {
    uint64_t count = 0;
    pthread_mutex_lock(&journal->lock);
    for (size_t i = 0; i < journal->table.count; i++)
        count += journal->table.segments[i]->reusable;
    pthread_mutex_unlock(&journal->lock);
    return count * journal->options.segment_bytes;
}

/* The lowest number is removed first, so the links stay complete. The removal need not be durable:
 * nothing in the file is needed. */
static void trim_to(struct journal_files *journal, uint64_t keep) {
    struct disk *disk = journal->options.disk;
    while (reusable_bytes(journal) > keep) {
        struct journal_segment *old = take_reusable(journal);
        char path[JOURNAL_PATH_MAX];
        if (!old)
            return;
        if (path_of(journal, old->number, path))
            (void)disk->vtable->remove(disk, path);
        journal_segment_free(old);
    }
}

void journal_rotate_trim(struct journal_files *journal) {
    if (journal->options.keep_bytes)
        trim_to(journal, journal->options.keep_bytes);
}

void journal_shrink(struct journal_files *journal) {
    trim_to(journal, journal->options.segment_bytes);
    journal_rotate_count(journal);
}

static struct journal_header next_header(const struct journal_files *journal) {
    uint64_t number = journal->current ? journal->current->number + 1 : 1;
    struct rng rng;
    rng_seed(&rng, journal->options.salt + number);
    return (struct journal_header){.version = JOURNAL_FORMAT_VERSION,
                                   .number = number,
                                   .segment_bytes = journal->options.segment_bytes,
                                   .previous = journal->tail.segment,
                                   .previous_end = journal->tail.end,
                                   .first_sequence = journal->next_sequence,
                                   .salt = (uint32_t)rng_next(&rng)};
}

static int write_header(struct journal_files *journal, const struct journal_header *header) {
    struct disk *disk = journal->options.disk;
    uint8_t block[JOURNAL_BLOCK];
    journal_format_put_header(block, header);
    int error = disk->vtable->sync_dir(disk, journal->dir);
    if (!error)
        error = disk->vtable->allocate(disk, journal->spare, header->segment_bytes);
    if (!error)
        error = disk->vtable->write(disk, journal->spare, 0, block, sizeof block);
    if (!error)
        error = disk->vtable->sync(disk, journal->spare);
    return error;
}

static void make_current(struct journal_files *journal, const struct journal_header *header) {
    struct journal_segment *next = memory_new(sizeof *next);
    *next = (struct journal_segment){.disk = journal->options.disk,
                                     .file = journal->spare,
                                     .number = header->number,
                                     .bytes = header->segment_bytes,
                                     .there = header->segment_bytes,
                                     .header = *header,
                                     .sound = true,
                                     .linked = true};
    next->end = journal_segment_start(next);
    journal->spare = NULL;
    journal->table.has_spare = false;
    pthread_mutex_lock(&journal->lock);
    for (size_t i = 0; i < journal->table.count; i++)
        if (journal->table.segments[i]->number > journal->tail.segment)
            journal->table.segments[i]->reusable = true; /* the new header's link skips it */
    journal_table_add(&journal->table, next);
    journal->current = next;
    pthread_mutex_unlock(&journal->lock);
    journal->durable_end = next->end;
    journal_rotate_count(journal);
}

static enum status make_next(struct journal_files *journal, struct err *err) {
    struct disk *disk = journal->options.disk;
    struct journal_header header = next_header(journal);
    char spare[JOURNAL_PATH_MAX], path[JOURNAL_PATH_MAX];
    if (!journal_segment_path(journal->dir, journal_segment_spare, spare) ||
        !path_of(journal, header.number, path))
        return err_set(err, STATUS_INVALID, "the path %s is too long", journal->dir);
    enum status status = get_spare(journal, spare, err);
    if (status)
        return status;
    int error = write_header(journal, &header);
    if (!error)
        error = disk->vtable->rename(disk, spare, path);
    if (error) {
        spoil(journal);
        return trouble(journal, "making it", error, err);
    }
    make_current(journal, &header);
    /* After a failure it is not known whether its name is durable: the segment stays empty, and the
     * next one gets another number. */
    error = disk->vtable->sync_dir(disk, journal->dir);
    journal->sealed = error != 0;
    if (error)
        return trouble(journal, "syncing its name", error, err);
    atomic_store(&journal->end, journal->current->end);
    return STATUS_OK;
}

static void give_up(struct journal_files *journal) {
    journal->sealed = true;
    journal_rotate_set_tail(journal, journal->synced);
}

/* The next header records the end of this segment, so its groups must be durable first. */
static enum status settle(struct journal_files *journal, struct err *err) {
    struct journal_segment *current = journal->current;
    if (journal->tail.end <= journal->durable_end)
        return STATUS_OK;
    struct disk *disk = journal->options.disk;
    int error = disk->vtable->sync(disk, current->file);
    if (!error) {
        journal->durable_end = journal->tail.end;
        return STATUS_OK;
    }
    journal->lost = true;
    give_up(journal);
    return journal_segment_trouble(error, "syncing", current->number, err);
}

static enum status rotate(struct journal_files *journal, struct err *err) {
    struct err later;
    enum status settled = settle(journal, err);
    enum status made = make_next(journal, settled ? &later : err);
    return settled ? settled : made;
}

enum status journal_rotate_for(struct journal_files *journal, uint64_t size, struct err *err) {
    const struct journal_segment *current = journal->current;
    if (current && !journal->sealed &&
        current->end + size <= (current->number + 1) * current->bytes)
        return STATUS_OK;
    return rotate(journal, err);
}

void journal_rotate_away(struct journal_files *journal) {
    journal->sealed = true;
    (void)rotate(journal, NULL);
}

void journal_rotate_back(struct journal_files *journal) {
    give_up(journal);
    (void)rotate(journal, NULL);
}
