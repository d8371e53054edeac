/* archiving: whole letters on their way out of the store, the archive first. What retention and
 * triage rules share. */
#ifndef TRIAGE_ARCHIVING_H
#define TRIAGE_ARCHIVING_H

#include "triage/archive.h"

enum { ARCHIVING_LETTERS_MAX = 1000 };
#define ARCHIVING_BYTES_MAX ((uint64_t)64 * 1024 * 1024) /* of bodies in memory */

/* Where the letters of a DLQ go. */
struct archiving_place {
    struct bytes base_dir; /* what a relative archive is relative to */
    struct bytes archive;  /* "file:…" */
    struct bytes dlq;
};

/* Writes letters as they stand to a new archive of the DLQ; on disk for good when it is OK. *out is
 * in the arena. */
enum status archiving_write(struct triage *triage, const struct archiving_place *place,
                            struct message *const *letters, size_t count, struct arena *arena,
                            struct manifest *out, struct err *err);
/* {"archive":"letters-….ndjson.zst"}, for the audit; BYTES_NONE when nothing was archived. */
struct bytes archiving_after(const struct manifest *manifest, struct arena *arena);
/* Behind the commit whose first ops forget these letters: the first bodies of edited ones go only
 * once the letters themselves have gone. */
enum status archiving_drop_originals(struct triage *triage, struct message *const *letters,
                                     const struct store_op *ops, size_t count, struct err *err);

#endif
