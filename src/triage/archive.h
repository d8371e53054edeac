/* archive: letters written to a folder for good: <folder>/letters-<date>-<id>.ndjson.zst with its
 * manifest beside it.
 *
 * A file has its name only once it is whole and synced, the manifest only after the file, and the
 * folder is synced behind both: what archive_finish said OK to is there after any crash. A crash
 * before that leaves a file that nobody relies on, ending in .part. */
#ifndef TRIAGE_ARCHIVE_H
#define TRIAGE_ARCHIVE_H

#include "triage/manifest.h"
#include "triage/triage.h"

struct archive;

/* Makes the folder where it is missing. `dlq`: the one that all letters are of, or empty. */
enum status archive_begin(struct triage *triage, struct bytes folder, struct bytes dlq,
                          struct archive **out, struct err *err);
enum status archive_add(struct archive *archive, struct bytes line, struct wall dead_at,
                        struct err *err);
uint64_t archive_letters(const struct archive *archive);
/* Ends it in any case. OK: *out (in the arena) is on disk for good. */
enum status archive_finish(struct archive *archive_take, struct arena *arena, struct manifest *out,
                           struct err *err);
void archive_abandon(struct archive *archive_take); /* NULL-safe; leaves nothing behind */

/* Appends a manifest for each whole archive of the folder, oldest first, as members of an array
 * that is open, with "path". No folder: none. */
enum status archive_list(struct bytes folder, struct json_out *json, struct err *err);

#endif
