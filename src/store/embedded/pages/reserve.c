#include "store/embedded/pages/reserve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/embedded/journal/journal_file.h"
#include "base/log.h"

enum {
    PATH_SIZE = 4096,
    HEADROOM = 2 /* times the size of the reserve must be free before it is created again */
};

static const char file_name[] = "reserve", trial_name[] = "reserve.tmp";

static bool path_of(const char *dir, const char *name, char path[PATH_SIZE]) {
    return snprintf(path, PATH_SIZE, "%s/%s", dir, name) < PATH_SIZE;
}

static uint64_t reserve_bytes(const struct sqlite_store *self) {
    return self->options.journal_segment_bytes ? self->options.journal_segment_bytes
                                               : JOURNAL_SEGMENT_BYTES;
}

/* Creates a file with this many allocated bytes. */
static int make(struct disk *disk, const char *path, uint64_t bytes) {
    struct disk_file *file;
    int error = disk->vtable->open(disk, path, 1, &file);
    if (error)
        return error;
    error = disk->vtable->allocate(disk, file, bytes);
    disk->vtable->close(disk, file);
    if (error)
        (void)disk->vtable->remove(disk, path);
    return error;
}

static bool is_full(int error) {
    return error == ENOSPC || error == EDQUOT;
}

static void set_full(struct sqlite_store *self, bool full, uint64_t held) {
    pthread_mutex_lock(&self->front.mutex);
    self->disk_full = full;
    self->reserve_bytes = held;
    pthread_mutex_unlock(&self->front.mutex);
}

static bool remove_named(struct disk *disk, const char *dir, const char *name) {
    char path[PATH_SIZE];
    return path_of(dir, name, path) && disk->vtable->remove(disk, path) == 0;
}

void reserve_open(struct sqlite_store *self) {
    char path[PATH_SIZE];
    remove_named(self->options.disk, self->dir, trial_name); /* left by a crash */
    if (!path_of(self->dir, file_name, path))
        return;
    int error = make(self->options.disk, path, reserve_bytes(self));
    set_full(self, is_full(error), error ? 0 : reserve_bytes(self));
    if (error)
        log_warn("no reserve of %llu bytes could be made in %s: %s%s",
                 (unsigned long long)reserve_bytes(self), self->dir, strerror(error),
                 is_full(error) ? "; until there is room only commits that free space are taken"
                                : "");
}

bool reserve_remove(struct disk *disk, const char *dir) {
    bool trial = remove_named(disk, dir, trial_name);
    return remove_named(disk, dir, file_name) || trial;
}

bool reserve_give_up(struct sqlite_store *self) {
    bool given = reserve_remove(self->options.disk, self->dir);
    pthread_mutex_lock(&self->front.mutex);
    bool first = !self->disk_full;
    self->disk_full = true;
    self->reserve_bytes = 0;
    pthread_mutex_unlock(&self->front.mutex);
    if (first)
        log_error("the disk is full: the reserve is given up, and only commits that free space "
                  "(discards, what retention deletes) are taken until there is room again");
    return given;
}

void reserve_take_back(struct sqlite_store *self) {
    struct disk *disk = self->options.disk;
    char path[PATH_SIZE], trial[PATH_SIZE];
    pthread_mutex_lock(&self->front.mutex);
    bool full = self->disk_full;
    pthread_mutex_unlock(&self->front.mutex);
    if (!full || !path_of(self->dir, file_name, path) || !path_of(self->dir, trial_name, trial))
        return;
    if (make(disk, trial, HEADROOM * reserve_bytes(self)) != 0)
        return;
    (void)disk->vtable->remove(disk, trial);
    if (make(disk, path, reserve_bytes(self)) != 0)
        return;
    set_full(self, false, reserve_bytes(self));
    log_info("the disk has room again, and the reserve is back");
}

static bool frees(const struct store_op *op) {
    if (op->kind == STORE_UPDATE)
        return op->envelope->state == STATE_DISCARDED || op->envelope->state == STATE_RESOLVED;
    return op->kind == STORE_FORGET || op->kind == STORE_MARK ||
           (op->kind == STORE_KEEP && !op->keep.value.ptr);
}

bool reserve_is_for(const struct store_commit *commit) {
    bool some = false;
    for (size_t i = 0; i < commit->count; i++) {
        const struct store_op *op = &commit->ops[i];
        if (op->kind == STORE_PUT || (op->kind == STORE_UPDATE && op->body.ptr))
            return false;
        some |= frees(op);
    }
    return some;
}
