/* journal_table: the segments of a journal's folder, and which of them make up the journal.
 *
 * Each header names the segment before it and where that one ends. Followed from the highest number
 * back, these links are the journal; a file off the chain holds nothing that counts. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_TABLE_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_TABLE_H

#include "store/embedded/journal/journal_file.h"
#include "store/embedded/journal/journal_segment.h"

struct journal_table {
    struct journal_segment **segments; /* after journal_table_load by number, least first */
    size_t count;
    size_t cap;
    bool has_spare;
};

/* Opens every segment of the folder and reads its header; a folder that is not there is empty. */
enum status journal_table_load(struct journal_table *table, const struct journal_options *options,
                               struct err *err);
void journal_table_free(struct journal_table *table); /* with the segments */
void journal_table_add(struct journal_table *table, struct journal_segment *segment); /* takes it */
void journal_table_remove(struct journal_table *table, struct journal_segment *segment);
struct journal_segment *journal_table_find(const struct journal_table *table, uint64_t number);
/* Marks the segments of the journal as linked and sets the end of each but the last. CORRUPT: one
 * that is needed from position `from` on has no sound header. */
enum status journal_table_link(struct journal_table *table, uint64_t from, struct err *err);

#endif
