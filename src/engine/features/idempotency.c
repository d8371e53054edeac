#include "engine/features/idempotency.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json_path.h"
#include "base/memory.h"
#include "base/steady.h"
#include "engine/features/reply.h"
#include "engine/features/tracing/tracing.h"
#include "engine/feature.h"

enum {
    TROUBLE_WAIT_MS = 1000, /* before the lookup of a key is repeated after an error */
    DONE_MAX = 2048,        /* size of {"id":…} */
};

/* The first character of a key's name in the store, so that the string "1" and the number 1 differ.
 */
enum { FROM_STRING = '"', FROM_LITERAL = '#', FROM_HEADER = ':', FROM_LONG = '*' };

/* A key in use: one attempt holds it, or a message that waited for it is about to. */
struct claim {
    struct map_node node;
    struct list link;  /* in idempotency->free */
    struct bytes name; /* owned */
    bool busy;
    uint64_t *waiting; /* numbers of the waiting messages, the oldest at `first` */
    size_t first, count, cap;
};

struct idempotency {
    struct map claims;
    struct list free; /* claims without a holder that messages wait for */
};

struct idempotency *idempotency_new(void) {
    struct idempotency *idempotency = memory_new(sizeof *idempotency);
    list_init(&idempotency->free);
    return idempotency;
}

static void claim_free(struct claim *claim) {
    free((char *)claim->name.ptr);
    free(claim->waiting);
    free(claim);
}

static void free_node(struct map_node *node) {
    claim_free(CONTAINER_OF(node, struct claim, node));
}

void idempotency_free(struct idempotency *idempotency) {
    map_drain(&idempotency->claims, free_node);
    free(idempotency);
}

/* ---- keys ---- */

/* A key that is longer than a name may be is stored as its SHA-256. */
static struct bytes name_of(char from, struct bytes text, struct arena *arena) {
    char *name = arena_alloc(arena, text.len + 1 + 2 * crypto_hash_sha256_BYTES + 1);
    name[0] = from;
    if (text.len > 0)
        memcpy(name + 1, text.ptr, text.len);
    if (text.len < STORE_NAME_MAX)
        return (struct bytes){name, text.len + 1};
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)name, text.len + 1);
    name[0] = FROM_LONG;
    sodium_bin2hex(name + 1, 2 * sizeof hash + 1, hash, sizeof hash);
    return (struct bytes){name, 1 + 2 * sizeof hash};
}

static struct bytes header_key(struct bytes header, struct message *held) {
    const struct envelope *envelope = &held->envelope;
    for (size_t i = 0; i < envelope->header_count; i++) {
        if (bytes_eq_nocase(envelope->headers[i].name, header))
            return name_of(FROM_HEADER, envelope->headers[i].value, &held->arena);
    }
    return BYTES_NONE;
}

/* Numbers count by their exact text; objects, arrays and null are no keys. */
static struct bytes body_key(struct bytes path, struct message *held) {
    struct json body, value;
    struct bytes text;
    if (json_parse(held->body, &body, NULL) != STATUS_OK || !json_path_get(body, path, &value))
        return BYTES_NONE;
    if (json_string(value, &held->arena, &text))
        return name_of(FROM_STRING, text, &held->arena);
    bool literal = value.type == JSON_NUMBER || value.type == JSON_TRUE || value.type == JSON_FALSE;
    return literal ? name_of(FROM_LITERAL, value.text, &held->arena) : BYTES_NONE;
}

/* In the message's own arena; ptr NULL: no key. */
static struct bytes key_of(const struct queue *queue, struct message *held) {
    const struct engine_idempotency *rules = &queue->rules.idempotency;
    if (rules->path.len > 0)
        return body_key(rules->path, held);
    return rules->header.len > 0 ? header_key(rules->header, held) : BYTES_NONE;
}

/* ---- claims ---- */

static struct claim *find(const struct idempotency *idempotency, struct bytes name) {
    for (struct map_node *node = map_first(&idempotency->claims, bytes_hash(name)); node;
         node = map_next(node)) {
        struct claim *claim = CONTAINER_OF(node, struct claim, node);
        if (bytes_eq(claim->name, name))
            return claim;
    }
    return NULL;
}

static struct claim *get(struct idempotency *idempotency, struct bytes name) {
    struct claim *claim = find(idempotency, name);
    if (claim)
        return claim;
    claim = memory_new(sizeof *claim);
    claim->name = (struct bytes){bytes_dup(name), name.len};
    list_init(&claim->link);
    map_insert(&idempotency->claims, &claim->node, bytes_hash(name));
    return claim;
}

static void drop(struct idempotency *idempotency, struct claim *claim) {
    list_remove(&claim->link);
    map_remove(&idempotency->claims, &claim->node);
    claim_free(claim);
}

static void add_waiting(struct claim *claim, uint64_t seq) {
    if (claim->first > 0 && claim->first + claim->count == claim->cap) {
        memmove(claim->waiting, claim->waiting + claim->first, claim->count * sizeof seq);
        claim->first = 0;
    }
    if (claim->count == claim->cap) {
        claim->cap = claim->cap ? claim->cap * 2 : 4;
        claim->waiting = memory_grow(claim->waiting, claim->cap * sizeof seq);
    }
    claim->waiting[claim->first + claim->count++] = seq;
}

