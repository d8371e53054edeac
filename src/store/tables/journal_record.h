/* journal_record: the encoding of one change in the journal. All numbers little-endian:
 *
 *   0  u8   kind          1 put  2 update  3 forget  4 queue facts  5 queue name  6 keep  7 mark
 *   1  u8   1: a body follows the text
 *   2  u16  0
 *   4  u32  queue number (0: no queue, for notes only)
 *   8  u64  seq (0: none); keep: time of expiry, in milliseconds since 1970 (0: never)
 *  16  u32  length of the text
 *  20  …    text: stored envelope, spilled DLQ, queue facts JSON, queue name, space and name with a
 *           blank between them, mark JSON
 *      …    body, to the end
 *
 * Recipe for a change: add a kind, never a new meaning for an old one; readers refuse unknown
 * kinds, and docs/store.md lists the kinds that each version writes. */
#ifndef STORE_TABLES_JOURNAL_RECORD_H
#define STORE_TABLES_JOURNAL_RECORD_H

#include "store/tables/blob.h"

enum journal_record_kind {
    JOURNAL_RECORD_PUT = 1,
    JOURNAL_RECORD_UPDATE,
    JOURNAL_RECORD_FORGET,
    JOURNAL_RECORD_QUEUE_FACTS,
    JOURNAL_RECORD_QUEUE_NAME,
    JOURNAL_RECORD_KEEP,
    JOURNAL_RECORD_MARK,
};

struct journal_record {
    enum journal_record_kind kind;
    uint32_t queue;
    uint64_t seq;
    struct bytes text;
    struct bytes body; /* ptr NULL: none */
};

struct blob *journal_record_encode(const struct journal_record *record);
/* The seq of a PUT is known only when the commit is staged. */
void journal_record_set_seq(struct blob *encoded, uint64_t seq);
/* Returns slices of `bytes`; false if the bytes are not a record of a known kind. */
bool journal_record_decode(struct bytes bytes, struct journal_record *out);

#endif
