#include "store/embedded/journal/journal_recover.h"

#include <inttypes.h>

static enum status damaged(const struct journal_segment *segment, uint64_t position,
                           const char *what, struct err *err) {
    char name[JOURNAL_NAME_MAX];
    journal_segment_name(segment->number, name);
    return err_set(err, STATUS_CORRUPT, "journal segment %s, offset %" PRIu64 ": %s", name,
                   position - segment->number * segment->bytes, what);
}

static enum status replay_wanted(void *arg, uint64_t position, struct bytes record) {
    struct journal_recover *recover = arg;
    if (position < recover->from || !recover->replay)
        return STATUS_OK;
    return recover->replay(recover->arg, position, record);
}

/* Replays intact groups in sequence from the segment's first one; *end is the position after the
 * last of them. */
static enum status replay_segment(struct journal_recover *recover,
                                  const struct journal_segment *segment, uint64_t stop,
                                  struct buf *bytes, uint64_t *end, struct err *err) {
    uint64_t sequence = segment->header.first_sequence;
    enum status status = STATUS_OK;
    *end = journal_segment_start(segment);
    while (*end < stop) {
        struct journal_group group;
        status = journal_segment_group(segment, *end, bytes, &group, err);
        if (status || group.sequence != sequence)
            break;
        uint64_t next = *end + journal_format_group_size(group.payload);
        if (recover->between_groups && recover->from > *end && recover->from < next)
            return damaged(segment, *end, "the position asked for is inside a group", err);
        status = journal_segment_records(*end, bytes, &group, replay_wanted, recover);
        if (status)
            return status;
        *end = next;
        recover->next_sequence = ++sequence;
        recover->durable_end = group.durable_end;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Unsynced groups may be lost in any order, so an intact group after a bad one does not prove
 * damage. It does if its durable_end shows that the bad one was synced. */
static enum status check_tail(const struct journal_segment *segment, uint64_t end,
                              struct buf *bytes, struct err *err) {
    uint64_t position = end;
    for (;;) {
        struct journal_group group;
        enum status status = journal_segment_seek(segment, &position, bytes, &group, err);
        if (status == STATUS_NOT_FOUND)
            return STATUS_OK;
        if (status)
            return status;
        if (group.durable_end > end)
            return damaged(segment, end, "a group that was synced is damaged", err);
        position += JOURNAL_BLOCK;
    }
}

static enum status recover_segment(struct journal_recover *recover, struct journal_segment *segment,
                                   bool last, struct buf *bytes, struct err *err) {
    uint64_t stop = last ? (segment->number + 1) * segment->bytes : segment->end;
    uint64_t end;
    enum status status = replay_segment(recover, segment, stop, bytes, &end, err);
    if (status)
        return status;
    if (!last)
        return end == stop ? STATUS_OK
                           : damaged(segment, end, "a group is damaged and later ones exist", err);
    segment->end = end;
    return check_tail(segment, end, bytes, err);
}

static enum status check_from(uint64_t from, const struct journal_segment *first,
                              const struct journal_segment *last, struct err *err) {
    if (!first)
        return err_set(err, STATUS_CORRUPT,
                       "position %" PRIu64 " is asked for and the journal is empty", from);
    if (from < first->header.previous_end)
        return damaged(first, journal_segment_start(first),
                       "the journal starts here, behind the position asked for", err);
    if (from > last->end)
        return damaged(last, last->end, "the journal ends here, before the position asked for",
                       err);
    return STATUS_OK;
}

static enum status recover_linked(struct journal_recover *recover,
                                  const struct journal_table *table, struct buf *bytes,
                                  struct err *err) {
    struct journal_segment *first = NULL, *last = NULL;
    for (size_t i = 0; i < table->count; i++) {
        struct journal_segment *segment = table->segments[i];
        if (!segment->linked)
            continue;
        first = first ? first : segment;
        last = segment;
        bool is_last = i + 1 == table->count;
        recover->next_sequence = segment->header.first_sequence;
        if (!is_last && segment->end <= recover->from)
            continue;
        enum status status = recover_segment(recover, segment, is_last, bytes, err);
        if (status)
            return status;
    }
    return recover->from ? check_from(recover->from, first, last, err) : STATUS_OK;
}

enum status journal_recover(struct journal_recover *recover, const struct journal_table *table,
                            struct err *err) {
    struct buf bytes;
    buf_init_heap(&bytes, SIZE_MAX / 2);
    recover->next_sequence = 1;
    enum status status = recover_linked(recover, table, &bytes, err);
    buf_free(&bytes);
    return status;
}

/* After a failed fsync the page cache may have clean pages that the disk does not have. A process
 * that starts then would read them, and an fsync would not write them. So they are written again.
 */
static int write_again(const struct journal_segment *segment, uint64_t from) {
    const struct disk_vtable *vtable = segment->disk->vtable;
    uint8_t block[JOURNAL_BLOCK];
    int error = 0;
    for (uint64_t at = from; at < segment->end && !error; at += sizeof block) {
        uint64_t offset = at - segment->number * segment->bytes;
        error = vtable->read(segment->disk, segment->file, offset, block, sizeof block);
        if (!error)
            error = vtable->write(segment->disk, segment->file, offset, block, sizeof block);
    }
    return error;
}

enum status journal_recover_secure(const struct journal_recover *recover,
                                   const struct journal_segment *last, struct err *err) {
    uint64_t start = journal_segment_start(last);
    int error = write_again(last, recover->durable_end > start ? recover->durable_end : start);
    if (!error)
        error = last->disk->vtable->sync(last->disk, last->file);
    return error ? journal_segment_trouble(error, "syncing", last->number, err) : STATUS_OK;
}
