/* archive: letters written to a directory: <folder>/letters-<date>-<id>.ndjson.zst and its
 * manifest.
 *
 * A file gets its name only after it is complete and synced, the manifest only after that, and the
 * directory is synced last: after archive_finish returned OK, both survive any crash. A crash
 * before that leaves only files that end in .part, which are never read. */
#ifndef TRIAGE_ARCHIVE_ARCHIVE_H
#define TRIAGE_ARCHIVE_ARCHIVE_H

#include "triage/archive/manifest.h"
#include "triage/triage.h"

struct archive;

/* Creates the directory if it is missing. `dlq`: the DLQ of all letters, or empty. */
enum status archive_begin(struct triage *triage, struct bytes folder, struct bytes dlq,
                          struct archive **out, struct err *err);
enum status archive_add(struct archive *archive, struct bytes line, struct wall dead_at,
                        struct err *err);
uint64_t archive_letters(const struct archive *archive);
/* Frees the archive in any case. OK: the file and its manifest *out (in the arena) are durable. */
enum status archive_finish(struct archive *archive_take, struct arena *arena, struct manifest *out,
                           struct err *err);
void archive_abandon(struct archive *archive_take); /* NULL-safe; removes the unfinished file */

/* Appends the manifest of each complete archive of the directory, oldest first, with "path" added,
 * to an open array. No directory: nothing. */
enum status archive_list(struct bytes folder, struct json_out *json, struct err *err);

#endif
