#include "store/memory/journal_memory.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/containers/list.h"
#include "base/memory.h"

enum { MEMORY_GROUP_BYTES_MAX = 32 << 20 };

struct held_record {
    uint64_t position;
    char *bytes;
    size_t len;
};

/* A position is 1 plus the number of bytes that were ever appended before it. */
struct journal_medium {
    pthread_mutex_t mutex; /* guards the other members */
    struct held_record *records;
    size_t count;
    uint64_t end, dropped, bytes;
    struct journal_claim *grants; /* queues whose epoch is not 1 */
    size_t grant_count;
    enum status failure;
    size_t failures_left;
};

struct journal_memory {
    struct journal port;
    struct journal_medium *medium;
};

struct journal_medium *journal_medium_new(void) {
    struct journal_medium *medium = memory_new(sizeof *medium);
    pthread_mutex_init(&medium->mutex, NULL);
    return medium;
}

void journal_medium_free(struct journal_medium *medium) {
    for (size_t i = 0; i < medium->count; i++)
        free(medium->records[i].bytes);
    free(medium->records);
    free(medium->grants);
    pthread_mutex_destroy(&medium->mutex);
    free(medium);
}

void journal_medium_grant(struct journal_medium *medium, uint32_t queue, uint64_t epoch) {
    pthread_mutex_lock(&medium->mutex);
    size_t at = 0;
    while (at < medium->grant_count && medium->grants[at].queue != queue)
        at++;
    if (at == medium->grant_count)
        medium->grants =
            memory_grow(medium->grants, ++medium->grant_count * sizeof *medium->grants);
    medium->grants[at] = (struct journal_claim){queue, epoch};
    pthread_mutex_unlock(&medium->mutex);
}

void journal_medium_fail(struct journal_medium *medium, enum status status, size_t count) {
    pthread_mutex_lock(&medium->mutex);
    medium->failure = status;
    medium->failures_left = count;
    pthread_mutex_unlock(&medium->mutex);
}

static struct journal_medium *medium_of(const struct journal *journal) {
    return CONTAINER_OF(journal, struct journal_memory, port)->medium;
}

static enum status replay(struct journal *journal, uint64_t from, journal_visit *visit, void *arg,
                          struct err *err) {
    struct journal_medium *medium = medium_of(journal);
    if (from > 0 && (from < medium->dropped || from > medium->end))
        return err_set(err, STATUS_CORRUPT, "the journal does not hold position %llu",
                       (unsigned long long)from);
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < medium->count; i++) {
        const struct held_record *record = &medium->records[i];
        if (record->position >= from)
            status = visit(arg, record->position, (struct bytes){record->bytes, record->len});
    }
    return status;
}

static bool takes(const struct journal *journal, size_t records, size_t bytes) {
    (void)journal, (void)records;
    return bytes <= MEMORY_GROUP_BYTES_MAX;
}

/* The mutex must be held. */
static bool holds(const struct journal_medium *medium, const struct journal_claim *claim) {
    for (size_t i = 0; i < medium->grant_count; i++) {
        if (medium->grants[i].queue == claim->queue)
            return medium->grants[i].epoch == claim->epoch;
    }
    return claim->epoch == 1;
}

/* The mutex must be held. */
static enum status admit(struct journal_medium *medium, struct journal_append *group,
                         struct err *err) {
    size_t bytes = 0;
    for (size_t i = 0; i < group->count; i++)
        bytes += group->records[i].len;
    if (bytes > MEMORY_GROUP_BYTES_MAX)
        return err_set(err, STATUS_TOO_LARGE, "a group of %zu bytes", bytes);
    for (size_t i = 0; i < group->claim_count; i++) {
        if (holds(medium, &group->claims[i]))
            continue;
        group->fenced = i;
        return err_set(err, STATUS_FENCED, "queue %u is not ours at epoch %llu any more",
                       group->claims[i].queue, (unsigned long long)group->claims[i].epoch);
    }
    if (medium->failures_left == 0)
        return STATUS_OK;
    medium->failures_left--;
    return err_set(err, medium->failure, "the journal was told to fail");
}

static enum status append(struct journal *journal, struct journal_append *group, struct err *err) {
    struct journal_medium *medium = medium_of(journal);
    assert(group->count > 0);
    pthread_mutex_lock(&medium->mutex);
    enum status status = admit(medium, group, err);
    if (status == STATUS_OK) {
        medium->records =
            memory_grow(medium->records, (medium->count + group->count) * sizeof *medium->records);
        for (size_t i = 0; i < group->count; i++) {
            struct bytes record = group->records[i];
            uint64_t position = (medium->end ? medium->end : 1);
            medium->records[medium->count++] =
                (struct held_record){position, bytes_dup(record), record.len};
            medium->bytes += record.len;
            medium->end = position + record.len + 1;
            group->positions[i] = position;
        }
    }
    group->end = medium->end;
    pthread_mutex_unlock(&medium->mutex);
    return status;
}

static enum status read_record(struct journal *journal, uint64_t position,
                               struct journal_window *window, struct bytes *out, struct err *err) {
    struct journal_medium *medium = medium_of(journal);
    enum status status = STATUS_NOT_FOUND;
    pthread_mutex_lock(&medium->mutex);
    for (size_t i = 0; i < medium->count && status != STATUS_OK; i++) {
        const struct held_record *record = &medium->records[i];
        if (record->position != position)
            continue;
        window->bytes = memory_grow(window->bytes, record->len + 1);
        if (record->len > 0)
            memcpy(window->bytes, record->bytes, record->len);
        *out = (struct bytes){(const char *)window->bytes, record->len};
        status = STATUS_OK;
    }
    pthread_mutex_unlock(&medium->mutex);
    return status == STATUS_OK ? status
                               : err_set(err, status, "the journal holds no position %llu",
                                         (unsigned long long)position);
}

static enum status drop(struct journal *journal, uint64_t position, struct err *err) {
    struct journal_medium *medium = medium_of(journal);
    (void)err;
    pthread_mutex_lock(&medium->mutex);
    size_t gone = 0;
    while (gone < medium->count && medium->records[gone].position < position) {
        medium->bytes -= medium->records[gone].len;
        free(medium->records[gone++].bytes);
    }
    medium->count -= gone;
    if (gone > 0)
        memmove(medium->records, medium->records + gone, medium->count * sizeof *medium->records);
    if (position > medium->dropped)
        medium->dropped = position;
    pthread_mutex_unlock(&medium->mutex);
    return STATUS_OK;
}

static uint64_t end(const struct journal *journal) {
    struct journal_medium *medium = medium_of(journal);
    pthread_mutex_lock(&medium->mutex);
    uint64_t at = medium->end;
    pthread_mutex_unlock(&medium->mutex);
    return at;
}

static uint64_t bytes(const struct journal *journal) {
    struct journal_medium *medium = medium_of(journal);
    pthread_mutex_lock(&medium->mutex);
    uint64_t sum = medium->bytes;
    pthread_mutex_unlock(&medium->mutex);
    return sum;
}

static void close_journal(struct journal *journal) {
    free(CONTAINER_OF(journal, struct journal_memory, port));
}

static const struct journal_vtable vtable = {
    .replay = replay,
    .takes = takes,
    .append = append,
    .read = read_record,
    .drop = drop,
    .end = end,
    .bytes = bytes,
    .close = close_journal,
};

struct journal *journal_memory_new(struct journal_medium *medium) {
    struct journal_memory *self = memory_new(sizeof *self);
    *self = (struct journal_memory){{&vtable}, medium};
    return &self->port;
}
