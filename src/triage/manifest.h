/* manifest: what an archive file holds, in a small JSON file beside it, so that archives can be
 * listed and checked without being unfolded. */
#ifndef TRIAGE_MANIFEST_H
#define TRIAGE_MANIFEST_H

#include "base/arena.h"
#include "base/instant.h"
#include "base/json.h"

#define ARCHIVE_SUFFIX  ".ndjson.zst"
#define MANIFEST_SUFFIX ".manifest.json"

enum { MANIFEST_MAX = 64 * 1024, MANIFEST_HEX_SIZE = 65 };

struct manifest {
    struct bytes file; /* the archive's name, without its folder */
    struct bytes dlq;  /* empty: letters of several */
    uint64_t letters;
    uint64_t bytes; /* of the file */
    struct wall first_dead_at, last_dead_at, written_at;
    char sha256[MANIFEST_HEX_SIZE]; /* of the file, hex */
};

void manifest_put(const struct manifest *manifest, struct json_out *json);
/* INVALID: it is not what manifest_put writes, or names a file in another folder. Slices of the
 * text and of the arena. */
enum status manifest_read(struct bytes text, struct arena *arena, struct manifest *out,
                          struct err *err);
/* Whether the bytes of an archive are those that the manifest beside it was written for; OK when
 * there is none. CORRUPT: they are not. INVALID: the manifest is none. */
enum status manifest_check(const char *path, struct bytes data, struct err *err);

#endif
