/* spill_path: the path of a spilled letter, and its directories. */
#ifndef TRIAGE_ARCHIVE_SPILL_PATH_H
#define TRIAGE_ARCHIVE_SPILL_PATH_H

#include "base/buf.h"
#include "base/instant.h"
#include "base/status.h"

enum { SPILL_PATH_MAX = 4096 };

/* Appends <base_dir>/<archive>. NOT_YET: the archive is not a `file:`. */
enum status spill_path_root(struct bytes base_dir, struct bytes archive, struct buf *out,
                            struct err *err);
/* Appends <base_dir>/<archive>/<dlq>. INVALID: the DLQ's name would leave the archive; NOT_YET: the
 * archive is not a `file:`. */
enum status spill_path_folder(struct bytes base_dir, struct bytes archive, struct bytes dlq,
                              struct buf *out, struct err *err);
/* Appends /spill-<date>.ndjson.zst; from number 2 on /spill-<date>.<number>.ndjson.zst. */
void spill_path_file(struct wall now, unsigned number, struct buf *out);
/* Creates the directory and its parents, and syncs each directory that got a new entry. False:
 * errno. */
bool spill_path_make(const char *folder);
bool spill_path_sync(const char *folder);

#endif
