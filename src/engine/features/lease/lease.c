#include "engine/features/lease/lease.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "core/lifecycle.h"
#include "engine/attempt/body_room.h"
#include "engine/features/lease/lease_poll.h"
#include "engine/features/idempotency.h"
#include "engine/features/tracing/tracing.h"
#include "engine/feature.h"

enum { HEX_DIGITS = 16, RECOVER_AT_ONCE = 64 };

/* ---- lease ids ---- */

void lease_text(uint64_t message, uint64_t secret, char out[ENGINE_LEASE_TEXT_SIZE]) {
    snprintf(out, ENGINE_LEASE_TEXT_SIZE, "%016llx%016llx", (unsigned long long)message,
             (unsigned long long)secret);
}

static bool parse_hex(struct bytes digits, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        bool decimal = c >= '0' && c <= '9';
        if (!decimal && (c < 'a' || c > 'f'))
            return false;
        *out = *out << 4 | (uint64_t)(decimal ? c - '0' : c - 'a' + 10);
    }
    return true;
}

bool lease_parse(struct bytes text, uint64_t *message, uint64_t *secret) {
    return text.len == 2 * HEX_DIGITS && parse_hex(bytes_cut(text, 0, HEX_DIGITS), message) &&
           parse_hex(bytes_cut(text, HEX_DIGITS, text.len), secret);
}

/* Numbers of messages are dense; this spreads them over the slots. */
static uint64_t hash(uint64_t message) {
    return message * UINT64_C(0x9E3779B97F4A7C15) >> 16;
}

/* Within the range of the envelope's JSON numbers; 0 means no lease. */
static uint64_t new_secret(struct rng *rng) {
    uint64_t secret;
    do
        secret = rng_next(rng) >> 1;
    while (secret == 0);
    return secret;
}

/* ---- beginning ---- */

static struct lease *lease_new(struct attempt *attempt, enum lease_stage stage) {
    struct lease *lease = memory_new(sizeof *lease);
    lease->attempt = attempt;
    lease->stage = stage;
    list_init(&lease->in_poll);
    attempt->lease = lease;
    attempt_to(attempt, ATTEMPT_LEASED);
    map_insert(&attempt->queue->engine->leases, &lease->by_message, hash(attempt->held->seq));
    return lease;
}

struct lease *lease_grant(struct attempt *attempt, struct lease_poll *poll, int64_t lease_ms) {
    struct envelope *envelope = &attempt->held->envelope;
    struct lease *lease = lease_new(attempt, LEASE_GRANTING);
    lease->poll = poll;
    lifecycle_put_back(envelope);
    envelope->lease = new_secret(&attempt->queue->engine->rng);
    envelope->lease_ms = lease_ms;
    attempt->op = STORE_UPDATE;
    commit_decided(attempt);
    return lease;
}

struct lease *lease_late(struct attempt *attempt) {
    return lease_new(attempt, LEASE_ENDED);
}

/* A late answer that is being recorded for a letter must not hide the lease that a replay of it has
 * got since. */
struct lease *lease_find(const struct engine *engine, uint64_t message) {
    struct lease *found = NULL;
    for (struct map_node *node = map_first(&engine->leases, hash(message)); node;
         node = map_next(node)) {
        struct lease *lease = CONTAINER_OF(node, struct lease, by_message);
        if (lease->attempt->held->seq == message && (!found || found->stage == LEASE_ENDED))
            found = lease;
    }
    return found;
}

/* ---- live leases ---- */

bool lease_is_alive(const struct lease *lease) {
    return lease && lease->stage == LEASE_ALIVE;
}

static void run_until(struct lease *lease, struct mono until) {
    struct heap *deadlines = &lease->attempt->queue->engine->lease_deadlines;
    heap_remove(deadlines, &lease->deadline);
    lease->deadline.at = until.ms;
    lease->deadline.tie = lease->attempt->held->seq;
    heap_insert(deadlines, &lease->deadline);
}

static void run_for(struct lease *lease, int64_t lease_ms) {
    run_until(lease, mono_after(lease->attempt->queue->engine->now.mono, lease_ms));
}

bool lease_extend(struct lease *lease, int64_t lease_ms) {
    struct envelope *envelope = &lease->attempt->held->envelope;
    run_for(lease, lease_ms);
    if (lease_ms <= envelope->lease_ms)
        return false;
    assert(lease->stage == LEASE_ALIVE);
    lease->stage = LEASE_EXTENDING;
    lease->stored_ms = envelope->lease_ms;
    envelope->lease_ms = lease_ms;
    lease->attempt->op = STORE_UPDATE;
    commit_decided(lease->attempt);
    return true;
}

/* ---- the end ---- */

void lease_end(struct lease *lease, const struct outcome *outcome) {
    struct attempt *attempt = lease->attempt;
    struct engine *engine = attempt->queue->engine;
    heap_remove(&engine->lease_deadlines, &lease->deadline);
    lease->stage = LEASE_ENDED;
    attempt->held->envelope.lease_ms = 0;
    attempt_ended(attempt, outcome);
    attempt->outcome.duration_ms = engine->now.mono.ms - attempt->started.mono.ms;
    evaluate_rules(attempt);
}

void lease_revoke(struct lease *lease) {
    struct envelope *envelope = &lease->attempt->held->envelope;
    assert(lease->stage == LEASE_ALIVE);
    heap_remove(&lease->attempt->queue->engine->lease_deadlines, &lease->deadline);
    lease->stage = LEASE_ENDED;
    envelope->lease = 0;
    envelope->lease_ms = 0;
}

