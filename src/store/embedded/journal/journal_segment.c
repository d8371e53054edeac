#include "store/embedded/journal/journal_segment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/embedded/journal/journal_file.h"

enum { NUMBER_DIGITS = 16, HEXADECIMAL = 16 };

static const char suffix[] = ".seg";

const char journal_segment_spare[] = "spare.tmp";

void journal_segment_name(uint64_t number, char name[JOURNAL_NAME_MAX]) {
    snprintf(name, JOURNAL_NAME_MAX, "%0*" PRIx64 "%s", NUMBER_DIGITS, number, suffix);
}

bool journal_segment_number(const char *name, uint64_t *out) {
    if (strlen(name) != NUMBER_DIGITS + sizeof suffix - 1 || strcmp(name + NUMBER_DIGITS, suffix))
        return false;
    if (strspn(name, "0123456789abcdef") != NUMBER_DIGITS)
        return false;
    *out = strtoull(name, NULL, HEXADECIMAL);
    return *out > 0;
}

bool journal_segment_path(const char *dir, const char *name, char path[JOURNAL_PATH_MAX]) {
    int len = snprintf(path, JOURNAL_PATH_MAX, "%s/%s", dir, name);
    return len > 0 && len < JOURNAL_PATH_MAX;
}

void journal_segment_free(struct journal_segment *segment) {
    if (segment && segment->file)
        segment->disk->vtable->close(segment->disk, segment->file);
    free(segment);
}

uint64_t journal_segment_start(const struct journal_segment *segment) {
    return segment->number * segment->bytes + JOURNAL_BLOCK;
}

bool journal_segment_is_empty(const struct journal_segment *segment) {
    return segment->end == journal_segment_start(segment);
}

enum status journal_segment_trouble(int error, const char *doing, uint64_t number,
                                    struct err *err) {
    char name[JOURNAL_NAME_MAX];
    journal_segment_name(number, name);
    bool full = error == ENOSPC || error == EDQUOT;
    return err_set(err, full ? STATUS_FULL : STATUS_IO, "journal segment %s: %s: %s", name, doing,
                   strerror(error));
}

static enum status read_at(const struct journal_segment *segment, uint64_t position, void *to,
                           size_t len, struct err *err) {
    int error = segment->disk->vtable->read(segment->disk, segment->file,
                                            position - segment->number * segment->bytes, to, len);
    if (error)
        return journal_segment_trouble(error, "reading", segment->number, err);
    return STATUS_OK;
}

enum status journal_segment_load(struct journal_segment *segment, struct err *err) {
    uint64_t size;
    int error = segment->disk->vtable->size(segment->disk, segment->file, &size);
    if (error)
        return journal_segment_trouble(error, "asking for its size", segment->number, err);
    segment->there = size < segment->bytes ? size : segment->bytes;
    segment->sound = false;
    if (size < JOURNAL_BLOCK)
        return STATUS_OK;
    uint8_t block[JOURNAL_BLOCK];
    enum status status =
        read_at(segment, segment->number * segment->bytes, block, sizeof block, err);
    if (status || !journal_format_get_header(block, &segment->header) ||
        segment->header.number != segment->number)
        return status;
    if (segment->header.version != JOURNAL_FORMAT_VERSION)
        return err_set(err, STATUS_CONFLICT,
                       "journal segment %016" PRIx64 "%s has format %" PRIu32
                       "; this impound knows %d",
                       segment->number, suffix, segment->header.version, JOURNAL_FORMAT_VERSION);
    if (segment->header.segment_bytes != segment->bytes)
        return err_set(err, STATUS_CONFLICT,
                       "the journal has segments of %" PRIu64 " bytes, not of %" PRIu64,
                       segment->header.segment_bytes, segment->bytes);
    segment->sound = segment->there == segment->bytes;
    return STATUS_OK;
}

/* Reads the header block at `position`; NOT_FOUND if no group of this segment can start there. */
static enum status probe(const struct journal_segment *segment, uint64_t position,
                         uint8_t block[JOURNAL_BLOCK], struct journal_group *out, struct err *err) {
    uint64_t limit = segment->number * segment->bytes + segment->there;
    if (position + JOURNAL_BLOCK > limit)
        return STATUS_NOT_FOUND;
    enum status status = read_at(segment, position, block, JOURNAL_BLOCK, err);
    if (status)
        return status;
    if (!journal_format_get_group(block, out) || out->segment != segment->number ||
        (segment->sound && out->salt != segment->header.salt) ||
        position + journal_format_group_size(out->payload) > limit)
        return STATUS_NOT_FOUND;
    return STATUS_OK;
}

enum status journal_segment_group(const struct journal_segment *segment, uint64_t position,
                                  struct buf *bytes, struct journal_group *out, struct err *err) {
    uint8_t block[JOURNAL_BLOCK];
    enum status status = probe(segment, position, block, out, err);
    if (status)
        return status;
    buf_clear(bytes);
    buf_put(bytes, block, sizeof block);
    size_t size = JOURNAL_GROUP_BYTES + (size_t)out->payload;
    if (size > JOURNAL_BLOCK) {
        char *rest = buf_room(bytes, size - JOURNAL_BLOCK);
        if (!rest)
            return err_set(err, STATUS_TOO_LARGE, "a journal group of %zu bytes", size);
        status = read_at(segment, position + JOURNAL_BLOCK, rest, size - JOURNAL_BLOCK, err);
        if (status)
            return status;
    }
    return journal_format_group_whole((const uint8_t *)bytes->ptr, out) ? STATUS_OK
                                                                        : STATUS_NOT_FOUND;
}

enum status journal_segment_records(
    uint64_t position, const struct buf *bytes, const struct journal_group *group,
    enum status (*visit)(void *arg, uint64_t position, struct bytes record), void *arg) {
    uint64_t at = JOURNAL_GROUP_BYTES, end = at + group->payload;
    for (uint32_t i = 0; i < group->count && at + JOURNAL_RECORD_BYTES <= end; i++) {
        const char *header = bytes->ptr + at;
        uint32_t len = journal_format_record_len((const uint8_t *)header);
        if (len > end - at - JOURNAL_RECORD_BYTES)
            break; /* a body that imitates a group: doctor reads without knowing the salt */
        enum status status =
            visit(arg, position + at, (struct bytes){header + JOURNAL_RECORD_BYTES, len});
        if (status)
            return status;
        at += JOURNAL_RECORD_BYTES + len;
    }
    return STATUS_OK;
}

enum status journal_segment_seek(const struct journal_segment *segment, uint64_t *position,
                                 struct buf *bytes, struct journal_group *out, struct err *err) {
    uint64_t limit = segment->number * segment->bytes + segment->there;
    for (; *position + JOURNAL_BLOCK <= limit; *position += JOURNAL_BLOCK) {
        enum status status = journal_segment_group(segment, *position, bytes, out, err);
        if (status != STATUS_NOT_FOUND)
            return status;
    }
    return STATUS_NOT_FOUND;
}
