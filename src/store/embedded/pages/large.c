#include "store/embedded/pages/large.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/list.h"
#include "base/log.h"
#include "base/containers/map.h"
#include "base/memory.h"
#include "store/embedded/safe_names.h"

enum { NAME_HASH_BYTES = 16, CHUNK_BYTES = 4 << 20 };

static const char magic[] = "impound-large ";

/* A file name with its references: from messages, and from commits in progress. */
struct use {
    struct map_node node;
    char name[LARGE_NAME_SIZE];
    char content_hash[LARGE_HASH_SIZE];
    uint32_t count;
    bool written; /* the file exists, complete and synced */
};

struct large {
    struct disk *disk;
    char *dir;
    uint64_t above;
    bool made;             /* the directory exists and its name is durable; used by the writer */
    pthread_mutex_t mutex; /* guards the members below */
    struct map uses;
    uint64_t smallest;
    bool unknown; /* there may be files that are not in `uses`: none is removed */
};

static void count_file(void *arg, const char *name) {
    (void)name;
    ++*(uint64_t *)arg;
}

struct large *large_new(struct disk *disk, const char *store_path, uint64_t above) {
    struct large *large = memory_new(sizeof *large);
    struct buf dir;
    uint64_t files = 0;
    buf_init_heap(&dir, strlen(store_path) + sizeof ".large");
    buf_printf(&dir, "%s.large", store_path);
    large->disk = disk;
    large->dir = buf_take(&dir, NULL);
    large->above = above;
    pthread_mutex_init(&large->mutex, NULL);
    int error = disk->vtable->list(disk, large->dir, count_file, &files);
    large->unknown = files > 0 || (error != 0 && error != ENOENT);
    large->smallest = UINT64_MAX;
    return large;
}

static void free_use(struct map_node *node) {
    free(CONTAINER_OF(node, struct use, node));
}

void large_free(struct large *large) {
    if (!large)
        return;
    map_drain(&large->uses, free_use);
    pthread_mutex_destroy(&large->mutex);
    free(large->dir);
    free(large);
}

const char *large_dir(const struct large *large) {
    return large->dir;
}

/* A body no longer than a stub stays: a stub must be shorter than the body that it replaces. */
bool large_takes(const struct large *large, struct bytes body) {
    return large->above > 0 && body.len > large->above && body.len > LARGE_STUB_LEN;
}

bool large_any(struct large *large) {
    pthread_mutex_lock(&large->mutex);
    bool any = large->unknown || large->uses.count > 0;
    pthread_mutex_unlock(&large->mutex);
    return any;
}

void large_expect(struct large *large) {
    large->unknown = true;
}

uint64_t large_smallest(struct large *large) {
    pthread_mutex_lock(&large->mutex);
    uint64_t smallest = large->unknown ? 0 : large->smallest;
    pthread_mutex_unlock(&large->mutex);
    return smallest;
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

static void hash_of(struct bytes body, char out[LARGE_HASH_SIZE]) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)body.ptr, body.len);
    sodium_bin2hex(out, LARGE_HASH_SIZE, hash, sizeof hash);
}

/* The name is the same if a commit is submitted again. */
static void name_by_content(const struct store_op *op, const char *content_hash,
                            char out[LARGE_NAME_SIZE]) {
    struct bytes id = op->envelope->id;
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)&op->queue, sizeof op->queue);
    crypto_hash_sha256_update(&state, (const unsigned char *)id.ptr, id.len);
    crypto_hash_sha256_update(&state, (const unsigned char *)content_hash, strlen(content_hash));
    crypto_hash_sha256_final(&state, hash);
    size_t at = 0;
    for (size_t i = 0; i < NAME_HASH_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        at += (size_t)snprintf(out + at, LARGE_NAME_SIZE - at, "%02x", hash[i]);
    }
}

static bool name_by_letter(const struct envelope *envelope, char out[LARGE_NAME_SIZE]) {
    if (!is_name(envelope->letter_id))
        return false;
    memcpy(out, envelope->letter_id.ptr, LARGE_NAME_LEN);
    out[LARGE_NAME_LEN] = '\0';
    return true;
}

static char *path_of(const struct large *large, const char *name, const char *suffix) {
    struct buf path;
    buf_init_heap(&path, strlen(large->dir) + LARGE_NAME_SIZE + 16);
    buf_printf(&path, "%s/%s%s", large->dir, name, suffix);
    return buf_take(&path, NULL);
}

