/* snapshot_read: reads the bytes of a snapshot's entries, from memory or from the journal. */
#ifndef STORE_EMBEDDED_SQLITE_SNAPSHOT_READ_H
#define STORE_EMBEDDED_SQLITE_SNAPSHOT_READ_H

#include "port/journal.h"
#include "store/embedded/sqlite/rows.h"
#include "store/embedded/sqlite/fold/snapshot.h"

struct snapshot_reader {
    struct journal *journal;
    struct journal_window envelopes, bodies;
};

struct snapshot_reader snapshot_read_begin(struct journal *journal);
void snapshot_read_end(struct snapshot_reader *reader);
/* The row for the entry. Its bytes live until the next call, its mark as long as the snapshot. */
enum status snapshot_read_row(struct snapshot_reader *reader, const struct snapshot *snapshot,
                              size_t place, struct row *out, struct err *err);
struct bytes snapshot_read_mark(const struct snapshot_entry *entry); /* ptr NULL: none */

#endif
