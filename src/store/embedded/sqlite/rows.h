/* rows: messages as rows of the SQLite file, with their bytes in the packs. Called inside the
 * fold's transaction, or for reading with the connection's lock. */
#ifndef STORE_EMBEDDED_SQLITE_ROWS_H
#define STORE_EMBEDDED_SQLITE_ROWS_H

#include "base/arena.h"
#include "base/buf.h"
#include "core/envelope/envelope.h"
#include "store/tables/mark.h"
#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite/list/error_texts.h"
#include "store/embedded/pages/pack.h"

struct row {
    uint64_t seq;
    uint32_t queue;
    struct bytes envelope; /* as envelope_store writes it */
    struct bytes mark;     /* the decision since the envelope was written; ptr NULL: none */
    struct bytes body;     /* ptr NULL: unchanged */
    bool fresh;            /* the file certainly has no row with that seq */
};

/* Inserts or updates. CORRUPT if the envelope cannot be read. */
enum status rows_write(struct database *database, struct error_texts *texts, const struct row *row,
                       struct err *err);
/* The same for an envelope that is already in a pack, at `place`. */
enum status rows_adopt(struct database *database, struct error_texts *texts, const struct row *row,
                       struct pack_place place, struct err *err);
/* New rows that are written a few at a time. Drafting appends a row's bytes to the packs and does
 * not use the SQLite connection, so another thread than the writing one may do it, while no other
 * thread puts or drops. */
struct rows_batch;
struct rows_batch *rows_batch_new(void);
void rows_batch_free(struct rows_batch *batch);
/* The bytes are copied; the mark must live until the batch is written. False: the row is too large,
 * or cannot be read; nothing was put, and rows_write must be used. */
bool rows_batch_draft(struct rows_batch *batch, struct packs *packs, const struct row *row);
size_t rows_batch_count(const struct rows_batch *batch); /* DATABASE_ROWS: the batch is full */
/* Writes all rows of the batch, and empties it. */
enum status rows_batch_write(struct rows_batch *batch, struct database *database,
                             struct error_texts *texts, struct err *err);
/* Writes the mark alone; `text` is its encoded form in the file. */
enum status rows_mark(struct database *database, uint64_t seq, const struct mark *mark,
                      struct bytes text, struct err *err);
/* Numbers without a row are ignored. */
enum status rows_delete(struct database *database, struct error_texts *texts, const uint64_t *seqs,
                        size_t count, struct err *err);
/* Reads envelope, mark and body. *found is false if there is no such row. The texts live in the
 * arena. */
enum status rows_read(struct database *database, uint64_t seq, struct arena *arena, struct row *out,
                      bool *found, struct err *err);

/* For doctor: envelope and body, each if it is intact; ptr NULL: damaged. In the arena. */
struct rows_halves {
    struct bytes envelope, body;
};
void rows_read_halves(struct database *database, uint64_t seq, struct arena *arena,
                      struct rows_halves *out);

/* ptr NULL: none. */
enum status rows_read_mark(struct database *database, uint64_t seq, struct arena *arena,
                           struct bytes *out);

/* The facts that the tables in memory need, from the columns of a row alone. */
struct row_facts {
    uint64_t seq;
    uint32_t queue;
    struct envelope envelope; /* only the members that an entry needs; the mark is applied */
    struct bytes mark;        /* ptr NULL: none */
};

/* By seq, and by queue and message id. The texts live in the arena. */
enum status rows_by_seq(struct database *database, uint64_t seq, struct arena *arena,
                        struct row_facts *out, bool *found, struct err *err);
enum status rows_by_id(struct database *database, uint32_t queue, struct bytes id,
                       struct arena *arena, struct row_facts *out, bool *found, struct err *err);
/* Reads the current row of a statement that selects DATABASE_FACTS. */
enum status rows_facts(sqlite3_stmt *stmt, struct arena *arena, struct row_facts *out,
                       struct err *err);

#endif
