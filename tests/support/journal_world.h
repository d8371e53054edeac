/* journal_world: a journal with short ways to fill it and to look at what it gives back. */
#ifndef JOURNAL_WORLD_H
#define JOURNAL_WORLD_H

#include "store/embedded/journal/journal_file.h"
#include "store/embedded/journal/journal_format.h"

enum { JOURNAL_WORLD_SEGMENT = 8 * JOURNAL_BLOCK, JOURNAL_WORLD_MAX = 4096 };

struct journal_world {
    struct journal_options options;
    struct journal_files *journal; /* NULL: closed */
    struct err err;
    size_t seen_count; /* of the records that the latest open or salvage gave */
    char *seen[JOURNAL_WORLD_MAX];
    uint64_t seen_at[JOURNAL_WORLD_MAX];
};

void journal_world_init(struct journal_world *world, struct disk *disk, const char *dir);
void journal_world_free(struct journal_world *world);
enum status journal_world_open(struct journal_world *world, uint64_t from);
void journal_world_close(struct journal_world *world);
/* One group of one record with this text. */
enum status journal_world_append(struct journal_world *world, const char *text, uint64_t *position);
/* Append and sync, both of which must go well. Returns the position. */
uint64_t journal_world_commit(struct journal_world *world, const char *text);
/* The latest open gave these texts, in this order ("a b c"). */
void journal_world_expect(const struct journal_world *world, const char *texts);
/* For journal_verify. */
void journal_world_see(void *arg, uint64_t position, struct bytes record);
void journal_world_forget(struct journal_world *world);

/* Appends the record's bytes to *out, as they are on disk now. */
enum status journal_world_read(struct journal_files *journal, uint64_t position, struct buf *out,
                               struct err *err);

#endif
