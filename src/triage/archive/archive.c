/* archive: see the header for what is durable when. */
#include "triage/archive/archive.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/memory.h"
#include "triage/archive/frames.h"
#include "triage/archive/spill_path.h"

enum { DATE_LEN = 10 }; /* of "2026-11-15T…" */
#define PART_SUFFIX ".part"

struct archive {
    struct triage *triage;
    char *folder;
    char *name; /* "letters-<date>-<id>" */
    char *path; /* of the unfinished file */
    FILE *file;
    ZSTD_CCtx *writer;
    crypto_hash_sha256_state hash;
    struct buf frame;
    struct manifest manifest;
    char *dlq;
};

static enum status failed(const char *doing, const char *path, struct err *err) {
    bool full = errno == ENOSPC || errno == EDQUOT;
    return err_set(err, full ? STATUS_FULL : STATUS_IO, "cannot %s %s: %s", doing, path,
                   strerror(errno));
}

static char *text_of(const char *a, const char *b, const char *c, const char *d) {
    char *text;
    if (asprintf(&text, "%s%s%s%s", a, b, c, d) < 0)
        abort();
    return text;
}

static char *new_name(struct triage *triage) {
    char id[UUID_TEXT_SIZE], at[INSTANT_TEXT_SIZE], date[DATE_LEN + 1];
    struct wall now = triage_now(triage).wall;
    triage_new_id(triage, now, id);
    snprintf(date, sizeof date, "%.*s", DATE_LEN, wall_text(now, at));
    return text_of("letters-", date, "-", id);
}

/* ---- the file ---- */

enum status archive_begin(struct triage *triage, struct bytes folder, struct bytes dlq,
                          struct archive **out, struct err *err) {
    struct archive *archive = memory_new(sizeof *archive);
    archive->triage = triage;
    archive->folder = bytes_dup(folder);
    archive->name = new_name(triage);
    archive->path = text_of(archive->folder, "/", archive->name, ARCHIVE_SUFFIX PART_SUFFIX);
    archive->dlq = bytes_dup(dlq);
    archive->writer = frames_writer_new();
    crypto_hash_sha256_init(&archive->hash);
    buf_init_heap(&archive->frame, SIZE_MAX);
    enum status status = STATUS_OK;
    if (!spill_path_make(archive->folder))
        status = failed("make folder", archive->folder, err);
    else if (!(archive->file = fopen(archive->path, "wxe")))
        status = failed("make", archive->path, err);
    if (status != STATUS_OK)
        archive_abandon(archive);
    else
        *out = archive;
    return status;
}

static void archive_free(struct archive *archive) {
    ZSTD_freeCCtx(archive->writer);
    buf_free(&archive->frame);
    free(archive->folder);
    free(archive->name);
    free(archive->path);
    free(archive->dlq);
    free(archive);
}

void archive_abandon(struct archive *archive) {
    if (!archive)
        return;
    if (archive->file) {
        fclose(archive->file);
        unlink(archive->path);
    }
    archive_free(archive);
}

static void count(struct manifest *manifest, size_t bytes, struct wall dead_at) {
    manifest->letters++;
    manifest->bytes += bytes;
    if (manifest->letters == 1 || dead_at.ms < manifest->first_dead_at.ms)
        manifest->first_dead_at = dead_at;
    if (dead_at.ms > manifest->last_dead_at.ms)
        manifest->last_dead_at = dead_at;
}

enum status archive_add(struct archive *archive, struct bytes line, struct wall dead_at,
                        struct err *err) {
    assert(archive->file);
    struct buf *frame = &archive->frame;
    buf_clear(frame);
    frames_put(archive->writer, line, frame);
    if (fwrite(frame->ptr, 1, frame->len, archive->file) != frame->len)
        return failed("write", archive->path, err);
    crypto_hash_sha256_update(&archive->hash, (const unsigned char *)frame->ptr, frame->len);
    count(&archive->manifest, frame->len, dead_at);
    return STATUS_OK;
}

uint64_t archive_letters(const struct archive *archive) {
    return archive->manifest.letters;
}

/* ---- finishing ---- */

/* Flushes, syncs and closes the file, then renames it to its final name. */
static bool close_durably(FILE *file, const char *from, const char *to) {
    bool ok = fflush(file) == 0 && fsync(fileno(file)) == 0;
    ok = fclose(file) == 0 && ok;
    return ok && rename(from, to) == 0;
}

static enum status finish_letters(struct archive *archive, struct err *err) {
    char *path = text_of(archive->folder, "/", archive->name, ARCHIVE_SUFFIX);
    FILE *file = archive->file;
    archive->file = NULL;
    enum status status = STATUS_OK;
    if (!close_durably(file, archive->path, path)) {
        status = failed("finish", path, err);
        unlink(archive->path);
    }
    free(path);
    return status;
}

static enum status write_manifest(struct archive *archive, struct err *err) {
    char *path = text_of(archive->folder, "/", archive->name, MANIFEST_SUFFIX);
    char *part = text_of(path, PART_SUFFIX, "", "");
    struct buf text;
    buf_init_heap(&text, MANIFEST_MAX);
    struct json_out json = json_out(&text);
    manifest_put(&archive->manifest, &json);
    buf_char(&text, '\n');
    FILE *file = fopen(part, "wxe");
    bool ok = file && fwrite(text.ptr, 1, text.len, file) == text.len;
    if (file)
        ok = close_durably(file, part, path) && ok;
    enum status status = ok ? STATUS_OK : failed("write", path, err);
    buf_free(&text);
    free(part);
    free(path);
    return status;
}

static void complete(struct archive *archive, struct arena *arena) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    char *name = text_of(archive->name, ARCHIVE_SUFFIX, "", "");
    crypto_hash_sha256_final(&archive->hash, hash);
    sodium_bin2hex(archive->manifest.sha256, sizeof archive->manifest.sha256, hash, sizeof hash);
    archive->manifest.file = arena_dup(arena, bytes_of(name));
    archive->manifest.dlq = arena_dup(arena, bytes_of(archive->dlq));
    archive->manifest.written_at = triage_now(archive->triage).wall;
    free(name);
}

enum status archive_finish(struct archive *archive, struct arena *arena, struct manifest *out,
                           struct err *err) {
    assert(archive->file);
    complete(archive, arena);
    enum status status = finish_letters(archive, err);
    if (status == STATUS_OK)
        status = write_manifest(archive, err);
    if (status == STATUS_OK && !spill_path_sync(archive->folder))
        status = failed("sync folder", archive->folder, err);
    *out = archive->manifest;
    archive_free(archive);
    return status;
}
