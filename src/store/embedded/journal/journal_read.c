#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "store/embedded/journal/journal_rotate.h"

/* A pinned segment keeps its file and its bytes until it is unpinned. */
static struct journal_segment *pin(struct journal_files *journal, uint64_t position,
                                   uint64_t *end) {
    pthread_mutex_lock(&journal->lock);
    struct journal_segment *segment =
        journal_table_find(&journal->table, position / journal->options.segment_bytes);
    if (segment &&
        (!segment->linked || segment->reusable || position + JOURNAL_RECORD_BYTES > segment->end))
        segment = NULL;
    if (segment)
        segment->pins++;
    *end = segment ? segment->end : 0;
    pthread_mutex_unlock(&journal->lock);
    return segment;
}

static void let_go(struct journal_files *journal, struct journal_segment *segment) {
    pthread_mutex_lock(&journal->lock);
    segment->pins--;
    pthread_mutex_unlock(&journal->lock);
}

static enum status not_a_record(const struct journal_segment *segment, uint64_t offset,
                                struct err *err) {
    char name[JOURNAL_NAME_MAX];
    journal_segment_name(segment->number, name);
    return err_set(err, STATUS_CORRUPT, "journal segment %s, offset %" PRIu64 ": no whole record",
                   name, offset);
}

/* ---- windows ---- */

static bool holds(const struct journal_window *window, uint64_t position, uint64_t bytes) {
    return position >= window->start && position + bytes <= window->start + window->len;
}

/* Reads at least `bytes` from the position on, and more if available. */
static enum status fill(struct journal_window *window, const struct journal_segment *segment,
                        uint64_t position, uint64_t bytes, uint64_t end, struct err *err) {
    uint64_t offset = position - segment->number * segment->bytes;
    uint64_t len = end - position < window->ahead ? end - position : window->ahead;
    if (len < bytes)
        len = bytes;
    window->len = 0;
    if (bytes > end - position)
        return not_a_record(segment, offset, err);
    if (len > window->cap) {
        uint8_t *grown = memory_try(window->bytes, len);
        if (!grown)
            return err_set(err, STATUS_BUSY, "there is no memory to read %" PRIu64 " bytes", len);
        window->bytes = grown;
        window->cap = len;
    }
    int error = segment->disk->vtable->read(segment->disk, segment->file, offset, window->bytes,
                                            (size_t)len);
    if (error)
        return journal_segment_trouble(error, "reading", segment->number, err);
    window->start = position;
    window->len = len;
    return STATUS_OK;
}

static enum status look(struct journal_window *window, const struct journal_segment *segment,
                        uint64_t position, uint64_t bytes, uint64_t end, struct err *err) {
    return holds(window, position, bytes) ? STATUS_OK
                                          : fill(window, segment, position, bytes, end, err);
}

static enum status read_pinned(struct journal_window *window, const struct journal_segment *segment,
                               uint64_t position, uint64_t end, struct bytes *out,
                               struct err *err) {
    enum status status = look(window, segment, position, JOURNAL_RECORD_BYTES, end, err);
    if (status != STATUS_OK)
        return status;
    const uint8_t *record = window->bytes + (position - window->start);
    uint64_t len = journal_format_record_len(record);
    status = look(window, segment, position, JOURNAL_RECORD_BYTES + len, end, err);
    if (status != STATUS_OK)
        return status;
    record = window->bytes + (position - window->start);
    if (!journal_format_record_whole(record, position))
        return not_a_record(segment, position - segment->number * segment->bytes, err);
    *out = (struct bytes){(const char *)record + JOURNAL_RECORD_BYTES, (size_t)len};
    return STATUS_OK;
}

enum status journal_read(struct journal_files *journal, uint64_t position,
                         struct journal_window *window, struct bytes *out, struct err *err) {
    uint64_t end;
    struct journal_segment *segment = pin(journal, position, &end);
    if (!segment)
        return err_set(err, STATUS_NOT_FOUND, "the journal holds no position %" PRIu64, position);
    enum status status = read_pinned(window, segment, position, end, out, err);
    let_go(journal, segment);
    return status;
}
