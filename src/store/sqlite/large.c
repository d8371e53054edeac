#include "store/sqlite/large.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/sqlite/folder.h"

enum { NAME_HASH_BYTES = 16, WRITE_CHUNK = 4 << 20 };

static const char magic[] = "impound-large ";

struct large {
    struct disk *disk;
    char *dir;
    uint64_t above;
    pthread_mutex_t mutex; /* of what follows, and of names in the folder */
    bool made;             /* the folder is there and its name is safe */
    uint64_t files;        /* that may be in it */
    uint64_t writes;
};

static void count_file(void *arg, const char *name) {
    (void)name;
    ++*(uint64_t *)arg;
}

struct large *large_new(struct disk *disk, const char *store_path, uint64_t above) {
    struct large *large = memory_new(sizeof *large);
    struct buf dir;
    buf_init_heap(&dir, strlen(store_path) + sizeof ".large");
    buf_printf(&dir, "%s.large", store_path);
    large->disk = disk;
    large->dir = buf_take(&dir, NULL);
    large->above = above;
    pthread_mutex_init(&large->mutex, NULL);
    if (above > 0)
        disk->vtable->list(disk, large->dir, count_file, &large->files);
    return large;
}

void large_free(struct large *large) {
    if (!large)
        return;
    pthread_mutex_destroy(&large->mutex);
    free(large->dir);
    free(large);
}

bool large_takes(const struct large *large, struct bytes body) {
    return large->above > 0 && body.len > large->above;
}

/* ---- names ---- */

static bool is_name(struct bytes text) {
    if (text.len != LARGE_NAME_LEN)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-'))
            return false;
    }
    return true;
}

static void name_of(const struct store_op *op, char out[LARGE_NAME_SIZE]) {
    const struct envelope *envelope = op->envelope;
    if (is_name(envelope->letter_id)) {
        memcpy(out, envelope->letter_id.ptr, LARGE_NAME_LEN);
        out[LARGE_NAME_LEN] = '\0';
        return;
    }
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)&op->queue, sizeof op->queue);
    crypto_hash_sha256_update(&state, (const unsigned char *)envelope->id.ptr, envelope->id.len);
    crypto_hash_sha256_update(&state, (const unsigned char *)envelope->content_hash,
                              strlen(envelope->content_hash));
    crypto_hash_sha256_final(&state, hash);
    size_t at = 0;
    for (size_t i = 0; i < NAME_HASH_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        at += (size_t)snprintf(out + at, LARGE_NAME_SIZE - at, "%02x", hash[i]);
    }
}

static char *path_of(const struct large *large, const char *name, const char *suffix) {
    struct buf path;
    buf_init_heap(&path, strlen(large->dir) + LARGE_NAME_SIZE + 16);
    buf_printf(&path, "%s/%s%s", large->dir, name, suffix);
    return buf_take(&path, NULL);
}

bool large_is_stub(struct bytes stored, uint64_t size, char name[LARGE_NAME_SIZE]) {
    uint64_t told;
    size_t at = sizeof magic - 1;
    if (stored.len != LARGE_STUB_LEN || size == LARGE_STUB_LEN ||
        !bytes_starts(stored, bytes_of(magic)))
        return false;
    struct bytes text = bytes_cut(stored, at, at + LARGE_NAME_LEN);
    struct bytes digits = bytes_cut(stored, at + LARGE_NAME_LEN + 1, stored.len);
    if (!is_name(text) || stored.ptr[at + LARGE_NAME_LEN] != ' ' || !bytes_u64(digits, &told) ||
        told != size)
        return false;
    memcpy(name, text.ptr, LARGE_NAME_LEN);
    name[LARGE_NAME_LEN] = '\0';
    return true;
}

/* ---- writing ---- */

static enum status trouble_of(int error, const char *doing, const char *path, struct err *err) {
    enum status status = error == ENOSPC || error == EDQUOT ? STATUS_FULL : STATUS_IO;
    return err_set(err, status, "%s %s: %s", doing, path, strerror(error));
}

static int write_file(struct disk *disk, const char *path, struct bytes body) {
    struct disk_file *file;
    disk->vtable->remove(disk, path); /* one that an earlier try left */
    int error = disk->vtable->open(disk, path, 1, &file);
    if (error)
        return error;
    for (size_t at = 0; !error && at < body.len; at += WRITE_CHUNK) {
        size_t rest = body.len - at;
        error = disk->vtable->write(disk, file, at, body.ptr + at,
                                    rest < WRITE_CHUNK ? rest : WRITE_CHUNK);
    }
    if (!error)
        error = disk->vtable->sync(disk, file);
    disk->vtable->close(disk, file);
    return error;
}

/* With the mutex. */
static int make_dir(struct large *large) {
    if (large->made)
        return 0;
    int error = large->disk->vtable->make_dir(large->disk, large->dir);
    if (!error)
        error = folder_sync_parent(large->disk, large->dir);
    large->made = !error;
    return error;
}

static int write_safely(struct large *large, const char *path, const char *draft,
                        struct bytes body) {
    struct disk *disk = large->disk;
    int error = make_dir(large);
    if (!error)
        error = write_file(disk, draft, body);
    if (!error)
        error = disk->vtable->rename(disk, draft, path);
    if (!error)
        error = disk->vtable->sync_dir(disk, large->dir);
    if (error)
        disk->vtable->remove(disk, draft);
    return error;
}

