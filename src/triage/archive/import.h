/* import: puts letters from an export, an archive or a spill file back into the store.
 *
 * Idempotent by letter id: a letter that is held already is left alone. A line that cannot be read,
 * or a damaged frame, is reported, and the rest is imported. Letters come back in the state in
 * which they were written. */
#ifndef TRIAGE_ARCHIVE_IMPORT_H
#define TRIAGE_ARCHIVE_IMPORT_H

#include "triage/triage.h"

enum { IMPORT_NAMED_MAX = 1000 }; /* entries in each list below */

struct import_result {
    uint64_t lines;    /* in the file; a damaged frame counts as one */
    uint64_t imported; /* added to the store */
    uint64_t present;  /* held already */
    uint64_t changed;  /* of those, differ from the line */
    uint64_t refused;
    struct buf changed_list; /* JSON objects {"line","id","state"}, at most IMPORT_NAMED_MAX */
    struct buf refused_list; /* the same, {"line","why"} */
};

void import_result_free(struct import_result *result);

/* `data`: NDJSON, or zstd of it. Waits for the store. If the store fails, the result says how much
 * was imported; the same data can be imported again. Free *result in any case. */
enum status import_run(struct triage *triage, struct bytes data, struct bytes who,
                       struct import_result *result, struct err *err);

#endif
