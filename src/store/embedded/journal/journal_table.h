/* journal_table: the segments in a journal's directory, and which of them make up the journal.
 *
 * Each header names the previous segment and the position at which that one ends. The segments that
 * are reached through these links from the highest number form the journal; all other files are
 * ignored. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_TABLE_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_TABLE_H

#include "store/embedded/journal/journal_file.h"
#include "store/embedded/journal/journal_segment.h"

struct journal_table {
    struct journal_segment **segments; /* after journal_table_load sorted by number, ascending */
    size_t count;
    size_t cap;
    bool has_spare;
};

/* Opens every segment of the directory and reads its header; a missing directory is empty. */
enum status journal_table_load(struct journal_table *table, const struct journal_options *options,
                               struct err *err);
void journal_table_free(struct journal_table *table); /* frees the segments too */
/* Takes ownership. */
void journal_table_add(struct journal_table *table, struct journal_segment *segment);
void journal_table_remove(struct journal_table *table, struct journal_segment *segment);
struct journal_segment *journal_table_find(const struct journal_table *table, uint64_t number);
/* Marks the segments of the journal as linked and sets the end of each but the last. CORRUPT: a
 * segment that is needed from position `from` on has no intact header. */
enum status journal_table_link(struct journal_table *table, uint64_t from, struct err *err);

#endif
