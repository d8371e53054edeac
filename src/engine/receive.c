#include "engine/receive.h"
#include "engine/source.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text/uuid.h"
#include "core/lifecycle.h"
#include "core/pointer.h"
#include "engine/features/origin.h"
#include "engine/features/dlq/room.h"
#include "engine/features/stops.h"
#include "engine/features/tracing/tracing.h"

enum {
    AT_ONCE = 256,
    RECEIVE_AHEAD_MS = 500, /* fetching begins this long before an open breaker may be probed */
    TWIN_HOLD_MS = 200,     /* before a duplicate of a message in flight is checked again */
    WHY_MAX = 128,
};

/* ---- whether messages are wanted ---- */

/* When a message that was never attempted may be the first probe. */
static struct mono probe_from(const struct queue *queue) {
    return mono_earlier(queue->breaker.until, breaker_arrival_from(&queue->breaker));
}

/* True from shortly before the breaker may be probed, so that a message that was never attempted is
 * available by then: it is a better probe than one that has failed before. */
static bool may_probe(const struct queue *queue) {
    return queue->breaker.state != BREAKER_OPEN ||
           probe_from(queue).ms - RECEIVE_AHEAD_MS <= queue->engine->now.mono.ms;
}

/* When its time is over, an open breaker still waits for the answers to old probes. */
struct mono receive_probe_wake(struct queue *queue, bool may_take) {
    struct mono until = queue->breaker.until, from = probe_from(queue),
                now = queue->engine->now.mono;
    int64_t ahead_ms = source_is_server(queue) ? RECEIVE_AHEAD_MS : 0;
    if (until.ms <= now.ms)
        return MONO_NEVER;
    if (from.ms <= now.ms)
        return may_take ? mono_earlier(until, receive_next_wake(queue)) : until;
    return from.ms - ahead_ms > now.ms ? (struct mono){from.ms - ahead_ms} : from;
}

void receive_want(struct queue *queue) {
    bool wants = queue->state == QUEUE_RUNNING && !queue->fenced && !queue->engine->stopping &&
                 !room_stops_receiving(queue) && may_probe(queue) &&
                 opinion_receives(&queue->opinion, queue->engine->now.mono);
    if (wants == queue->wants || !source_is_server(queue))
        return;
    queue->wants = wants;
    if (queue->broker->vtable->want)
        queue->broker->vtable->want(queue->broker, wants);
}

static void on_ready(void *arg) {
    engine_wake(arg);
}

void receive_begin(struct queue *queue) {
    queue->wants = true;
    if (!source_is_server(queue))
        return;
    receive_want(queue);
    queue->broker->vtable->listen(queue->broker, on_ready, queue);
}

/* ---- received messages ---- */

static bool is_under_way(const struct queue *queue, struct bytes id) {
    uint64_t hash = bytes_print(id);
    for (struct map_node *node = map_first(&queue->by_id, hash); node; node = map_next(node))
        if (bytes_eq(CONTAINER_OF(node, struct attempt, by_id)->held->envelope.id, id))
            return true;
    return false;
}

/* A redelivery of a message that is in flight waits for the result of the first delivery. */
static bool wait_for_twin(struct queue *queue, struct message *held) {
    struct engine *engine = queue->engine;
    if (!held->redelivered || !is_under_way(queue, held->envelope.id))
        return false;
    struct instant due = {engine->now.wall, mono_after(engine->now.mono, TWIN_HOLD_MS)};
    queue->broker->vtable->hand_back(queue->broker, held, due);
    return true;
}

/* Compares with the present body and the one before an edit. A body that cannot be read counts as
 * different. */
static bool has_had_body(struct queue *queue, const struct message *before, struct message *held) {
    struct store *store = queue->engine->store;
    struct bytes first;
    return bytes_eq(before->body, held->body) ||
           (before->envelope.edited &&
            letters_note(store->letters, 0, SPACE_ORIGINAL, before->envelope.letter_id,
                         queue->engine->now.wall, &held->arena, &first, NULL) == STATUS_OK &&
            bytes_eq(first, held->body));
}

/* A redelivery of a message that the store holds (SEMANTICS 1.3): its source may have delivered it
 * before, and id and body are equal. `known`: the store holds its id. */
static bool is_held(struct queue *queue, struct message *held, bool known) {
    struct store *store = queue->engine->store;
    struct message *before = NULL;
    struct err err;
    if (!known)
        return false;
    enum status status = letters_get(store->letters, queue->name, held->envelope.id, &before, &err);
    bool same =
        status == STATUS_OK && !before->envelope.read_only && has_had_body(queue, before, held);
    if (same)
        source_settle_copy(queue, held);
    message_free(before);
    return same;
}

/* Its category, reason and why must be set. */
static void bury_unattempted(struct queue *queue, struct message *held, enum cause cause) {
    struct envelope *envelope = &held->envelope;
    struct attempt *attempt = attempt_new(queue, held);
    envelope->instance = queue->engine->options.instance;
    judge_bury(attempt, policy_dlq(queue->rules.policy, envelope->category), cause,
               STATE_PENDING_REVIEW);
    judge_result(attempt, RESULT_DLQ);
    commit_decided(attempt);
}

