/* Unlike recovery, which stops at the first damage, this continues after it, and trusts a link only
 * if the header that contains it is intact. */
#include "store/embedded/journal/journal_file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "store/embedded/journal/journal_table.h"

struct verify {
    struct journal_table table;
    struct buf *report;
    void (*salvage)(void *arg, uint64_t position, struct bytes record);
    void *arg;
    struct buf bytes; /* of the current group */
    bool damaged;
};

static enum status give(void *arg, uint64_t position, struct bytes record) {
    struct verify *verify = arg;
    if (verify->salvage)
        verify->salvage(verify->arg, position, record);
    return STATUS_OK;
}

static void find(struct verify *verify, const struct journal_segment *segment, uint64_t position,
                 const char *what) {
    char name[JOURNAL_NAME_MAX];
    journal_segment_name(segment->number, name);
    buf_printf(verify->report, "journal segment %s, offset %" PRIu64 ": %s\n", name,
               position - segment->number * segment->bytes, what);
    verify->damaged = true;
}

/* The end of the groups of a segment. */
struct extent {
    uint64_t limit;
    bool exact; /* recorded by a later segment; otherwise the end of the file */
};

/* From the last segment backwards, each intact header records where the previous segment ends, and
 * that those between are not part of the journal. Before a damaged header this is not known. */
static void measure(const struct journal_table *table, struct extent *extents) {
    const struct journal_segment *witness = NULL;
    for (size_t i = table->count; i-- > 0;) {
        const struct journal_segment *segment = table->segments[i];
        if (witness && witness->header.previous < segment->number) {
            extents[i] = (struct extent){journal_segment_start(segment), true};
            continue;
        }
        bool told = witness && witness->header.previous == segment->number;
        extents[i].exact = told;
        extents[i].limit =
            told ? witness->header.previous_end : (segment->number + 1) * segment->bytes;
        witness = segment->sound ? segment : NULL;
    }
}

/* Bad blocks before `to` are damage if a group after them is part of the journal or shows that they
 * were synced. */
static void judge_gap(struct verify *verify, const struct journal_segment *segment, uint64_t from,
                      uint64_t to, bool known) {
    if (from < to && known)
        find(verify, segment, from, "no whole group; going on behind it");
}

static enum status verify_groups(struct verify *verify, const struct journal_segment *segment,
                                 struct extent extent, struct err *err) {
    uint64_t expected = journal_segment_start(segment);
    uint64_t position = expected;
    while (position < extent.limit) {
        struct journal_group group;
        enum status status = journal_segment_seek(segment, &position, &verify->bytes, &group, err);
        if (status == STATUS_NOT_FOUND || position >= extent.limit)
            break;
        if (status)
            return status;
        bool torn = !extent.exact && position > expected && group.durable_end <= expected;
        if (torn) /* unsynced, after the torn tail of a crash: recovery cuts it too */
            break;
        judge_gap(verify, segment, expected, position, true);
        journal_segment_records(position, &verify->bytes, &group, give, verify);
        position += journal_format_group_size(group.payload);
        expected = position;
    }
    judge_gap(verify, segment, expected, extent.limit, extent.exact);
    return STATUS_OK;
}

static enum status verify_all(struct verify *verify, struct err *err) {
    enum status status = STATUS_OK;
    struct extent *extents = memory_array(verify->table.count, sizeof *extents);
    measure(&verify->table, extents);
    for (size_t i = 0; i < verify->table.count && !status; i++) {
        const struct journal_segment *segment = verify->table.segments[i];
        if (!segment->sound && extents[i].limit > journal_segment_start(segment))
            find(verify, segment, segment->number * segment->bytes,
                 segment->there < segment->bytes ? "the file was cut short"
                                                 : "the header is damaged");
        status = verify_groups(verify, segment, extents[i], err);
    }
    free(extents);
    return status;
}

enum status journal_verify(const struct journal_options *options, struct buf *report,
                           void (*salvage)(void *arg, uint64_t position, struct bytes record),
                           void *arg, struct err *err) {
    struct journal_options known = *options;
    if (!known.segment_bytes)
        known.segment_bytes = JOURNAL_SEGMENT_BYTES;
    struct verify verify = {.report = report, .salvage = salvage, .arg = arg};
    enum status status = journal_table_load(&verify.table, &known, err);
    if (status)
        return status;
    buf_init_heap(&verify.bytes, SIZE_MAX / 2);
    status = verify_all(&verify, err);
    buf_free(&verify.bytes);
    journal_table_free(&verify.table);
    if (!status && verify.damaged)
        return err_set(err, STATUS_CORRUPT, "the journal in %s is damaged", options->dir);
    return status;
}
