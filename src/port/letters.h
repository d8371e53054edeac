/* letters: what a store knows, for people and for the programs that act for them (triage, server).
 *
 * The engine's port is port/store.h. This one reads: a message or letter by its id, pages and sums
 * of letters, groups, DLQ counters, and notes. A read may go to a database and wait for it, so no
 * function here is called on the engine's thread or on a thread of the HTTP loop; every one returns
 * a status, because every one can fail.
 *
 * A note is a text under (space, name), written by STORE_KEEP in the commit that it belongs to. The
 * store gives spaces no meaning: they belong to the callers, who name them (core/note_space.h).
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
    bool letters;      /* only what has a letter id */
    bool oldest_first; /* instead of newest first; what arrives meanwhile comes last */
    size_t limit;
    struct bytes cursor; /* from the page before; empty: the first page */
};

struct letters_row {
    uint64_t seq;
    struct bytes envelope; /* as envelope_store writes it, its state as of now; ptr NULL: damaged */
    struct bytes id;       /* where the envelope is damaged: of the letter, else of the message */
};

/* Newest first, unless the query says otherwise. Lives in the arena that was passed. */
struct letters_page {
    struct letters_row *rows;
    size_t count;
    struct bytes cursor; /* ptr NULL: that was the last page */
    uint64_t unlisted;   /* changes committed that lists do not show yet */
};

/* What a query chooses, counted. */
struct letters_sum {
    uint64_t count[STATE_COUNT];
    uint64_t adopted;   /* of them, those of CAUSE_ADOPTED, or more: 0 is to be trusted */
    struct wall newest; /* dead_at of the newest; WALL_NEVER: there is none */
    uint64_t unlisted;  /* as of a page */
};

enum { LETTERS_AGE_BUCKETS = 6 }; /* ≤1m ≤10m ≤1h ≤6h ≤24h older */

struct letters_dlq {
    struct bytes name;
    uint64_t depth;
    uint64_t spilled;
    uint64_t total; /* letters that ever arrived */
    uint64_t by_state[STATE_COUNT];
    uint64_t arrivals_last_minute;
    struct wall oldest; /* dead_at of the oldest that counts in depth; WALL_NEVER: none */
    struct store_count *by_category, *by_reason; /* of depth, most first */
    size_t category_count, reason_count;
    uint64_t ages[LETTERS_AGE_BUCKETS]; /* of depth, not cumulative */
    struct store_count *arrived; /* ever, by "category\0reason": for impound_dlq_letters_total */
    size_t arrived_count;
};

struct letters_note {
    struct bytes name, value;
};

/* The letters of one DLQ with one fingerprint. */
struct letters_group {
    uint64_t fingerprint;
    struct bytes dlq;
    uint64_t count;                    /* of depth; 0: all were resolved or discarded */
    uint64_t total;                    /* ever */
    struct wall first_seen, last_seen; /* by dead_at */
    uint64_t sample;                   /* seq of the last letter; its envelope tells the rest */
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

/* By message id (in `queue`, or in any when it is empty) or letter id. NOT_FOUND; CONFLICT when
 * several queues hold it (err lists them). Of several in one queue: the one that is neither
 * resolved nor discarded, else the newest. Always current. */
static inline enum status letters_get(struct letters *letters, struct bytes queue, struct bytes id,
                                      struct message **out, struct err *err) {
    return letters->vtable->get(letters, queue, id, out, err);
}

/* By the store's own number, whatever its state. NOT_FOUND; other trouble when it is held but
 * cannot be read. Always current. */
static inline enum status letters_get_seq(struct letters *letters, uint64_t seq,
                                          struct message **out, struct err *err) {
    return letters->vtable->get_seq(letters, seq, out, err);
}

/* Which of these message ids the queue holds, in whatever state. Always current. */
static inline enum status letters_holds(struct letters *letters, uint32_t queue,
                                        const struct bytes *ids, size_t count, bool *out,
                                        struct err *err) {
    return letters->vtable->holds(letters, queue, ids, count, out, err);
}

/* Waits at most 2 s until lists show what was committed before. A row that cannot be read is in the
 * list without its envelope. INVALID when the cursor or the search text is not understood. */
static inline enum status letters_list(struct letters *letters, const struct letters_query *query,
                                       struct arena *arena, struct letters_page *out,
                                       struct err *err) {
    return letters->vtable->list(letters, query, arena, out, err);
}

/* How many letters a list of the query would show on all its pages, without reading any; of states
 * that letters alone are in. Limit and cursor are not looked at. Waits as letters_list does. */
static inline enum status letters_sum(struct letters *letters, const struct letters_query *query,
                                      struct letters_sum *out, struct err *err) {
    return letters->vtable->sum(letters, query, out, err);
}

/* What is kept under the name and not expired; NOT_FOUND; CONFLICT when `queue` is 0 and several
 * queues keep it. Always current. */
static inline enum status letters_note(struct letters *letters, uint32_t queue, const char *space,
                                       struct bytes name, struct wall now, struct arena *arena,
                                       struct bytes *value, struct err *err) {
    return letters->vtable->note(letters, queue, space, name, now, arena, value, err);
}

/* Up to `limit` notes of a space, by name, those whose name starts with `prefix` and is greater
 * (with `descending`: less) than `after` (empty: from the end in question). Always current. */
static inline enum status letters_notes(struct letters *letters, const char *space,
                                        struct bytes prefix, struct bytes after, bool descending,
                                        size_t limit, struct arena *arena, struct letters_note *out,
                                        size_t *count, struct err *err) {
    return letters->vtable->notes(letters, space, prefix, after, descending, limit, arena, out,
                                  count, err);
}

/* Groups of the letters that count in depth, by fingerprint: of one DLQ or (empty) of all; most
 * letters first. Always current, O(groups). On trouble *count is 0. */
static inline enum status letters_groups(struct letters *letters, struct bytes dlq,
                                         struct arena *arena, struct letters_group **out,
                                         size_t *count, struct err *err) {
    return letters->vtable->groups(letters, dlq, arena, out, count, err);
}

/* NOT_FOUND when nothing was ever put there. Always current. */
static inline enum status letters_dlq(struct letters *letters, struct bytes name, struct wall now,
                                      struct arena *arena, struct letters_dlq *out,
                                      struct err *err) {
    return letters->vtable->dlq(letters, name, now, arena, out, err);
}

/* Names of all DLQs that ever held a letter, sorted. On trouble *count is 0. */
static inline enum status letters_dlq_names(struct letters *letters, struct arena *arena,
                                            struct bytes **out, size_t *count, struct err *err) {
    return letters->vtable->dlq_names(letters, arena, out, count, err);
}

#endif