/* The text has no number, because rules match numbers in it. */
static void expire(struct lease *lease) {
    static const struct outcome expired = {
        .ending = ENDING_FAILED,
        .kind = KIND_EXPIRED,
        .error_type = {"LeaseExpired", sizeof "LeaseExpired" - 1},
        .error_message = {"the lease ran out without an answer",
                          sizeof "the lease ran out without an answer" - 1},
        .retry_after_ms = -1};
    lease->attempt->queue->expired++;
    lease_end(lease, &expired);
}

void lease_ring(struct engine *engine) {
    struct heap_node *node;
    while ((node = heap_first(&engine->lease_deadlines)) && node->at <= engine->now.mono.ms) {
        struct lease *lease = CONTAINER_OF(node, struct lease, deadline);
        heap_remove(&engine->lease_deadlines, node);
        if (lease->stage == LEASE_ALIVE) /* otherwise when its extension is settled */
            expire(lease);
    }
}

struct mono lease_next(const struct engine *engine) {
    return heap_next(&engine->lease_deadlines);
}

void lease_free(struct lease *lease) {
    if (!lease)
        return;
    struct engine *engine = lease->attempt->queue->engine;
    heap_remove(&engine->lease_deadlines, &lease->deadline);
    map_remove(&engine->leases, &lease->by_message);
    list_remove(&lease->in_poll);
    lease_poll_forsake(lease->poll);
    lease_answer_forsake(lease);
    free(lease);
}

/* ---- results of commits ---- */

static void leave_commit(struct attempt *attempt) {
    attempt_to(attempt, ATTEMPT_LEASED);
    list_remove(&attempt->recording);
    attempt->queue->settling--;
    attempt->queue->engine->settling--;
    queue_visit(attempt->queue);
}

static void granted(struct lease *lease) {
    struct lease_poll *poll = lease->poll;
    lease->poll = NULL;
    lease->stage = LEASE_ALIVE;
    run_for(lease, lease->attempt->held->envelope.lease_ms);
    lease_poll_granted(poll);
}

/* Its deadline may have passed while the extension was not durable yet. */
static void extended(struct lease *lease) {
    lease->stage = LEASE_ALIVE;
    run_until(lease, (struct mono){lease->deadline.at});
    lease_answer_unpark(lease);
}

bool lease_settle(struct attempt *attempt) {
    struct lease *lease = attempt->lease;
    if (!lease)
        return false;
    lease_answer_settle(lease);
    if (lease->stage == LEASE_ENDED) {
        lease_answer_unpark(lease);
        return false;
    }
    leave_commit(attempt);
    if (lease->stage == LEASE_GRANTING)
        granted(lease);
    else
        extended(lease);
    return true;
}

static void take_back(struct attempt *attempt, enum status status, const struct err *err) {
    struct queue *queue = attempt->queue;
    struct message *held = attempt->held;
    lease_poll_refused(attempt->lease->poll, status, err);
    attempt->lease->poll = NULL;
    queue->running--;
    lease_free(attempt->lease);
    attempt->lease = NULL;
    attempt->held = NULL;
    attempt_free(attempt);
    queue_give_back(queue, held, queue->engine->now.mono);
}

bool lease_refuse(struct attempt *attempt, enum status status, const struct err *err) {
    struct lease *lease = attempt->lease;
    if (!lease || lease->stage == LEASE_ENDED)
        return false;
    leave_commit(attempt);
    lease_answer_refuse(lease, err);
    if (lease->stage == LEASE_GRANTING) {
        take_back(attempt, status, err);
        return true;
    }
    attempt->held->envelope.lease_ms = lease->stored_ms;
    extended(lease);
    return true;
}

static void recover_one(struct queue *queue, struct message *held) {
    struct attempt *attempt = attempt_new(queue, held);
    struct lease *lease = lease_new(attempt, LEASE_ALIVE);
    lifecycle_put_back(&held->envelope);
    attempt->started = queue->engine->now;
    tracing_begin(attempt);
    idempotency_claim(attempt);
    queue->running++;
    run_for(lease, held->envelope.lease_ms);
    body_room_drop(attempt);
}

void lease_recover(struct queue *queue) {
    struct engine *engine = queue->engine;
    struct store *store = engine->store;
    struct message *held[RECOVER_AT_ONCE];
    size_t got;
    do {
        got = store->vtable->take(store, queue->number, TAKE_LEASED, engine->now, held,
                                  RECOVER_AT_ONCE);
        for (size_t i = 0; i < got; i++)
            recover_one(queue, held[i]);
    } while (got > 0);
}

/* ---- the feature ---- */

static bool before_call(struct attempt *attempt) {
    if (!queue_leases(attempt->queue))
        return false;
    lease_poll_give(attempt);
    return true;
}

static void postponed(struct attempt *attempt, const struct err *err) {
    lease_answer_refuse(attempt->lease, err);
}

static void freed(struct attempt *attempt) {
    lease_free(attempt->lease);
    attempt->lease = NULL;
}

static struct mono next_wake(const struct engine *engine) {
    return mono_earlier(lease_next(engine), lease_poll_next(engine));
}

const struct engine_feature lease_feature = {
    .name = "leases",
    .before_call = before_call,
    .postponed = postponed,
    .refused = lease_refuse,
    .lives_on = lease_settle,
    .freed = freed,
    .recover = lease_recover,
    .fed = lease_poll_send,
    .hold = lease_poll_dismiss,
    .forget = lease_poll_drop,
    .ring = lease_ring,
    .turn_ends = lease_poll_ring,
    .next_wake = next_wake,
};