static bool read_stub(struct bytes stored, struct bytes *name, uint64_t *size) {
    size_t at = sizeof magic - 1;
    if (stored.len != LARGE_STUB_LEN || !bytes_starts(stored, bytes_of(magic)))
        return false;
    *name = bytes_cut(stored, at, at + LARGE_NAME_LEN);
    return is_name(*name) && stored.ptr[at + LARGE_NAME_LEN] == ' ' &&
           bytes_u64(bytes_cut(stored, at + LARGE_NAME_LEN + 1, stored.len), size);
}

bool large_is_stub(struct bytes stored, uint64_t size, char name[LARGE_NAME_SIZE]) {
    uint64_t told;
    struct bytes text;
    if (size == LARGE_STUB_LEN || !read_stub(stored, &text, &told) || told != size)
        return false;
    memcpy(name, text.ptr, LARGE_NAME_LEN);
    name[LARGE_NAME_LEN] = '\0';
    return true;
}

uint64_t large_stub_size(struct bytes stored) {
    uint64_t size;
    struct bytes name;
    return read_stub(stored, &name, &size) ? size : 0;
}

void large_stub(const char *name, uint64_t size, char out[LARGE_STUB_SIZE]) {
    snprintf(out, LARGE_STUB_SIZE, "%s%s %020llu", magic, name, (unsigned long long)size);
}

/* ---- references ---- */

/* Called with the mutex. */
static struct use *find(const struct large *large, const char *name) {
    struct map_node *node = map_first(&large->uses, bytes_hash(bytes_of(name)));
    for (; node; node = map_next(node)) {
        struct use *use = CONTAINER_OF(node, struct use, node);
        if (strcmp(use->name, name) == 0)
            return use;
    }
    return NULL;
}

/* Called with the mutex. */
static struct use *use_name(struct large *large, const char *name, const char *content_hash,
                            uint64_t size) {
    struct use *use = find(large, name);
    if (!use) {
        use = memory_new(sizeof *use);
        memcpy(use->name, name, LARGE_NAME_SIZE);
        snprintf(use->content_hash, sizeof use->content_hash, "%s", content_hash);
        map_insert(&large->uses, &use->node, bytes_hash(bytes_of(name)));
    }
    use->count++;
    if (size < large->smallest)
        large->smallest = size;
    return use;
}

/* True: the last reference was removed. Called with the mutex. */
static bool leave_name(struct large *large, const char *name) {
    struct use *use = find(large, name);
    if (!use)
        return false;
    if (--use->count > 0)
        return false;
    map_remove(&large->uses, &use->node);
    free(use);
    return true;
}

void large_note(struct large *large, const char *name, const char *content_hash, uint64_t size) {
    pthread_mutex_lock(&large->mutex);
    use_name(large, name, content_hash, size)->written = true;
    pthread_mutex_unlock(&large->mutex);
}

void large_reserve(struct large *large, const struct store_op *op, char name[LARGE_NAME_SIZE]) {
    char content_hash[LARGE_HASH_SIZE];
    if (op->envelope->content_hash[0])
        memcpy(content_hash, op->envelope->content_hash, LARGE_HASH_SIZE);
    else
        hash_of(op->body, content_hash);
    pthread_mutex_lock(&large->mutex);
    bool is_letter = name_by_letter(op->envelope, name);
    const struct use *use = is_letter ? find(large, name) : NULL;
    if (!is_letter || (use && strcmp(use->content_hash, content_hash) != 0))
        name_by_content(op, content_hash, name);
    use_name(large, name, content_hash, op->body.len);
    pthread_mutex_unlock(&large->mutex);
}

void large_unreserve(struct large *large, const char *name) {
    pthread_mutex_lock(&large->mutex);
    leave_name(large, name);
    pthread_mutex_unlock(&large->mutex);
}

/* No reference can be added meanwhile: large_reserve waits for the mutex, and the thread that
 * writes files is the one that removes them. */
void large_drop(struct large *large, const char *name) {
    char *path = path_of(large, name, "");
    pthread_mutex_lock(&large->mutex);
    if (leave_name(large, name) && !large->unknown)
        large->disk->vtable->remove(large->disk, path);
    pthread_mutex_unlock(&large->mutex);
    free(path);
}

