#include "sim_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SECTOR = 512 };

/* What may become of one unsynced write. */
enum fate { FATE_LOST, FATE_KEPT, FATE_PREFIX, FATE_SECTORS, FATE_COUNT };

static void resize(struct sim_run *run, size_t len) {
    if (len > run->cap) {
        run->cap = len > 2 * run->cap ? len : 2 * run->cap;
        run->ptr = memory_grow(run->ptr, run->cap);
    }
    if (len > run->len)
        memset(run->ptr + run->len, 0, len - run->len);
    run->len = len;
}

static void put(struct sim_run *run, uint64_t at, const char *from, size_t len) {
    if (at + len > run->len)
        resize(run, at + len);
    memcpy(run->ptr + at, from, len);
}

void sim_file_free(struct sim_file *file) {
    for (size_t i = 0; i < file->pending_count; i++)
        free(file->pending[i].data);
    free(file->pending);
    free(file->now.ptr);
    free(file->safe.ptr);
}

static void add_pending(struct sim_file *file, struct sim_write write) {
    if (file->pending_count == file->pending_cap) {
        file->pending_cap = file->pending_cap ? file->pending_cap * 2 : 8;
        file->pending = memory_grow(file->pending, file->pending_cap * sizeof *file->pending);
    }
    file->pending[file->pending_count++] = write;
}

void sim_file_write(struct sim_file *file, uint64_t at, const void *from, size_t len) {
    if (len == 0)
        return;
    put(&file->now, at, from, len);
    struct sim_write write = {.at = at, .len = len, .data = memory_new(len)};
    memcpy(write.data, from, len);
    add_pending(file, write);
}

void sim_file_resize(struct sim_file *file, uint64_t size) {
    resize(&file->now, size);
    add_pending(file, (struct sim_write){.at = size});
}

static void apply(struct sim_file *file, const struct sim_write *write, size_t from, size_t to) {
    if (!write->data)
        resize(&file->safe, write->at);
    else if (from < to)
        put(&file->safe, write->at + from, write->data + from, to - from);
}

static void forget_pending(struct sim_file *file) {
    for (size_t i = 0; i < file->pending_count; i++)
        free(file->pending[i].data);
    file->pending_count = 0;
}

void sim_file_sync(struct sim_file *file) {
    for (size_t i = 0; i < file->pending_count; i++)
        apply(file, &file->pending[i], 0, file->pending[i].len);
    forget_pending(file);
}

static void apply_sectors(struct sim_file *file, const struct sim_write *write, struct rng *rng) {
    for (size_t from = 0; from < write->len;) {
        size_t to = from + SECTOR - (write->at + from) % SECTOR;
        to = to < write->len ? to : write->len;
        if (rng_below(rng, 2))
            apply(file, write, from, to);
        from = to;
    }
}

static void settle(struct sim_file *file, const struct sim_write *write, enum fate fate,
                   struct rng *rng) {
    if (fate == FATE_KEPT)
        apply(file, write, 0, write->len);
    else if (fate == FATE_PREFIX && write->data)
        apply(file, write, 0, rng_below(rng, write->len + 1));
    else if (fate == FATE_SECTORS && write->data)
        apply_sectors(file, write, rng);
}

/* A file is sometimes spared or robbed as a whole, which chance alone would make too rare. */
static void settle_all(struct sim_file *file, struct rng *rng) {
    uint64_t mood = rng_below(rng, FATE_COUNT);
    for (size_t i = 0; i < file->pending_count; i++) {
        enum fate fate = mood == FATE_LOST || mood == FATE_KEPT
                             ? (enum fate)mood
                             : (enum fate)rng_below(rng, FATE_COUNT);
        settle(file, &file->pending[i], fate, rng);
    }
    forget_pending(file);
}

void sim_file_sync_failed(struct sim_file *file, struct rng *rng) {
    settle_all(file, rng);
}

void sim_file_crash(struct sim_file *file, struct rng *rng) {
    settle_all(file, rng);
    resize(&file->now, file->safe.len);
    if (file->safe.len)
        memcpy(file->now.ptr, file->safe.ptr, file->safe.len);
}

static void flip(struct sim_run *run, uint64_t at, unsigned bit) {
    if (at < run->len)
        run->ptr[at] = (char)(run->ptr[at] ^ (1 << bit));
}

void sim_file_flip(struct sim_file *file, uint64_t at, unsigned bit) {
    assert(bit < 8);
    flip(&file->now, at, bit);
    flip(&file->safe, at, bit);
}
