#include "store/tables/op_record.h"

#include <assert.h>
#include <stdlib.h>

#include "store/tables/notes.h"
#include "store/tables/mark.h"

static struct blob *encode_envelope(enum journal_record_kind kind, const struct store_op *op,
                                    struct buf *scratch) {
    buf_clear(scratch);
    envelope_store(op->envelope, scratch);
    assert(!scratch->overflow);
    struct journal_record record = {.kind = kind,
                                    .queue = op->queue,
                                    .seq = op->seq,
                                    .text = buf_view(scratch),
                                    .body = op->body};
    if (kind == JOURNAL_RECORD_PUT && !op->body.ptr)
        record.body = BYTES("");
    return journal_record_encode(&record);
}

static struct blob *encode_mark(const struct store_op *op, struct buf *scratch) {
    struct mark mark = mark_of(&op->mark);
    buf_clear(scratch);
    mark_put(&mark, scratch);
    assert(!scratch->overflow);
    return journal_record_encode(&(struct journal_record){.kind = JOURNAL_RECORD_MARK,
                                                          .queue = op->queue,
                                                          .seq = op->seq,
                                                          .text = buf_view(scratch)});
}

struct blob *op_record(const struct store_op *op, struct buf *scratch) {
    switch (op->kind) {
    case STORE_PUT:
        return encode_envelope(JOURNAL_RECORD_PUT, op, scratch);
    case STORE_UPDATE:
        return encode_envelope(JOURNAL_RECORD_UPDATE, op, scratch);
    case STORE_FORGET:
        return journal_record_encode(&(struct journal_record){.kind = JOURNAL_RECORD_FORGET,
                                                              .queue = op->queue,
                                                              .seq = op->seq,
                                                              .text = op->spilled_dlq});
    case STORE_QUEUE:
        return journal_record_encode(&(struct journal_record){
            .kind = JOURNAL_RECORD_QUEUE_FACTS, .queue = op->queue, .text = op->queue_facts});
    case STORE_MARK:
        return encode_mark(op, scratch);
    case STORE_KEEP:
        return notes_encode(op->queue, &op->keep);
    }
    abort();
}
