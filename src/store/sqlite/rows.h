/* rows: messages as rows of the SQLite file. Called inside the fold's transaction, or in a
 * connection's lock for reading. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "base/arena.h"
#include "base/buf.h"
#include "core/envelope.h"
#include "store/sqlite/database.h"
#include "store/sqlite/error_texts.h"

struct row {
    uint64_t seq;
    uint32_t queue;
    struct bytes envelope; /* as envelope_store writes it */
    struct bytes mark;     /* what was decided since; ptr NULL: nothing */
    struct bytes body;     /* ptr NULL: as it was */
    bool fresh;            /* the file has no row of that number, for certain */
};

/* Inserts or updates. CORRUPT when the envelope cannot be read. */
enum status rows_write(struct database *database, struct error_texts *texts, const struct row *row,
                       struct err *err);
/* The row stays as it is but for its mark. */
enum status rows_mark(struct database *database, uint64_t seq, struct bytes mark, struct err *err);
enum status rows_delete(struct database *database, struct error_texts *texts, uint64_t seq,
                        struct err *err);
/* *found is false when there is no such row. The texts live in the arena. */
enum status rows_read(struct database *database, uint64_t seq, struct arena *arena, struct row *out,
                      bool *found, struct err *err);
/* The same without the body: by number, and by queue and message id. */
enum status rows_by_seq(struct database *database, uint64_t seq, struct arena *arena,
                        struct row *out, bool *found, struct err *err);
enum status rows_by_id(struct database *database, uint32_t queue, struct bytes id,
                       struct arena *arena, struct row *out, bool *found, struct err *err);

#endif
