/* comeback: a letter that was sent to its origin (`to: origin`) and comes back from there: by its
 * queue's own source, or dead, from a DLQ that is adopted. It is the same letter again, not a
 * second one. It is recognised by two headers that it was sent with:
 *
 *   Impound-Letter: its id        Impound-Replays: how often it has been replayed
 *
 *   pending_review ─▶ replaying, to_origin ─▶ resolved, to_origin ─▶ replaying or pending_review
 *                                │ published                  ▲ it came back
 *                                ▼                            │
 *                              origin ────────────────────────┘
 *
 * Pure. Every receiver of messages checks this before it treats one as new. */
#ifndef CORE_COMEBACK_H
#define CORE_COMEBACK_H

#include "core/envelope/envelope.h"

#define COMEBACK_ORIGIN    "origin" /* value of a replay's `to` */
#define COMEBACK_LETTER    "Impound-Letter"
#define COMEBACK_REPLAYS   "Impound-Replays"
/* The id that a message had at its source, if impound gave it another one. It is not sent to the
 * origin; the letter keeps it. */
#define COMEBACK_SOURCE_ID "Impound-Source-Id"

enum { COMEBACK_HEADERS = 2, COMEBACK_NUMBER_SIZE = 12 };

/* The two headers of a message. */
struct comeback {
    struct bytes letter; /* borrowed from the headers */
    uint32_t replays;
};

/* False: it was never sent to its origin. */
bool comeback_read(const struct rule_header *headers, size_t count, struct comeback *out);

enum comeback_is {
    COMEBACK_STRANGER, /* not that letter: a new message */
    COMEBACK_SAME,     /* the letter again */
    COMEBACK_HELD,     /* it is back already: a duplicate, to be acknowledged, not stored */
    COMEBACK_EARLY,    /* its arrival at the origin is not durable yet: check again soon */
};
/* `letter` is the stored letter with that id, `queue` the queue of the message, `same_body` whether
 * the bodies are equal. A message with another body was derived from the letter by another program:
 * a stranger. */
enum comeback_is comeback_judge(const struct comeback *comeback, const struct envelope *letter,
                                struct bytes queue, bool same_body);

/* `letter` takes over source, key, headers (without the two, with the letter's own
 * COMEBACK_SOURCE_ID) and content type of the message. Everything else stays; the caller sets
 * state, failure and times. Texts stay borrowed from both; the array of headers is in the arena
 * (heap). */
void comeback_join(struct envelope *letter, const struct envelope *came, struct arena *arena);

/* The headers to send a letter with: its own without COMEBACK_SOURCE_ID, then the two. In the arena
 * (heap). */
size_t comeback_headers(const struct envelope *letter, struct arena *arena,
                        const struct rule_header **out);

#endif
