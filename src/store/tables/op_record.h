/* op_record: encodes one op of a commit as a journal record. */
#ifndef STORE_TABLES_OP_RECORD_H
#define STORE_TABLES_OP_RECORD_H

#include "port/store.h"
#include "store/tables/journal_record.h"

/* `scratch` is overwritten. The seq of a PUT is not known yet (journal_record_set_seq). */
struct blob *op_record(const struct store_op *op, struct buf *scratch);

#endif