/* Links through a temporary name, so that the letter's id is always the name of a complete file. */
static int link_as(struct large *large, const char *from, const char *name) {
    struct disk *disk = large->disk;
    char *old = path_of(large, from, ""), *draft = path_of(large, name, ".new");
    char *path = path_of(large, name, "");
    disk->vtable->remove(disk, draft);
    int error = disk->vtable->link(disk, old, draft);
    if (!error)
        error = disk->vtable->rename(disk, draft, path);
    /* rename(2) has no effect if both names are links to the same file. */
    disk->vtable->remove(disk, draft);
    free(old);
    free(draft);
    free(path);
    return error;
}

bool large_rename(struct large *large, const char *from, const struct envelope *letter,
                  char name[LARGE_NAME_SIZE]) {
    if (!name_by_letter(letter, name) || strcmp(name, from) == 0)
        return false;
    pthread_mutex_lock(&large->mutex);
    const struct use *old = find(large, from);
    bool renamed = old && old->written && !find(large, name) && link_as(large, from, name) == 0;
    if (renamed)
        use_name(large, name, old->content_hash, letter->size)->written = true;
    pthread_mutex_unlock(&large->mutex);
    return renamed;
}

/* ---- writing ---- */

static enum status trouble_of(int error, const char *doing, const char *path, struct err *err) {
    enum status status = error == ENOSPC || error == EDQUOT ? STATUS_FULL : STATUS_IO;
    return err_set(err, status, "%s %s: %s", doing, path, strerror(error));
}

static int write_file(struct disk *disk, const char *path, struct bytes body) {
    struct disk_file *file;
    disk->vtable->remove(disk, path); /* left by an earlier attempt */
    int error = disk->vtable->open(disk, path, 1, &file);
    if (error)
        return error;
    for (size_t at = 0; !error && at < body.len; at += CHUNK_BYTES) {
        size_t rest = body.len - at;
        error = disk->vtable->write(disk, file, at, body.ptr + at,
                                    rest < CHUNK_BYTES ? rest : CHUNK_BYTES);
    }
    if (!error)
        error = disk->vtable->sync(disk, file);
    disk->vtable->close(disk, file);
    return error;
}

