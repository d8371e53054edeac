#include "engine/source.h"

#include <sodium.h>
#include <string.h>

#include "base/log.h"
#include "base/text/uuid.h"

#define SOURCE_ID_HEADER BYTES("Impound-Source-Id")

bool source_is_server(const struct queue *queue) {
    return queue->broker->vtable->listen != NULL;
}

bool source_is_fresh(const struct attempt *attempt) {
    return (attempt->held->seq == 0 || attempt->returning) && !attempt->report;
}

void source_settle_copy(struct queue *queue, struct message *held) {
    queue->results[RESULT_DUPLICATE]++;
    queue->broker->vtable->settle(queue->broker, held);
    message_free(held);
}

void source_return(struct attempt *attempt) {
    struct queue *queue = attempt->queue;
    struct message *held = attempt->held;
    struct instant now = queue->engine->now;
    attempt->held = NULL;
    attempt_free(attempt);
    queue->broker->vtable->hand_back(queue->broker, held, now);
}

void source_complete(struct message *held) {
    struct envelope *envelope = &held->envelope;
    unsigned char hash[crypto_hash_sha256_BYTES];
    if (envelope->content_hash[0])
        return;
    crypto_hash_sha256(hash, (const unsigned char *)held->body.ptr, held->body.len);
    sodium_bin2hex(envelope->content_hash, sizeof envelope->content_hash, hash, sizeof hash);
}

/* An adopted letter that was only read at its broker (read_only) does not stand for the received
 * message. */
static bool is_looked_at(const struct attempt *attempt) {
    const struct queue *queue = attempt->queue;
    struct store *store = queue->engine->store;
    struct message *before = NULL;
    struct err err;
    enum status status =
        letters_get(store->letters, queue->name, attempt->held->envelope.id, &before, &err);
    bool looked_at = status != STATUS_OK || before->envelope.read_only;
    message_free(before);
    return looked_at;
}

bool source_is_another(const struct attempt *attempt) {
    return source_is_server(attempt->queue) && source_is_fresh(attempt) &&
           (!attempt->held->redelivered || is_looked_at(attempt));
}

void source_rename(struct attempt *attempt) {
    struct engine *engine = attempt->queue->engine;
    struct envelope *envelope = &attempt->held->envelope;
    struct arena *arena = &attempt->held->arena;
    char id[UUID_TEXT_SIZE];
    size_t count = envelope->header_count;
    struct rule_header *headers = arena_alloc(arena, (count + 1) * sizeof *headers);
    if (count > 0)
        memcpy(headers, envelope->headers, count * sizeof *headers);
    headers[count] = (struct rule_header){SOURCE_ID_HEADER, envelope->id};
    envelope->headers = headers;
    envelope->header_count = count + 1;
    uuid_v7(engine->now.wall, &engine->rng, id);
    struct log_about about = attempt_about(attempt);
    log_about(LOG_WARN, &about,
              "it came with an id that another message is held with; it is %s here", id);
    attempt->queue->same_ids++;
    envelope->id = arena_dup(arena, bytes_of(id));
}
