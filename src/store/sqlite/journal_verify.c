/* Unlike recovery, which stops at the first damage, this goes on behind it, and trusts a link only
 * when the header that makes it is whole. */
#include "store/sqlite/journal.h"

#include <inttypes.h>

#include "store/sqlite/journal_table.h"

struct verify {
    struct journal_table table;
    struct buf *report;
    void (*salvage)(void *arg, uint64_t position, struct bytes record);
    void *arg;
    struct buf bytes; /* of the group at hand */
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

/* The nearest later segment that tells what came before it, or NULL. */
static const struct journal_segment *witness(const struct journal_table *table, size_t i) {
    for (size_t later = i + 1; later < table->count; later++)
        if (table->segments[later]->sound)
            return table->segments[later];
    return NULL;
}

/* Where the groups of segment i end at the latest. The file's end, when nobody tells; its start,
 * when a later segment says that nothing here counts. */
static uint64_t limit_of(const struct journal_table *table, size_t i, bool *exact) {
    const struct journal_segment *segment = table->segments[i];
    const struct journal_segment *later = witness(table, i);
    *exact = later && later->header.previous <= segment->number;
    if (later && later->header.previous == segment->number)
        return later->header.previous_end;
    if (later && later->header.previous < segment->number)
        return journal_segment_start(segment);
    return (segment->number + 1) * segment->bytes;
}

/* Bad blocks before `to` are damage when a group behind them counts or is known to have been
 * synced. */
static void judge_gap(struct verify *verify, const struct journal_segment *segment, uint64_t from,
                      uint64_t to, bool known) {
    if (from < to && known)
        find(verify, segment, from, "no whole group; going on behind it");
}

static enum status verify_groups(struct verify *verify, const struct journal_segment *segment,
                                 uint64_t limit, bool exact, struct err *err) {
    uint64_t expected = journal_segment_start(segment);
    uint64_t position = expected;
    while (position < limit) {
        struct journal_group group;
        enum status status = journal_segment_seek(segment, &position, &verify->bytes, &group, err);
        if (status == STATUS_NOT_FOUND || position >= limit)
            break;
        if (status)
            return status;
        bool torn = !exact && position > expected && group.durable_end <= expected;
        if (torn) /* unsynced, behind what a crash took: recovery cuts it too */
            break;
        judge_gap(verify, segment, expected, position, true);
        journal_segment_records(position, &verify->bytes, &group, give, verify);
        position += journal_format_group_size(group.payload);
        expected = position;
    }
    judge_gap(verify, segment, expected, limit, exact);
    return STATUS_OK;
}

static enum status verify_all(struct verify *verify, struct err *err) {
    for (size_t i = 0; i < verify->table.count; i++) {
        struct journal_segment *segment = verify->table.segments[i];
        bool exact;
        uint64_t limit = limit_of(&verify->table, i, &exact);
        if (!segment->sound && limit > journal_segment_start(segment))
            find(verify, segment, segment->number * segment->bytes,
                 segment->there < segment->bytes ? "the file was cut short"
                                                 : "the header is damaged");
        enum status status = verify_groups(verify, segment, limit, exact, err);
        if (status)
            return status;
    }
    return STATUS_OK;
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
