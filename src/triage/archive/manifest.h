/* manifest: a small JSON file beside each archive, by which archives are listed and verified
 * without being decompressed. */
#ifndef TRIAGE_ARCHIVE_MANIFEST_H
#define TRIAGE_ARCHIVE_MANIFEST_H

#include "base/arena.h"
#include "base/instant.h"
#include "base/json/json.h"

#define ARCHIVE_SUFFIX  ".ndjson.zst"
#define MANIFEST_SUFFIX ".manifest.json"

enum { MANIFEST_MAX = 64 * 1024, MANIFEST_HEX_SIZE = 65 };

struct manifest {
    struct bytes file; /* the archive's file name, without its directory */
    struct bytes dlq;  /* empty: letters of several */
    uint64_t letters;
    uint64_t bytes; /* of the file */
    struct wall first_dead_at, last_dead_at, written_at;
    char sha256[MANIFEST_HEX_SIZE]; /* of the file, hex */
};

void manifest_put(const struct manifest *manifest, struct json_out *json);
/* INVALID: not a text of manifest_put, or it names a file in another directory. Slices of the text
 * and of the arena. */
enum status manifest_read(struct bytes text, struct arena *arena, struct manifest *out,
                          struct err *err);
/* Verifies the bytes of an archive against the manifest beside it; OK if there is no manifest.
 * CORRUPT: they differ. INVALID: the manifest cannot be read. */
enum status manifest_check(const char *path, struct bytes data, struct err *err);

#endif
