/* commit_batch: a commit in progress: encoded, prepared, staged against the tables, then applied or
 * undone.
 *
 *   commit_batch_new       encodes the records (no lock)
 *   commit_batch_prepare   makes the entries (lock)
 *   commit_batch_stage     reserves and pins (lock); if refused, undoes its own changes
 *   written to the journal (no lock)
 *   commit_batch_apply     if durable (lock)
 *   commit_batch_undo      if the write failed (lock)
 *
 * After commit_batch_prepare nothing that belongs to the caller is read except the ops themselves,
 * so that staging may happen later, on a thread of the store. Between the two the store loads the
 * messages that staging needs and memory does not have (commit_batch_wants), and restores them into
 * the tables. Staging itself reads memory only. It reserves the ids of new messages and pins
 * changed ones, so that applying cannot fail. */
#ifndef STORE_TABLES_COMMIT_BATCH_H
#define STORE_TABLES_COMMIT_BATCH_H

#include "port/store.h"
#include "store/tables/journal_record.h"
#include "store/tables/tables.h"

/* Callbacks into the store that owns the tables. */
struct commit_batch_hooks {
    void *arg;
    /* The entry was put or changed by the record at `position`; `body`: the record has a body. */
    void (*changed)(void *arg, struct entry *entry, uint64_t position, bool body);
    /* The entry was marked; its envelope is not rewritten. */
    void (*marked)(void *arg, struct entry *entry);
    /* This commit does not need the entry any more. The store drops it if nothing else does. */
    void (*released)(void *arg, struct entry *entry);
};

struct commit_batch_op {
    enum store_op_kind kind;
    struct queue_table *queue;  /* NULL: no queue */
    struct entry *fresh;        /* PUT, prepared and not staged: in no table yet */
    struct entry *entry;        /* NULL: the op puts or changes no message */
    struct entry_facts facts;   /* UPDATE */
    struct blob *record;        /* NULL: a duplicate, or skipped */
    const struct name *spilled; /* FORGET */
};

/* A body in a file of its own that an op writes, keeps or removes (pages/large.h). */
struct commit_batch_large {
    size_t place;  /* index of the op */
    char name[40]; /* the file that the op refers to from now on; "": unchanged */
    char old[40];  /* the file that the op refers to no longer; "": none */
    char *body;    /* contents to be written to `name`; NULL: already written */
    size_t len;
};

struct commit_batch {
    struct commit_batch *next;
    struct store_commit *commit;
    enum status status;
    uint64_t ticket; /* position in the order of commits */
    /* Range of the tickets of commits whose ids it duplicates; 0: none. */
    uint64_t leans_first, leans_last;
    struct blob **names; /* records of queue names that are not on disk yet */
    size_t name_count;
    size_t records, bytes;            /* of names and ops together */
    struct commit_batch_large *large; /* sorted by place */
    size_t large_count;
    size_t count;
    struct commit_batch_op ops[];
};

/* True if a message of the op's queue may become ready when the op is applied. */
bool commit_batch_op_wakes(const struct commit_batch_op *op);
/* NULL if there is no memory; commit->err is set then. */
struct commit_batch *commit_batch_new(struct store_commit *commit);
void commit_batch_free(struct commit_batch *batch);
/* Copies everything that staging needs from envelopes and texts, because they belong to the caller
 * again when submit returns. */
void commit_batch_prepare(struct commit_batch *batch, struct tables *tables);
/* True if op `place` refers to a message that is not in the tables, but may be in the store's file:
 * identified by *seq, or if that is 0 by *id. */
bool commit_batch_wants(const struct commit_batch *batch, size_t place, const struct tables *tables,
                        uint64_t *seq, struct bytes *id);
/* Sets seq, duplicate and skipped of the commit's ops. On an error the commit's err and refused are
 * set and all changes to the tables are undone. */
enum status commit_batch_stage(struct commit_batch *batch, uint64_t ticket, struct tables *tables,
                               const struct commit_batch_hooks *hooks);
void commit_batch_undo(struct commit_batch *batch, struct tables *tables,
                       const struct commit_batch_hooks *hooks);
/* All records of the batch, in the order in which they are applied. */
void commit_batch_records(const struct commit_batch *batch, struct bytes *out);
/* positions[i] is the journal position of record i; NULL: there is no journal. */
void commit_batch_apply(struct commit_batch *batch, struct tables *tables,
                        const struct commit_batch_hooks *hooks, const uint64_t *positions,
                        const struct instant *now);

#endif
