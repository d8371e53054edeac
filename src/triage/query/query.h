/* query: lists of letters and messages: filters given as words, pages, rows as JSON. */
#ifndef TRIAGE_QUERY_QUERY_H
#define TRIAGE_QUERY_QUERY_H

#include "port/clock.h"
#include "port/jq.h"
#include "port/letters.h"

enum {
    QUERY_LIMIT_DEFAULT = 50,
    QUERY_LIMIT_MAX = 1000,
    QUERY_WHERE_SCAN_MAX = 100000, /* letters that a `where` examines for one page … */
    QUERY_WHERE_MS = 10 * 1000     /* … and the time that it may take */
};

/* A filter as words, "name" → "value": the URL's query parameters and the CLI's options use the
 * same words (DESIGN §6). since and until take RFC 3339 or a duration ("6h": that long ago). */
struct query {
    struct letters_query filter;
    struct bytes where; /* jq on the envelope; empty: none */
    /* Completes a row with facts that the store does not have; NULL: none. */
    void (*complete)(void *arg, struct envelope *envelope);
    void *arg;
    /* Whether the client has disconnected, polled while a `where` runs; NULL: it has not. */
    bool (*gone)(const void *asker);
    const void *asker;
    struct clock *clock; /* for QUERY_WHERE_MS; NULL: no time limit */
};

enum query_scope { QUERY_LETTERS, QUERY_MESSAGES };

void query_init(struct query *query, enum query_scope scope);
/* INVALID: the word is unknown (with a "did you mean"), or its value is malformed. Texts are
 * borrowed, or in the arena. */
enum status query_set(struct query *query, struct bytes name, struct bytes value, struct wall now,
                      struct arena *arena, struct err *err);
/* Call after the last query_set: lists of letters show unresolved letters unless a state was given.
 */
void query_finish(struct query *query);

/* Appends {"letters":[…],"cursor":…} (or "messages"), with "behind" if lists lag, "skipped" if a
 * `where` failed on some letters, and "looked_at" if it stopped at its limits: the cursor then
 * continues from there. BUSY: the client disconnected. May wait for the store: not on an engine or
 * HTTP thread. jq may be NULL if there is no `where`. */
enum status query_run(struct store *store, struct jq *jq, const struct query *query,
                      struct buf *out, struct err *err);

#endif