enum status large_write(struct large *large, const struct store_op *op,
                        char stub[LARGE_STUB_LEN + 1], struct err *err) {
    char name[LARGE_NAME_SIZE];
    name_of(op, name);
    char *path = path_of(large, name, ""), *draft = path_of(large, name, ".new");
    pthread_mutex_lock(&large->mutex);
    large->writes++;
    large->files++;
    int error = write_safely(large, path, draft, op->body);
    pthread_mutex_unlock(&large->mutex);
    enum status status = error ? trouble_of(error, "writing", path, err) : STATUS_OK;
    snprintf(stub, LARGE_STUB_LEN + 1, "%s%s %020llu", magic, name,
             (unsigned long long)op->body.len);
    free(path);
    free(draft);
    return status;
}

/* ---- reading ---- */

static enum status open_sized(const struct large *large, const char *path, uint64_t size,
                              struct disk_file **file, struct err *err) {
    struct disk *disk = large->disk;
    uint64_t found = 0;
    int error = disk->vtable->open(disk, path, 0, file);
    if (error)
        return err_set(err, error == ENOENT ? STATUS_CORRUPT : STATUS_IO, "the large body %s: %s",
                       path, strerror(error));
    error = disk->vtable->size(disk, *file, &found);
    if (!error && found == size)
        return STATUS_OK;
    disk->vtable->close(disk, *file);
    return error ? trouble_of(error, "reading", path, err)
                 : err_set(err, STATUS_CORRUPT, "the large body %s has %llu bytes, not %llu", path,
                           (unsigned long long)found, (unsigned long long)size);
}

static enum status read_into(const struct large *large, const char *path, struct disk_file *file,
                             struct store_held *held, struct err *err) {
    uint64_t size = held->envelope.size;
    held->apart = memory_try(NULL, size + 1);
    if (!held->apart)
        return err_set(err, STATUS_BUSY, "there is no memory for a body of %llu bytes",
                       (unsigned long long)size);
    int error = large->disk->vtable->read(large->disk, file, 0, held->apart, size);
    if (error)
        return trouble_of(error, "reading", path, err);
    held->apart[size] = '\0';
    held->body = (struct bytes){held->apart, size};
    return STATUS_OK;
}

enum status large_read(const struct large *large, const char *name, struct store_held *held,
                       struct err *err) {
    struct disk_file *file;
    char *path = path_of(large, name, "");
    enum status status = open_sized(large, path, held->envelope.size, &file, err);
    if (status == STATUS_OK) {
        status = read_into(large, path, file, held, err);
        large->disk->vtable->close(large->disk, file);
    }
    free(path);
    return status;
}

enum status large_check(const struct large *large, const char *name, uint64_t size,
                        struct err *err) {
    struct disk_file *file;
    char *path = path_of(large, name, "");
    enum status status = open_sized(large, path, size, &file, err);
    if (status == STATUS_OK)
        large->disk->vtable->close(large->disk, file);
    free(path);
    return status;
}

/* ---- removing ---- */

uint64_t large_writes(struct large *large) {
    pthread_mutex_lock(&large->mutex);
    uint64_t writes = large->writes;
    pthread_mutex_unlock(&large->mutex);
    return writes;
}

bool large_any(struct large *large) {
    pthread_mutex_lock(&large->mutex);
    bool any = large->files > 0;
    pthread_mutex_unlock(&large->mutex);
    return any;
}

/* Where another was written since, it may be under this very name: the next start tells. */
void large_remove(struct large *large, const char *name, uint64_t writes) {
    char *path = path_of(large, name, "");
    pthread_mutex_lock(&large->mutex);
    if (large->writes == writes && large->disk->vtable->remove(large->disk, path) == 0)
        large->files--;
    pthread_mutex_unlock(&large->mutex);
    free(path);
}

struct sweeping {
    char (*names)[LARGE_NAME_SIZE];
    size_t count;
    char **orphans;
    size_t orphan_count;
};

static void look_at(void *arg, const char *name) {
    struct sweeping *sweeping = arg;
    struct bytes text = bytes_of(name);
    bool draft = text.len == LARGE_NAME_LEN + sizeof ".new" - 1 &&
                 strcmp(name + LARGE_NAME_LEN, ".new") == 0;
    if (!is_name(bytes_cut(text, 0, LARGE_NAME_LEN)) || (text.len != LARGE_NAME_LEN && !draft))
        return; /* not ours */
    for (size_t i = 0; !draft && i < sweeping->count; i++)
        if (strcmp(sweeping->names[i], name) == 0)
            return;
    sweeping->orphans =
        memory_grow(sweeping->orphans, (sweeping->orphan_count + 1) * sizeof(char *));
    sweeping->orphans[sweeping->orphan_count++] = bytes_dup(text);
}

void large_sweep(struct large *large, char (*names)[LARGE_NAME_SIZE], size_t count) {
    struct sweeping sweeping = {.names = names, .count = count};
    large->disk->vtable->list(large->disk, large->dir, look_at, &sweeping);
    for (size_t i = 0; i < sweeping.orphan_count; i++) {
        char *path = path_of(large, "", sweeping.orphans[i]);
        if (large->disk->vtable->remove(large->disk, path) == 0)
            large->files--;
        free(path);
        free(sweeping.orphans[i]);
    }
    if (sweeping.orphan_count > 0)
        log_info("%zu files in %s belonged to no message and were removed", sweeping.orphan_count,
                 large->dir);
    free(sweeping.orphans);
}
