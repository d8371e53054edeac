/* spill_path: where a spilled letter goes, and the folders on the way. */
#ifndef TRIAGE_SPILL_PATH_H
#define TRIAGE_SPILL_PATH_H

#include "base/buf.h"
#include "base/instant.h"
#include "base/status.h"

enum { SPILL_PATH_MAX = 4096 };

/* Appends <base_dir>/<archive>. NOT_YET when the archive is not a `file:`. */
enum status spill_path_root(struct bytes base_dir, struct bytes archive, struct buf *out,
                            struct err *err);
/* Appends <base_dir>/<archive>/<dlq>. INVALID when the DLQ's name could leave the archive; NOT_YET
 * when the archive is not a `file:`. */
enum status spill_path_folder(struct bytes base_dir, struct bytes archive, struct bytes dlq,
                              struct buf *out, struct err *err);
/* Appends /spill-<date>.ndjson.zst; from number 2 on /spill-<date>.<number>.ndjson.zst. */
void spill_path_file(struct wall now, unsigned number, struct buf *out);
/* Makes the folder and those above it, and syncs each folder that got a new name. False: errno. */
bool spill_path_make(const char *folder);
bool spill_path_sync(const char *folder);

#endif