static int make_dir(struct large *large) {
    if (large->made)
        return 0;
    int error = large->disk->vtable->make_dir(large->disk, large->dir);
    if (!error)
        error = safe_names_sync_parent(large->disk, large->dir);
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

static bool is_written(struct large *large, const char *name) {
    pthread_mutex_lock(&large->mutex);
    const struct use *use = find(large, name);
    bool written = use && use->written;
    pthread_mutex_unlock(&large->mutex);
    return written;
}

static void note_written(struct large *large, const char *name) {
    pthread_mutex_lock(&large->mutex);
    struct use *use = find(large, name);
    if (use)
        use->written = true;
    pthread_mutex_unlock(&large->mutex);
}

enum status large_write(struct large *large, const char *name, struct bytes body, struct err *err) {
    if (is_written(large, name))
        return STATUS_OK;
    char *path = path_of(large, name, ""), *draft = path_of(large, name, ".new");
    int error = write_safely(large, path, draft, body);
    enum status status = error ? trouble_of(error, "writing", path, err) : STATUS_OK;
    if (!error)
        note_written(large, name);
    free(path);
    free(draft);
    return status;
}

enum status large_settle(struct large *large, struct err *err) {
    int error = large->disk->vtable->sync_dir(large->disk, large->dir);
    return error ? trouble_of(error, "syncing", large->dir, err) : STATUS_OK;
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
                             struct message *held, struct err *err) {
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

/* The name shown to users: <name of the store>.large/<name>. */
static void name_file(const struct large *large, const char *name, struct message *held) {
    const char *slash = strrchr(large->dir, '/');
    const char *dir = slash ? slash + 1 : large->dir;
    size_t size = strlen(dir) + 1 + LARGE_NAME_SIZE;
    char *text = arena_alloc(&held->arena, size);
    snprintf(text, size, "%s/%s", dir, name);
    held->envelope.body_file = bytes_of(text);
}

enum status large_read(const struct large *large, const char *name, struct message *held,
                       struct err *err) {
    struct disk_file *file;
    char *path = path_of(large, name, "");
    enum status status = open_sized(large, path, held->envelope.size, &file, err);
    if (status == STATUS_OK) {
        status = read_into(large, path, file, held, err);
        large->disk->vtable->close(large->disk, file);
        name_file(large, name, held);
    }
    free(path);
    return status;
}

static int hash_file(struct disk *disk, struct disk_file *file, uint64_t size,
                     char out[LARGE_HASH_SIZE]) {
    char *chunk = memory_new(CHUNK_BYTES);
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    int error = 0;
    for (uint64_t at = 0; !error && at < size; at += CHUNK_BYTES) {
        size_t len = size - at < CHUNK_BYTES ? (size_t)(size - at) : CHUNK_BYTES;
        error = disk->vtable->read(disk, file, at, chunk, len);
        if (!error)
            crypto_hash_sha256_update(&state, (const unsigned char *)chunk, len);
    }
    crypto_hash_sha256_final(&state, hash);
    sodium_bin2hex(out, LARGE_HASH_SIZE, hash, sizeof hash);
    free(chunk);
    return error;
}

enum status large_check(const struct large *large, const char *name, uint64_t size,
                        const char *content_hash, struct err *err) {
    struct disk_file *file;
    char found[LARGE_HASH_SIZE];
    char *path = path_of(large, name, "");
    enum status status = open_sized(large, path, size, &file, err);
    if (status == STATUS_OK) {
        int error = hash_file(large->disk, file, size, found);
        large->disk->vtable->close(large->disk, file);
        if (error)
            status = err_set(err, STATUS_CORRUPT, "the large body %s: %s", path, strerror(error));
        else if (content_hash[0] && strcmp(found, content_hash) != 0)
            status = err_set(err, STATUS_CORRUPT, "the large body %s has another content", path);
    }
    free(path);
    return status;
}

void large_set_aside(const struct large *large, const char *name) {
    char *path = path_of(large, name, ""), *aside = path_of(large, name, ".damaged");
    if (large->disk->vtable->rename(large->disk, path, aside) == 0)
        (void)large->disk->vtable->sync_dir(large->disk, large->dir);
    free(path);
    free(aside);
}

/* ---- files without a reference ---- */

struct sweeping {
    const struct large *large;
    char **orphans;
    size_t count;
};

static void look_at(void *arg, const char *name) {
    struct sweeping *sweeping = arg;
    struct bytes text = bytes_of(name);
    bool draft = text.len == LARGE_NAME_LEN + sizeof ".new" - 1 &&
                 strcmp(name + LARGE_NAME_LEN, ".new") == 0;
    if (!is_name(bytes_cut(text, 0, LARGE_NAME_LEN)) || (text.len != LARGE_NAME_LEN && !draft))
        return; /* not a file of this store */
    if (!draft && find(sweeping->large, name))
        return;
    sweeping->orphans = memory_grow(sweeping->orphans, (sweeping->count + 1) * sizeof(char *));
    sweeping->orphans[sweeping->count++] = bytes_dup(text);
}

static size_t remove_orphans(struct large *large, const struct sweeping *sweeping) {
    size_t removed = 0;
    for (size_t i = 0; i < sweeping->count; i++) {
        char *path = path_of(large, "", sweeping->orphans[i]);
        removed += large->disk->vtable->remove(large->disk, path) == 0;
        free(path);
    }
    return removed;
}

static void free_orphans(struct sweeping *sweeping) {
    for (size_t i = 0; i < sweeping->count; i++)
        free(sweeping->orphans[i]);
    free(sweeping->orphans);
}

uint64_t large_orphans(struct large *large) {
    struct sweeping sweeping = {.large = large};
    pthread_mutex_lock(&large->mutex);
    (void)large->disk->vtable->list(large->disk, large->dir, look_at, &sweeping);
    pthread_mutex_unlock(&large->mutex);
    free_orphans(&sweeping);
    return sweeping.count;
}

void large_sweep(struct large *large, bool complete) {
    struct sweeping sweeping = {.large = large};
    int error = 0;
    pthread_mutex_lock(&large->mutex);
    if (complete)
        error = large->disk->vtable->list(large->disk, large->dir, look_at, &sweeping);
    large->unknown = !complete || (error != 0 && error != ENOENT);
    size_t removed = remove_orphans(large, &sweeping);
    pthread_mutex_unlock(&large->mutex);
    if (removed > 0)
        log_info("%zu files in %s belonged to no message and were removed", removed, large->dir);
    free_orphans(&sweeping);
}
