/* letters: reads a store, for triage and the server.
 *
 * The engine's port is port/store.h. This one reads: a message or letter by its id, pages and sums
 * of letters, groups, DLQ counters, and notes. A read may go to a database and wait for it, so no
 * function here is called on the engine's thread or on a thread of the HTTP loop; every one returns
 * a status, because every one can fail.
 *
 * A note is a text under (space, name), written by STORE_KEEP as part of a commit. The store gives
 * spaces no meaning: they belong to the callers, who name them (core/note_space.h).
 *
 * Every function may be called from several threads at once. */
#ifndef PORT_LETTERS_H
#define PORT_LETTERS_H

#include "port/store.h"

enum letters_tristate { LETTERS_ANY, LETTERS_NO, LETTERS_YES };

struct letters_query {
    struct bytes queue, dlq;                               /* empty: any */
    uint32_t states;                                       /* bit per enum state; 0: any */
    struct bytes category, reason_prefix, error_type, key; /* empty: any */
    struct bytes text;                                     /* full-text search; empty: any */
    bool has_cause;
    enum cause cause;
    bool has_fingerprint;
    uint64_t fingerprint;
    /* since ≤ t < until, by dead_at for letters, created_at for live ones; 0: open. */
    struct wall since, until;
    uint32_t min_attempts;
    enum letters_tristate escalated;
    bool letters; /* only messages that have a letter id */
    /* Default: newest first. Letters that arrive between two pages are listed last. */
    bool oldest_first;
    size_t limit;
    struct bytes cursor; /* the cursor of the previous page; empty: the first page */
};

struct letters_row {
    uint64_t seq;
    /* As envelope_store writes it, with the current state; ptr NULL: damaged. */
    struct bytes envelope;
    struct bytes id; /* if the envelope is damaged: the letter id, else the message id */
};

/* Newest first, unless the query says otherwise. Lives in the arena that was passed. */
struct letters_page {
    struct letters_row *rows;
    size_t count;
    struct bytes cursor; /* ptr NULL: that was the last page */
    uint64_t unlisted;   /* number of committed changes that lists do not show yet */
};

/* Counts of the letters that a query selects. */
struct letters_sum {
    uint64_t count[STATE_COUNT];
    uint64_t adopted;   /* number of letters with CAUSE_ADOPTED. An upper bound: only 0 is exact */
    struct wall newest; /* dead_at of the newest; WALL_NEVER: there is none */
    uint64_t unlisted;  /* as in a page */
};

enum { LETTERS_AGE_BUCKETS = 6 }; /* ≤1m ≤10m ≤1h ≤6h ≤24h older */

struct letters_dlq {
    struct bytes name;
    uint64_t depth;
    uint64_t spilled;
    uint64_t total; /* number of letters that ever arrived */
    uint64_t by_state[STATE_COUNT];
    uint64_t arrivals_last_minute;
    struct wall oldest; /* dead_at of the oldest letter in depth; WALL_NEVER: none */
    struct store_count *by_category, *by_reason; /* letters in depth, largest count first */
    size_t category_count, reason_count;
    uint64_t ages[LETTERS_AGE_BUCKETS]; /* letters in depth, not cumulative */
    /* Letters that ever arrived, by "category\0reason": for impound_dlq_letters_total. */
    struct store_count *arrived;
    size_t arrived_count;
};

struct letters_note {
    struct bytes name, value;
};

/* The letters of one DLQ with one fingerprint. */
struct letters_group {
    uint64_t fingerprint;
    struct bytes dlq;
    uint64_t count;                    /* letters in depth; 0: all were resolved or discarded */
    uint64_t total;                    /* letters that ever arrived */
    struct wall first_seen, last_seen; /* by dead_at */
    /* Seq of the last letter, whose envelope serves as an example of the group. */
    uint64_t sample;
};

struct letters_vtable {
    enum status (*get)(struct letters *letters, struct bytes queue, struct bytes id,
                       struct message **out, struct err *err);
    enum status (*get_seq)(struct letters *letters, uint64_t seq, struct message **out,
                           struct err *err);
    enum status (*holds)(struct letters *letters, uint32_t queue, const struct bytes *ids,
                         size_t count, bool *out, struct err *err);
    enum status (*list)(struct letters *letters, const struct letters_query *query,
                        struct arena *arena, struct letters_page *out, struct err *err);
    enum status (*sum)(struct letters *letters, const struct letters_query *query,
                       struct letters_sum *out, struct err *err);
    enum status (*note)(struct letters *letters, uint32_t queue, const char *space,
                        struct bytes name, struct wall now, struct arena *arena,
                        struct bytes *value, struct err *err);
    enum status (*notes)(struct letters *letters, const char *space, struct bytes prefix,
                         struct bytes after, bool descending, size_t limit, struct arena *arena,
                         struct letters_note *out, size_t *count, struct err *err);
    enum status (*groups)(struct letters *letters, struct bytes dlq, struct arena *arena,
                          struct letters_group **out, size_t *count, struct err *err);
    enum status (*dlq)(struct letters *letters, struct bytes name, struct wall now,
                       struct arena *arena, struct letters_dlq *out, struct err *err);
    enum status (*dlq_names)(struct letters *letters, struct arena *arena, struct bytes **out,
                             size_t *count, struct err *err);
};

