/* rows: messages as rows of the SQLite file, their bytes in the packs beside it. Called inside the
 * fold's transaction, or in a connection's lock for reading. */
#ifndef STORE_EMBEDDED_SQLITE_ROWS_H
#define STORE_EMBEDDED_SQLITE_ROWS_H

#include "base/arena.h"
#include "base/buf.h"
#include "core/envelope/envelope.h"
#include "store/tables/mark.h"
#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite/error_texts.h"
#include "store/embedded/pages/pack.h"

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
/* The same of an envelope that stands in a pack already, at `place`. */
enum status rows_adopt(struct database *database, struct error_texts *texts, const struct row *row,
                       struct pack_place place, struct err *err);
/* Fresh rows on their way into the file, a few at a time. Drafting puts a row's bytes into the
 * packs and touches nothing else of the file, so another thread than the writing one may do it,
 * while nobody else puts or drops. */
struct rows_batch;
struct rows_batch *rows_batch_new(void);
void rows_batch_free(struct rows_batch *batch);
/* Its bytes are copied, its mark must live until the batch is written. False: it is too large, or
 * cannot be read, and nothing was put: it is for rows_write. */
bool rows_batch_draft(struct rows_batch *batch, struct packs *packs, const struct row *row);
size_t rows_batch_count(const struct rows_batch *batch); /* DATABASE_ROWS: full */
/* All of it; it is empty afterwards. */
enum status rows_batch_write(struct rows_batch *batch, struct database *database,
                             struct error_texts *texts, struct err *err);
/* The mark alone; `text` is what stands in the file of it. */
enum status rows_mark(struct database *database, uint64_t seq, const struct mark *mark,
                      struct bytes text, struct err *err);
/* Numbers that no row has are passed over. */
enum status rows_delete(struct database *database, struct error_texts *texts, const uint64_t *seqs,
                        size_t count, struct err *err);
/* Envelope, mark and body. *found is false when there is no such row. The texts live in the arena.
 */
enum status rows_read(struct database *database, uint64_t seq, struct arena *arena, struct row *out,
                      bool *found, struct err *err);

/* For doctor: whichever of the two is whole; ptr NULL: it is not. In the arena. */
struct rows_halves {
    struct bytes envelope, body;
};
void rows_read_halves(struct database *database, uint64_t seq, struct arena *arena,
                      struct rows_halves *out);

/* ptr NULL: none. */
enum status rows_read_mark(struct database *database, uint64_t seq, struct arena *arena,
                           struct bytes *out);

/* What the tables in memory need of a row, from its columns alone. */
struct row_facts {
    uint64_t seq;
    uint32_t queue;
    struct envelope envelope; /* no more than entries are made from; the mark is applied */
    struct bytes mark;        /* ptr NULL: none */
};

/* By number, and by queue and message id. The texts live in the arena. */
enum status rows_by_seq(struct database *database, uint64_t seq, struct arena *arena,
                        struct row_facts *out, bool *found, struct err *err);
enum status rows_by_id(struct database *database, uint32_t queue, struct bytes id,
                       struct arena *arena, struct row_facts *out, bool *found, struct err *err);
/* Of a statement that selects DATABASE_FACTS and stands on a row. */
enum status rows_facts(sqlite3_stmt *stmt, struct arena *arena, struct row_facts *out,
                       struct err *err);

#endif
