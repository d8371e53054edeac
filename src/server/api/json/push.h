/* push: reads and checks a producer's messages. Pure: the same text gives the same messages.
 *
 * A push object is {"body":…} or {"body_base64":"…"}, with optional "content_type", "key",
 * "headers", "id" and "delay". NDJSON has one such object per line; one bad line refuses all of
 * them. */
#ifndef SERVER_PUSH_H
#define SERVER_PUSH_H

#include "base/containers/map.h"
#include "base/rng.h"
#include "core/envelope/envelope.h"

enum {
    PUSH_LINES_MAX = 50000, /* lines of one NDJSON request, blank ones included */
    PUSH_ID_MAX = 255,      /* bytes */
    PUSH_KEY_MAX = 1024,
    PUSH_CONTENT_TYPE_MAX = 255,
    PUSH_HEADER_MAX = 8192, /* bytes of one name or value */
};
#define PUSH_DELAY_MAX_MS (INT64_C(365) * 24 * 3600 * 1000)

struct push_item {
    struct envelope envelope;
    struct bytes body;
    bool chose_id;    /* the producer chose the id */
    size_t line;      /* its line, from 1 */
    size_t repeat_of; /* index + 1 of an earlier item with the same id and body; 0: none */
};

struct push {
    struct push_item *items;
    size_t count;
    size_t line; /* of the error, if parsing was refused; 0: not in NDJSON */
};

struct push_context {
    struct bytes queue; /* borrowed by the items */
    struct wall now;
    struct rng *rng; /* for ids */
    struct arena *arena;
};

/* INVALID: err has the reason and the position ("line 57: …"). CONFLICT: one id occurs with two
 * bodies. Bodies are slices of `text`, or in the arena, as all other texts are. */
enum status push_parse_one(const struct push_context *context, struct bytes text, struct push *out,
                           struct err *err);
enum status push_parse_lines(const struct push_context *context, struct bytes text,
                             struct push *out, struct err *err);

/* For callers that have items with checked members instead of text. Fills in the rest of the
 * envelope; `raw`: without a content_type the body is plain bytes, not JSON. */
void push_fill(const struct push_context *context, struct push_item *item, bool raw);
/* Sets repeat_of of the item at `place`. `ids` must be zeroed before the first call and freed with
 * map_free after the last. CONFLICT: an earlier item has the same id and another body. */
enum status push_note_id(const struct push_context *context, struct push *push, size_t place,
                         struct map *ids, struct err *err);

#endif
