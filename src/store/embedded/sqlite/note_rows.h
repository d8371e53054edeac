/* note_rows: notes as rows of the SQLite file. Notes that are not folded yet are in memory
 * (store/tables/notes.h), and take precedence over the file. */
#ifndef STORE_EMBEDDED_SQLITE_NOTE_ROWS_H
#define STORE_EMBEDDED_SQLITE_NOTE_ROWS_H

#include "store/embedded/store_internal.h"

enum status note_rows_get(struct letters *letters, uint32_t queue, const char *space,
                          struct bytes name, struct wall now, struct arena *arena,
                          struct bytes *value, struct err *err);
enum status note_rows_list(struct letters *letters, const char *space, struct bytes prefix,
                           struct bytes after, bool descending, size_t limit, struct arena *arena,
                           struct letters_note *out, size_t *count, struct err *err);

/* Called inside a transaction: writes the note, or deletes it if it has no value. */
enum status note_rows_set(struct database *database, uint32_t queue, const struct store_keep *keep,
                          struct err *err);
/* Called inside a fold that wrote `written` notes: deletes some expired notes. */
enum status note_rows_sweep(struct sqlite_store *self, size_t written, struct err *err);

#endif