static void claim_key(struct attempt *attempt, struct bytes key) {
    struct claim *claim = get(attempt->queue->idempotency, key);
    if (claim->busy)
        return;
    claim->busy = true;
    attempt->claim = claim;
}

void idempotency_claim(struct attempt *attempt) {
    struct bytes key = key_of(attempt->queue, attempt->held);
    if (key.ptr)
        claim_key(attempt, key);
}

void idempotency_release(struct attempt *attempt) {
    struct claim *claim = attempt->claim;
    struct idempotency *idempotency = attempt->queue->idempotency;
    if (!claim)
        return;
    attempt->claim = NULL;
    claim->busy = false;
    if (claim->count == 0) {
        drop(idempotency, claim);
        return;
    }
    if (list_empty(&claim->link))
        list_push_back(&idempotency->free, &claim->link);
    queue_visit(attempt->queue);
}

struct message *idempotency_next(struct queue *queue) {
    struct idempotency *idempotency = queue->idempotency;
    struct store *store = queue->engine->store;
    while (!list_empty(&idempotency->free)) {
        struct claim *claim = CONTAINER_OF(idempotency->free.next, struct claim, link);
        if (claim->busy) {
            list_remove(&claim->link);
            continue;
        }
        if (claim->count == 0) {
            drop(idempotency, claim);
            continue;
        }
        uint64_t seq = claim->waiting[claim->first++];
        claim->count--;
        struct message *held = store->vtable->take_one(store, queue->number, seq);
        if (held)
            return held;
    }
    return NULL;
}

/* ---- admission ---- */

static void give_back(struct attempt *attempt, struct mono due) {
    struct store *store = attempt->queue->engine->store;
    struct message *held = attempt->held;
    attempt->held = NULL;
    attempt_free(attempt);
    store->vtable->give_back(store, held, due);
}

/* The message becomes due only when the running attempt with its key ends, so only its number is
 * kept here. */
static void wait_for_key(struct attempt *attempt, struct claim *claim) {
    add_waiting(claim, attempt->held->seq);
    give_back(attempt, MONO_NEVER);
}

static bool first_id(struct bytes done, struct arena *arena, struct bytes *id) {
    struct json json, member;
    return json_parse(done, &json, NULL) == STATUS_OK && json_get(json, "id", &member) &&
           json_string(member, arena, id);
}

static void end_duplicate(struct attempt *attempt, struct bytes done) {
    struct queue *queue = attempt->queue;
    struct envelope *envelope = &attempt->held->envelope;
    struct bytes first;
    if (first_id(done, &attempt->held->arena, &first))
        reply_copy(attempt, first, queue->rules.idempotency.dedupe_ms);
    if (envelope->first_attempt_at.ms == WALL_NEVER.ms)
        rate_count(&queue->in, queue->engine->now.mono);
    queue->results[RESULT_DUPLICATE]++;
    judge_end(attempt, RESOLUTION_DUPLICATE);
    judge_result(attempt, RESULT_DUPLICATE);
    commit_decided(attempt);
}

bool idempotency_admit(struct attempt *attempt) {
    struct queue *queue = attempt->queue;
    struct engine *engine = queue->engine;
    struct bytes key = key_of(queue, attempt->held), done;
    /* A compensation undoes the work and does not repeat it. */
    if (!key.ptr || attempt->held->envelope.compensating)
        return true;
    struct claim *claim = find(queue->idempotency, key);
    if (claim && claim->busy) {
        wait_for_key(attempt, claim);
        return false;
    }
    struct err err;
    enum status status =
        letters_note(engine->store->letters, queue->number, SPACE_DONE, key,
                     steady_wall(engine->began, engine->now), &attempt->held->arena, &done, &err);
    if (status == STATUS_NOT_FOUND) {
        claim_key(attempt, key);
        return true;
    }
    if (status == STATUS_OK) {
        end_duplicate(attempt, done);
        return false;
    }
    struct log_about about = attempt_about(attempt);
    log_about(LOG_WARN, &about, "its idempotency key cannot be looked up: %s", err.text);
    give_back(attempt, mono_after(engine->now.mono, TROUBLE_WAIT_MS));
    return false;
}

/* ---- what is kept ---- */

static struct bytes done_value(struct attempt *attempt) {
    struct buf text;
    buf_init_fixed(&text, arena_alloc(&attempt->held->arena, DONE_MAX), DONE_MAX);
    struct json_out out = json_out(&text);
    json_open(&out, '{');
    json_key(&out, "id");
    json_put(&out, attempt->held->envelope.id);
    json_close(&out, '}');
    return buf_view(&text);
}

void idempotency_keep(struct attempt *attempt) {
    const struct queue *queue = attempt->queue;
    struct bytes key = key_of(queue, attempt->held);
    if (key.ptr)
        attempt->key_done = (struct store_keep){
            .space = SPACE_DONE,
            .name = key,
            .value = done_value(attempt),
            .expires = {queue->engine->now.wall.ms + queue->rules.idempotency.dedupe_ms}};
}

/* ---- the feature ---- */

static void begin(struct queue *queue) {
    queue->idempotency = idempotency_new();
}

static void end(struct queue *queue) {
    idempotency_free(queue->idempotency);
}

const struct engine_feature idempotency_feature = {
    .name = "idempotency",
    .succeeded = idempotency_keep,
    .freed = idempotency_release,
    .begin = begin,
    .end = end,
};
