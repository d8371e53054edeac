/* batch: a commit on its way: encoded, prepared, staged against the tables, then applied or undone.
 *
 *   commit_batch_new  →  commit_batch_prepare  →  commit_batch_stage  →  written  →
 * commit_batch_apply (no lock)        (lock)            (lock)                      (lock) ↓
 * refused     ↓ failed commit_batch_undo    commit_batch_undo (lock)
 *
 * After commit_batch_prepare nothing of the caller's is read but the ops themselves, so that
 * staging may happen later, on a thread of the store: between the two the store reads what staging
 * wants and memory does not have (commit_batch_wants), and restores it into the tables. Staging
 * itself looks into memory alone. It reserves the ids of what is put and pins what is changed, so
 * that applying cannot fail. */
#ifndef STORE_TABLES_COMMIT_BATCH_H
#define STORE_TABLES_COMMIT_BATCH_H

#include "port/store.h"
#include "store/tables/journal_record.h"
#include "store/tables/tables.h"

/* What a store does besides keeping tables. */
struct commit_batch_hooks {
    void *arg;
    /* It was put or changed by the record at `position`; with a body when `body`. */
    void (*changed)(void *arg, struct entry *entry, uint64_t position, bool body);
    /* It was marked; its envelope stays where it is. */
    void (*marked)(void *arg, struct entry *entry);
    /* This commit needs it no more. It is dropped when nobody does. */
    void (*released)(void *arg, struct entry *entry);
};

struct commit_batch_op {
    enum store_op_kind kind;
    struct queue_table *queue;  /* NULL: of no queue */
    struct entry *fresh;        /* PUT, prepared and not staged: of no table yet */
    struct entry *entry;        /* NULL: none is put or changed */
    struct entry_facts facts;   /* UPDATE */
    struct blob *record;        /* NULL: a duplicate, or skipped */
    const struct name *spilled; /* FORGET */
};

/* A body in a file of its own that an op puts, changes or leaves (sqlite/large.h). */
struct commit_batch_large {
    size_t place;  /* of the op */
    char name[40]; /* of the file that it names from now on; "": as before */
    char old[40];  /* of the file that it names no more; "": none */
    char *body;    /* what is to be written under `name`; NULL: it is there */
    size_t len;
};

struct commit_batch {
    struct commit_batch *next;
    struct store_commit *commit;
    enum status status;
    uint64_t ticket;                  /* its place in the order of commits */
    uint64_t leans_first, leans_last; /* tickets of commits whose ids it duplicates; 0: none */
    struct blob **names;              /* records of queue names that are not on disk yet */
    size_t name_count;
    size_t records, bytes;            /* of names and ops together */
    struct commit_batch_large *large; /* by place */
    size_t large_count;
    size_t count;
    struct commit_batch_op ops[];
};

/* True when something of its queue may be ready after it. */
bool commit_batch_op_wakes(const struct commit_batch_op *op);
/* NULL when there is no memory, which commit->err then says. */
struct commit_batch *commit_batch_new(struct store_commit *commit);
void commit_batch_free(struct commit_batch *batch);
/* What staging needs of envelopes and texts, which are the caller's until submit returns. */
void commit_batch_prepare(struct commit_batch *batch, struct tables *tables);
/* Whether op `place` asks for a message that the tables do not have, but the store may hold: by
 * *seq, or where that is 0 by *id. */
bool commit_batch_wants(const struct commit_batch *batch, size_t place, const struct tables *tables,
                        uint64_t *seq, struct bytes *id);
/* Sets seq, duplicate and skipped of the commit's ops. On trouble the commit's err and refused are
 * set and nothing is left behind but the batch itself. */
enum status commit_batch_stage(struct commit_batch *batch, uint64_t ticket, struct tables *tables,
                               const struct commit_batch_hooks *hooks);
void commit_batch_undo(struct commit_batch *batch, struct tables *tables,
                       const struct commit_batch_hooks *hooks);
/* All its records, in the order in which they are applied. */
void commit_batch_records(const struct commit_batch *batch, struct bytes *out);
/* positions[i] is where record i stands; NULL: nowhere. */
void commit_batch_apply(struct commit_batch *batch, struct tables *tables,
                        const struct commit_batch_hooks *hooks, const uint64_t *positions,
                        const struct instant *now);

#endif
