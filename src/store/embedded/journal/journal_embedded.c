#include "store/embedded/journal/journal_embedded.h"

#include <assert.h>
#include <pthread.h>

#include "base/containers/list.h"
#include "base/memory.h"

struct journal_embedded {
    struct journal port;
    struct journal_options options;
    struct journal_files *files; /* NULL until replay */
    pthread_mutex_t mutex;       /* held by the thread that appends, syncs or recycles */
};

static struct journal_embedded *of(const struct journal *journal) {
    return CONTAINER_OF(journal, struct journal_embedded, port);
}

static enum status replay(struct journal *journal, uint64_t from, journal_visit *visit, void *arg,
                          struct err *err) {
    struct journal_embedded *self = of(journal);
    assert(!self->files);
    return journal_open(&self->options, from, visit, arg, &self->files, err);
}

static bool takes(const struct journal *journal, size_t records, size_t bytes) {
    return journal_takes(of(journal)->files, records, bytes);
}

static enum status append(struct journal *journal, struct journal_append *group, struct err *err) {
    struct journal_embedded *self = of(journal);
    pthread_mutex_lock(&self->mutex);
    enum status status =
        journal_append(self->files, group->records, group->count, group->positions, err);
    if (status == STATUS_OK)
        status = journal_sync(self->files, err);
    group->end = journal_end(self->files);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static enum status read_record(struct journal *journal, uint64_t position,
                               struct journal_window *window, struct bytes *out, struct err *err) {
    return journal_read(of(journal)->files, position, window, out, err);
}

static enum status drop(struct journal *journal, uint64_t position, struct err *err) {
    struct journal_embedded *self = of(journal);
    pthread_mutex_lock(&self->mutex);
    enum status status = journal_recycle(self->files, position, err);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static uint64_t end(const struct journal *journal) {
    return journal_end(of(journal)->files);
}

static uint64_t bytes(const struct journal *journal) {
    return journal_bytes(of(journal)->files);
}

static enum status prepare(struct journal *journal, struct err *err) {
    return journal_prepare(of(journal)->files, err);
}

static void shrink(struct journal *journal) {
    struct journal_embedded *self = of(journal);
    pthread_mutex_lock(&self->mutex);
    journal_shrink(self->files);
    pthread_mutex_unlock(&self->mutex);
}

static void close_journal(struct journal *journal) {
    struct journal_embedded *self = of(journal);
    journal_close(self->files);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

static const struct journal_vtable vtable = {
    .replay = replay,
    .takes = takes,
    .append = append,
    .read = read_record,
    .drop = drop,
    .end = end,
    .bytes = bytes,
    .prepare = prepare,
    .shrink = shrink,
    .close = close_journal,
};

struct journal *journal_embedded_new(const struct journal_options *options) {
    struct journal_embedded *self = memory_new(sizeof *self);
    self->port.vtable = &vtable;
    self->options = *options;
    pthread_mutex_init(&self->mutex, NULL);
    return &self->port;
}
