/* import: letters from an export, an archive or a spill file, back into the store.
 *
 * By letter id, so that twice is once: what is held already is left alone. A line that cannot be
 * read, or a damaged frame, is named and the rest goes on. Letters come back in the state in which
 * they were written. */
#ifndef TRIAGE_IMPORT_H
#define TRIAGE_IMPORT_H

#include "triage/triage.h"

enum { IMPORT_NAMED_MAX = 1000 }; /* of each kind below */

struct import_result {
    uint64_t lines;    /* that there were; a damaged frame is one */
    uint64_t imported; /* … and are held now */
    uint64_t present;  /* … and were held already */
    uint64_t changed;  /* of those: are not as they were written */
    uint64_t refused;
    struct buf changed_list; /* JSON objects {"line","id","state"}, the first IMPORT_NAMED_MAX */
    struct buf refused_list; /* the same of {"line","why"} */
};

void import_result_free(struct import_result *result);

/* `data`: NDJSON, or zstd of it. Waits. On trouble of the store's the result says how far it came;
 * the same data can be given again. Free *result in any case. */
enum status import_run(struct triage *triage, struct bytes data, struct bytes who,
                       struct import_result *result, struct err *err);

#endif
