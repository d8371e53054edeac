/* archive_list: the manifests in an archive's directory. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "triage/archive/archive.h"

enum { READ_ARENA_CHUNK = 4096 };

static int is_manifest(const struct dirent *entry) {
    return bytes_ends(bytes_of(entry->d_name), BYTES(MANIFEST_SUFFIX));
}

static void put_one(const struct manifest *manifest, struct bytes folder, struct json_out *json) {
    struct buf *out = json->buf;
    manifest_put(manifest, json);
    /* Removes the closing brace to add one more member. */
    out->len--;
    json_key(json, "path");
    char *path;
    if (asprintf(&path, "%.*s/%.*s", BYTES_ARG(folder), BYTES_ARG(manifest->file)) < 0)
        abort();
    json_put_str(json, path);
    free(path);
    json_close(json, '}');
}

static void read_one(struct bytes folder, const char *name, struct json_out *json) {
    char *path, text[MANIFEST_MAX];
    struct arena arena;
    struct manifest manifest;
    struct err err = {STATUS_IO, "cannot read the file"};
    if (asprintf(&path, "%.*s/%s", BYTES_ARG(folder), name) < 0)
        abort();
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    arena_init_heap(&arena, READ_ARENA_CHUNK);
    if (file && manifest_read((struct bytes){text, len}, &arena, &manifest, &err) == STATUS_OK)
        put_one(&manifest, folder, json);
    else
        log_warn("archive: skipping manifest %s: %s", path, err.text);
    arena_free(&arena);
    free(path);
}

enum status archive_list(struct bytes folder, struct json_out *json, struct err *err) {
    char *path = bytes_dup(folder);
    struct dirent **entries;
    int count = scandir(path, &entries, is_manifest, alphasort);
    free(path);
    if (count < 0 && errno == ENOENT)
        return STATUS_OK;
    if (count < 0)
        return err_set(err, STATUS_IO, "cannot read %.*s: %s", BYTES_ARG(folder), strerror(errno));
    for (int i = 0; i < count; i++) {
        read_one(folder, entries[i]->d_name, json);
        free(entries[i]);
    }
    free(entries);
    return STATUS_OK;
}