struct letters {
    const struct letters_vtable *vtable;
};

/* Finds by message id (in `queue`, or in any queue if it is empty) or by letter id. NOT_FOUND;
 * CONFLICT if several queues hold it (err lists them). If one queue has several: the one that is
 * neither resolved nor discarded, else the newest. Always current. */
static inline enum status letters_get(struct letters *letters, struct bytes queue, struct bytes id,
                                      struct message **out, struct err *err) {
    return letters->vtable->get(letters, queue, id, out, err);
}

/* Finds by seq, whatever the state. NOT_FOUND; another error if it is held but cannot be read.
 * Always current. */
static inline enum status letters_get_seq(struct letters *letters, uint64_t seq,
                                          struct message **out, struct err *err) {
    return letters->vtable->get_seq(letters, seq, out, err);
}

/* Which of these message ids the queue holds, in any state. Always current. */
static inline enum status letters_holds(struct letters *letters, uint32_t queue,
                                        const struct bytes *ids, size_t count, bool *out,
                                        struct err *err) {
    return letters->vtable->holds(letters, queue, ids, count, out, err);
}

/* Waits at most 2 s until lists show all commits made before the call. A row that cannot be read is
 * listed without its envelope. INVALID if the cursor or the search text cannot be parsed. */
static inline enum status letters_list(struct letters *letters, const struct letters_query *query,
                                       struct arena *arena, struct letters_page *out,
                                       struct err *err) {
    return letters->vtable->list(letters, query, arena, out, err);
}

/* The number of letters that a list of the query would show on all its pages, without reading them.
 * The query's states must be states of letters only. Ignores limit and cursor. Waits as
 * letters_list does. */
static inline enum status letters_sum(struct letters *letters, const struct letters_query *query,
                                      struct letters_sum *out, struct err *err) {
    return letters->vtable->sum(letters, query, out, err);
}

/* The note of this name, unless it has expired. NOT_FOUND; CONFLICT if `queue` is 0 and several
 * queues have such a note. Always current. */
static inline enum status letters_note(struct letters *letters, uint32_t queue, const char *space,
                                       struct bytes name, struct wall now, struct arena *arena,
                                       struct bytes *value, struct err *err) {
    return letters->vtable->note(letters, queue, space, name, now, arena, value, err);
}

/* Up to `limit` notes of a space, ordered by name, whose name starts with `prefix` and is greater
 * (with `descending`: less) than `after` (empty: from the first one in that order). Always current.
 */
static inline enum status letters_notes(struct letters *letters, const char *space,
                                        struct bytes prefix, struct bytes after, bool descending,
                                        size_t limit, struct arena *arena, struct letters_note *out,
                                        size_t *count, struct err *err) {
    return letters->vtable->notes(letters, space, prefix, after, descending, limit, arena, out,
                                  count, err);
}

/* Groups by fingerprint of the letters in depth, of one DLQ or (empty) of all; most letters first.
 * Always current, O(groups). On an error *count is 0. */
static inline enum status letters_groups(struct letters *letters, struct bytes dlq,
                                         struct arena *arena, struct letters_group **out,
                                         size_t *count, struct err *err) {
    return letters->vtable->groups(letters, dlq, arena, out, count, err);
}

/* NOT_FOUND if the DLQ never held a letter. Always current. */
static inline enum status letters_dlq(struct letters *letters, struct bytes name, struct wall now,
                                      struct arena *arena, struct letters_dlq *out,
                                      struct err *err) {
    return letters->vtable->dlq(letters, name, now, arena, out, err);
}

/* Names of all DLQs that ever held a letter, sorted. On an error *count is 0. */
static inline enum status letters_dlq_names(struct letters *letters, struct arena *arena,
                                            struct bytes **out, size_t *count, struct err *err) {
    return letters->vtable->dlq_names(letters, arena, out, count, err);
}

#endif