/* `created_at` is the time that the source states; WALL_NEVER: none. */
static bool is_poison(struct queue *queue, struct message *held, struct wall created_at) {
    struct envelope *envelope = &held->envelope;
    uint64_t allowed = queue->rules.policy->poison.deliveries;
    char why[WHY_MAX];
    if (held->deliveries <= allowed || held->deliveries <= allowed + stops_since(queue, created_at))
        return false;
    snprintf(why, sizeof why, "its source delivered it %u times", held->deliveries);
    envelope->why = arena_dup(&held->arena, bytes_of(why));
    envelope->category = BYTES("crash");
    envelope->reason = BYTES("deliveries");
    bury_unattempted(queue, held, CAUSE_CRASH);
    return true;
}

/* True if the message is a pointer to a record that no longer exists: it becomes a letter, because
 * there is no body to hand over. */
static bool is_gone(struct queue *queue, struct message *held) {
    struct envelope *envelope = &held->envelope;
    if (!pointer_is_empty(envelope))
        return false;
    envelope->why = pointer_why(envelope->source, &held->arena);
    envelope->category = BYTES("unknown");
    envelope->reason = BYTES("gone");
    bury_unattempted(queue, held, CAUSE_TERMINAL);
    return true;
}

static bool admit(struct queue *queue, struct message *held, bool known) {
    struct envelope *envelope = &held->envelope;
    struct wall created_at = envelope->created_at;
    envelope->queue = queue->name;
    lifecycle_take(envelope);
    envelope->size = held->body.len;
    envelope->retry_after_ms = -1;
    if (envelope->created_at.ms == WALL_NEVER.ms)
        envelope->created_at = queue->engine->now.wall;
    /* A letter that comes back may have the id under which it is held. */
    return !origin_comes_back(queue, held) && !wait_for_twin(queue, held) &&
           !is_held(queue, held, known) && !is_poison(queue, held, created_at) &&
           !is_gone(queue, held);
}

/* Which of them the store may hold; looked up for all at once, since most brokers cannot state that
 * a delivery is the first. */
static void look_up(struct queue *queue, struct message *const *held, size_t count,
                    bool known[AT_ONCE]) {
    struct store *store = queue->engine->store;
    struct bytes ids[AT_ONCE];
    bool holds[AT_ONCE] = {false};
    size_t asked = 0;
    for (size_t i = 0; i < count; i++)
        if (held[i]->redelivered)
            ids[asked++] = held[i]->envelope.id;
    bool told = asked == 0 ||
                letters_holds(store->letters, queue->number, ids, asked, holds, NULL) == STATUS_OK;
    for (size_t i = 0, at = 0; i < count; i++)
        known[i] = held[i]->redelivered && (holds[at++] || !told);
}

/* Receives messages to be handed over, at most AT_ONCE. True: there may be more. */
static bool receive_some(struct queue *queue, size_t max, struct message **out, size_t *count) {
    struct broker *broker = queue->broker;
    struct message *held[AT_ONCE];
    bool known[AT_ONCE];
    size_t want = max < AT_ONCE ? max : AT_ONCE;
    size_t got = want ? broker->vtable->receive(broker, queue->engine->now, held, want) : 0;
    look_up(queue, held, got, known);
    *count = 0;
    for (size_t i = 0; i < got; i++)
        if (admit(queue, held[i], known[i]))
            out[(*count)++] = held[i];
    return want > 0 && got == want;
}

/* ---- into the store first ---- */

static bool is_stored_first(const struct queue *queue) {
    const struct engine_idempotency *idempotency = &queue->rules.idempotency;
    return queue->rules.order == ORDER_KEY || queue_leases(queue) || queue->in_process ||
           idempotency->path.len > 0 || idempotency->header.len > 0;
}

static void store_one(struct queue *queue, struct message *held) {
    struct attempt *attempt = attempt_new(queue, held);
    lifecycle_put_back(&held->envelope);
    attempt->op = STORE_PUT;
    attempt->purpose = PURPOSE_STORE;
    queue->arriving++;
    commit_decided(attempt);
}

/* Stores as many as could be handed over; messages whose commit is in progress count. */
static void store_first(struct queue *queue, size_t room) {
    struct message *held[AT_ONCE];
    size_t got;
    receive_some(queue, room > queue->arriving ? room - queue->arriving : 0, held, &got);
    for (size_t i = 0; i < got; i++)
        store_one(queue, held[i]);
}

/* ---- receiving ---- */

static size_t receive_fresh(struct queue *queue, struct message **out, size_t max) {
    size_t count = 0, some;
    bool more = true;
    while (more) {
        more = receive_some(queue, max - count, out + count, &some);
        count += some;
    }
    return count;
}

size_t receive_messages(struct queue *queue, struct message **out, size_t max) {
    struct engine *engine = queue->engine;
    struct store *store = engine->store;
    if (!source_is_server(queue))
        return queue->broker->vtable->receive(queue->broker, engine->now, out, max);
    size_t count = store->vtable->take(store, queue->number, TAKE_READY, engine->now, out, max);
    if (is_stored_first(queue))
        store_first(queue, max - count);
    else
        count += receive_fresh(queue, out + count, max - count);
    return count;
}

struct mono receive_next_wake(struct queue *queue) {
    struct store *store = queue->engine->store;
    struct mono next = queue->broker->vtable->next_wake(queue->broker);
    return source_is_server(queue)
               ? mono_earlier(next, store->vtable->next_ready(store, queue->number, TAKE_READY))
               : next;
}
