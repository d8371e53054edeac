#include "engine/features/dlq/mirror.h"

#include <stdio.h>
#include <string.h>

#include "core/pointer.h"
#include "engine/attempt/body_room.h"
#include "engine/publish.h"
#include "engine/feature.h"

enum {
    OWN_HEADERS = 12, /* most dlq-* headers of one letter */
    ERROR_MAX = 200,  /* bytes of dlq-error-msg */
};

static struct sink *mirror_of(const struct attempt *attempt) {
    const struct queue *queue = attempt->queue;
    for (size_t i = 0; i < queue->mirror_count; i++)
        if (bytes_eq(queue->mirrors[i].dlq, attempt->held->envelope.dlq))
            return queue->mirrors[i].sink;
    return NULL;
}

/* ---- headers ---- */

struct headers {
    struct arena *arena;
    struct rule_header *list;
    size_t count;
};

static void add(struct headers *headers, const char *name, struct bytes value) {
    if (value.len > 0)
        headers->list[headers->count++] = (struct rule_header){bytes_of(name), value};
}

static void add_number(struct headers *headers, const char *name, long long number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", number);
    add(headers, name, arena_dup(headers->arena, bytes_of(text)));
}

/* The message's source coordinates, as each broker names them. */
static const struct {
    const char *header;
    const char *members[6]; /* names of a coordinate; the first that exists is used */
} origins[] = {
    {"dlq-original-topic", {"topic", "queue", "list", "stream", "subject"}},
    {"dlq-original-partition", {"partition"}},
    {"dlq-original-offset", {"offset", "entry", "sequence", "seq"}},
};

static struct bytes member_text(struct json source, const char *name, struct arena *arena) {
    struct json value;
    struct bytes text;
    if (!json_get(source, name, &value))
        return BYTES_NONE;
    if (json_string(value, arena, &text))
        return text;
    return value.type == JSON_NUMBER ? value.text : BYTES_NONE;
}

static void add_origin(struct headers *headers, const struct envelope *envelope) {
    struct json source;
    bool known = pointer_origin(envelope->source, &source);
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        struct bytes text = BYTES_NONE;
        for (const char *const *name = origins[i].members; known && *name && !text.len; name++)
            text = member_text(source, *name, headers->arena);
        add(headers, origins[i].header, text.len || i > 0 ? text : envelope->queue);
    }
}

static void add_failure(struct headers *headers, const struct envelope *envelope) {
    struct bytes class = envelope->error_type.len ? envelope->error_type : envelope->reason;
    struct bytes words = envelope->error_message.len ? envelope->error_message : envelope->why;
    add(headers, "dlq-error-class", class);
    add(headers, "dlq-error-msg", bytes_clip(words, ERROR_MAX));
    add_number(headers, "dlq-attempts", envelope->attempts);
    add_number(headers, "dlq-failed-at", envelope->dead_at.ms / 1000);
    add(headers, "dlq-cause", bytes_of(cause_text(envelope->cause)));
    add(headers, "dlq-category", envelope->category);
    add(headers, "dlq-reason", envelope->reason);
    add(headers, "dlq-letter-id", envelope->letter_id);
    add(headers, "dlq-message-id", envelope->id);
}

/* The message's own headers come first. */
static struct headers headers_of(struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    struct headers headers = {.arena = &attempt->held->arena};
    size_t most = envelope->header_count + OWN_HEADERS;
    headers.list = arena_alloc(headers.arena, most * sizeof *headers.list);
    headers.count = envelope->header_count;
    if (headers.count > 0)
        memcpy(headers.list, envelope->headers, headers.count * sizeof *headers.list);
    add_origin(&headers, envelope);
    add_failure(&headers, envelope);
    return headers;
}

/* ---- publishing ---- */

/* A Kafka record without a value (a tombstone) differs from one with an empty value. */
static struct bytes body_of(const struct message *held) {
    return pointer_is_tombstone(held->envelope.source, held->body) ? BYTES_NONE : held->body;
}

static void published(struct attempt *attempt, bool taken, const struct err *err) {
    if (taken || publish_refused(PUBLISH_LETTER, err))
        commit_join(attempt);
    else
        commit_abandon(attempt, err);
}

bool mirror_publishes(struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    if (envelope->state != STATE_PENDING_REVIEW || attempt->replay ||
        attempt->purpose == PURPOSE_LATE_LETTER)
        return false;
    struct sink *sink = mirror_of(attempt);
    if (!sink)
        return false;
    if (body_room_reload(attempt, &attempt->queue->unmirrored) != STATUS_OK)
        return false;
    struct headers headers = headers_of(attempt);
    struct sink_item item = {.id = envelope->id,
                             .stamp = publish_round(attempt, ":mirror"),
                             .body = body_of(attempt->held),
                             .key = envelope->key,
                             .content_type = envelope->content_type,
                             .headers = headers.list,
                             .header_count = headers.count};
    publish_begin(attempt, sink, PUBLISH_LETTER, item, published);
    return true;
}

/* ---- the feature ---- */

const struct engine_feature mirror_feature = {
    .name = "mirrors",
    .in_commit = mirror_publishes,
};
