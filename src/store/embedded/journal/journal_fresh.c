#include "store/embedded/journal/journal_fresh.h"

#include <stdlib.h>

#include "base/memory.h"

enum { FILL_BYTES = 1 << 20, NEAR_SHARE = 8 };

static const char fresh_name[] = "fresh.tmp";

/* Not before an eighth of the current segment is used: a store whose messages all succeed may never
 * need a second one. */
static bool is_near(const struct journal_files *journal) {
    uint64_t end = journal_end(journal), bytes = journal->options.segment_bytes;
    return end > 0 && (end - 1) % bytes >= bytes / NEAR_SHARE;
}

static bool is_needed(struct journal_files *journal) {
    uint64_t max = journal->options.max_bytes;
    if (!is_near(journal))
        return false;
    pthread_mutex_lock(&journal->lock);
    bool needed = !journal->fresh;
    for (size_t i = 0; i < journal->table.count && needed; i++)
        needed = !journal->table.segments[i]->reusable;
    if (max && (journal->table.count + 1) * journal->options.segment_bytes > max)
        needed = false;
    pthread_mutex_unlock(&journal->lock);
    return needed;
}

static int fill(struct journal_files *journal, struct disk_file *file) {
    struct disk *disk = journal->options.disk;
    uint64_t bytes = journal->options.segment_bytes;
    size_t step = bytes < FILL_BYTES ? bytes : FILL_BYTES;
    void *zeroes = memory_new(step);
    int error = 0;
    for (uint64_t at = 0; at < bytes && !error; at += step) {
        size_t left = bytes - at < step ? (size_t)(bytes - at) : step;
        error = disk->vtable->write(disk, file, at, zeroes, left);
    }
    free(zeroes);
    return error ? error : disk->vtable->sync(disk, file);
}

enum status journal_fresh_make(struct journal_files *journal, struct err *err) {
    struct disk *disk = journal->options.disk;
    struct disk_file *file = NULL;
    char path[JOURNAL_PATH_MAX];
    if (!is_needed(journal) || !journal_segment_path(journal->dir, fresh_name, path))
        return STATUS_OK;
    int error = disk->vtable->open(disk, path, 1, &file);
    if (!error)
        error = fill(journal, file);
    if (error) {
        if (file)
            disk->vtable->close(disk, file);
        (void)disk->vtable->remove(disk, path);
        return journal_segment_trouble(error, "preparing the next", 0, err);
    }
    pthread_mutex_lock(&journal->lock);
    journal->fresh = file;
    pthread_mutex_unlock(&journal->lock);
    return STATUS_OK;
}

bool journal_fresh_take(struct journal_files *journal, const char *spare) {
    struct disk *disk = journal->options.disk;
    char path[JOURNAL_PATH_MAX];
    pthread_mutex_lock(&journal->lock);
    struct disk_file *file = journal->fresh;
    journal->fresh = NULL;
    pthread_mutex_unlock(&journal->lock);
    if (!file)
        return false;
    if (!journal_segment_path(journal->dir, fresh_name, path) ||
        disk->vtable->rename(disk, path, spare) != 0) {
        disk->vtable->close(disk, file);
        return false;
    }
    journal->spare = file;
    journal->table.has_spare = true;
    return true;
}

void journal_fresh_sweep(struct journal_files *journal) {
    struct disk *disk = journal->options.disk;
    char path[JOURNAL_PATH_MAX];
    if (journal_segment_path(journal->dir, fresh_name, path))
        (void)disk->vtable->remove(disk, path); /* usually there is none */
}
