/* Any bytes as a record of the journal: no record, or one that encodes to the same bytes; the same
 * of a text that is kept; and a mark that is read again as it was written. */
#include "fuzz.h"

#include "store/tables/notes.h"
#include "store/tables/mark.h"

static void check_keep(const struct journal_record *record, size_t size) {
    struct notes_decoded decoded;
    if (!notes_decode(record, &decoded))
        return;
    struct blob *again = notes_encode(record->queue, &decoded.keep);
    FUZZ_CHECK(again->len == size);
    blob_free(again);
}

static void check_mark(struct bytes text) {
    struct arena arena;
    arena_init_heap(&arena, 256);
    struct mark mark, same;
    if (mark_decode(text, &arena, &mark)) {
        struct blob *again = mark_encode(&mark);
        FUZZ_CHECK(mark_decode((struct bytes){again->data, again->len}, &arena, &same));
        FUZZ_CHECK(same.state == mark.state && same.resolution == mark.resolution);
        FUZZ_CHECK(same.resolved_at.ms == mark.resolved_at.ms &&
                   same.escalated_at.ms == mark.escalated_at.ms);
        blob_free(again);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct journal_record record;
    if (!journal_record_decode(fuzz_text(data, size), &record))
        return 0;
    FUZZ_CHECK(record.text.len + record.body.len <= size);
    struct blob *again = journal_record_encode(&record);
    journal_record_set_seq(again, record.seq);
    FUZZ_CHECK(again->len == size);
    blob_free(again);
    if (record.kind == JOURNAL_RECORD_KEEP)
        check_keep(&record, size);
    if (record.kind == JOURNAL_RECORD_MARK)
        check_mark(record.text);
    return 0;
}
