/* comeback: a letter that was sent to its origin (`to: origin`) and comes back from there: by its
 * queue's own source, or dead, from a DLQ that is adopted. It is the same letter again, not a
 * second one. Two headers that it is sent with tell:
 *
 *   Impound-Letter: its id        Impound-Replays: how often it has been replayed
 *
 *   pending_review ─▶ replaying, to_origin ─▶ resolved, to_origin ─▶ replaying or pending_review
 *                                │ published                  ▲ it came back
 *                                ▼                            │
 *                              origin ────────────────────────┘
 *
 * Pure. Whoever receives messages asks here before it takes one for a new one. */
#ifndef CORE_COMEBACK_H
#define CORE_COMEBACK_H

#include "core/envelope.h"

#define COMEBACK_ORIGIN    "origin" /* as the `to` of a replay */
#define COMEBACK_LETTER    "Impound-Letter"
#define COMEBACK_REPLAYS   "Impound-Replays"
/* The id that a message had at its source, where impound gave it another one. It is a fact of this
 * store: it is not sent to the origin, and the letter keeps it. */
#define COMEBACK_SOURCE_ID "Impound-Source-Id"

enum { COMEBACK_HEADERS = 2, COMEBACK_NUMBER_SIZE = 12 };

/* What a message says of itself. */
struct comeback {
    struct bytes letter; /* borrowed from the headers */
    uint32_t replays;
};

/* False: it was never sent to its origin. */
bool comeback_read(const struct rule_header *headers, size_t count, struct comeback *out);

enum comeback_is {
    COMEBACK_STRANGER, /* not that letter: a message of its own */
    COMEBACK_SAME,     /* the letter again */
    COMEBACK_HELD,     /* it is back already: this is a second copy, to be settled, not doubled */
    COMEBACK_EARLY,    /* that it arrived is not recorded yet: to be looked at again soon */
};
/* `letter` is what the store holds under that letter id; `queue` whose message came; `same_body`
 * whether the two bodies are equal. One with another body was made from it by somebody: a stranger.
 */
enum comeback_is comeback_judge(const struct comeback *comeback, const struct envelope *letter,
                                struct bytes queue, bool same_body);

/* `letter` becomes what came: its source, key, headers (without the two, with the letter's
 * own COMEBACK_SOURCE_ID), content type. Everything
 * else stays as it was; state, failure and times are the caller's to set. Texts stay borrowed from
 * both; the array of headers is in the arena (heap). */
void comeback_join(struct envelope *letter, const struct envelope *came, struct arena *arena);

/* The headers that a letter is sent with: its own without COMEBACK_SOURCE_ID, then the two. In the
 * arena (heap). */
size_t comeback_headers(const struct envelope *letter, struct arena *arena,
                        const struct rule_header **out);

#endif
