/* op_record: one op of a commit as the record that the journal gets. */
#ifndef STORE_OP_RECORD_H
#define STORE_OP_RECORD_H

#include "port/store.h"
#include "store/record.h"

/* `scratch` is overwritten. A PUT's number is not known yet (record_set_seq). */
struct blob *op_record(const struct store_op *op, struct buf *scratch);

#endif
