/* query: what people ask of the store: filters from words, pages, one envelope, why it is here. */
#ifndef TRIAGE_QUERY_H
#define TRIAGE_QUERY_H

#include "port/clock.h"
#include "port/jq.h"
#include "port/letters.h"

enum {
    QUERY_LIMIT_DEFAULT = 50,
    QUERY_LIMIT_MAX = 1000,
    QUERY_WHERE_SCAN_MAX = 100000, /* letters that a `where` looks at for one page … */
    QUERY_WHERE_MS = 10 * 1000     /* … and for how long */
};

/* A filter as words, "name" → "value": the URL's query parameters and the CLI's options are the
 * same words (DESIGN §6). since and until take RFC 3339 or a duration ("6h": that long ago). */
struct query {
    struct letters_query filter;
    struct bytes where; /* jq on the envelope; empty: none */
    /* Adds to a row what the store does not know; NULL: nothing. */
    void (*complete)(void *arg, struct envelope *envelope);
    void *arg;
    /* Whether nobody waits for the answer any more, asked while a `where` runs; NULL: somebody
     * does. */
    bool (*gone)(const void *asker);
    const void *asker;
    struct clock *clock; /* for QUERY_WHERE_MS; NULL: there is no hurry */
};

enum query_scope { QUERY_LETTERS, QUERY_MESSAGES };

void query_init(struct query *query, enum query_scope scope);
/* INVALID: the word is unknown (with a "did you mean") or its value cannot be read. Texts are
 * borrowed, or in the arena. */
enum status query_set(struct query *query, struct bytes name, struct bytes value, struct wall now,
                      struct arena *arena, struct err *err);
/* Letter lists show unresolved ones unless a state was given: call after the last query_set. */
void query_finish(struct query *query);

/* Appends {"letters":[…],"cursor":…} (or "messages"), with "behind" when lists lag, "skipped" when
 * a `where` failed on some, and "looked_at" when it stopped at its bounds: then the cursor goes on
 * from there. BUSY: nobody waits for it. May wait: not on an engine or HTTP thread. jq may be NULL
 * when there is no `where`. */
enum status query_run(struct store *store, struct jq *jq, const struct query *query,
                      struct buf *out, struct err *err);

#endif
