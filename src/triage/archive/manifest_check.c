/* manifest_check: verifies an archive against its manifest. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triage/archive/manifest.h"

enum { CHECK_ARENA_CHUNK = 4096 };

/* Reads the manifest; 0: there is none. */
static size_t read_beside(struct bytes path, char *text, size_t size) {
    struct bytes stem = bytes_cut(path, 0, path.len - (sizeof ARCHIVE_SUFFIX - 1));
    char *name;
    if (asprintf(&name, "%.*s%s", BYTES_ARG(stem), MANIFEST_SUFFIX) < 0)
        abort();
    FILE *file = fopen(name, "re");
    size_t len = file ? fread(text, 1, size, file) : 0;
    if (file)
        fclose(file);
    free(name);
    return len;
}

static bool is_same(const struct manifest *manifest, struct bytes data) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    char hex[MANIFEST_HEX_SIZE];
    crypto_hash_sha256(hash, (const unsigned char *)data.ptr, data.len);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    return manifest->bytes == data.len && strcmp(hex, manifest->sha256) == 0;
}

enum status manifest_check(const char *path, struct bytes data, struct err *err) {
    char text[MANIFEST_MAX];
    struct arena arena;
    struct manifest manifest;
    if (!bytes_ends(bytes_of(path), BYTES(ARCHIVE_SUFFIX)))
        return STATUS_OK;
    size_t len = read_beside(bytes_of(path), text, sizeof text);
    if (len == 0)
        return STATUS_OK;
    arena_init_heap(&arena, CHECK_ARENA_CHUNK);
    enum status status = manifest_read((struct bytes){text, len}, &arena, &manifest, err);
    if (status == STATUS_OK && !is_same(&manifest, data))
        status = err_set(err, STATUS_CORRUPT,
                         "the file does not match its manifest (%llu letters in %llu bytes): it is "
                         "damaged",
                         (unsigned long long)manifest.letters, (unsigned long long)manifest.bytes);
    arena_free(&arena);
    return status;
}
