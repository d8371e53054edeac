/* archiving: letters on their way out of the store: they are durable in the archive before the
 * store forgets them. Shared by retention and triage rules. */
#ifndef TRIAGE_ARCHIVE_ARCHIVING_H
#define TRIAGE_ARCHIVE_ARCHIVING_H

#include "triage/archive/archive.h"

enum { ARCHIVING_LETTERS_MAX = 1000 };
#define ARCHIVING_BYTES_MAX ((uint64_t)64 * 1024 * 1024) /* of bodies in memory */

/* The archive of a DLQ. */
struct archiving_place {
    struct bytes base_dir; /* base of a relative archive path */
    struct bytes archive;  /* "file:…" */
    struct bytes dlq;
};

/* Writes the letters to a new archive of the DLQ; OK: durable. *out is in the arena. */
enum status archiving_write(struct triage *triage, const struct archiving_place *place,
                            struct message *const *letters, size_t count, struct arena *arena,
                            struct manifest *out, struct err *err);
/* {"archive":"letters-….ndjson.zst"}, for the audit; BYTES_NONE when nothing was archived. */
struct bytes archiving_after(const struct manifest *manifest, struct arena *arena);
/* After the commit whose first `count` ops forget these letters: drops the original bodies of
 * edited letters, only for letters that were really forgotten. */
enum status archiving_drop_originals(struct triage *triage, struct message *const *letters,
                                     const struct store_op *ops, size_t count, struct err *err);

#endif
