/* Chooses the messages that may be handed over now, and computes when to try again. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/attempt/body_room.h"
#include "engine/features/expiry.h"
#include "engine/features/lease/lease_poll.h"
#include "engine/features/idempotency.h"
#include "engine/receive.h"
#include "engine/features/order.h"
#include "engine/features/origin.h"
#include "engine/queue/queue_facts.h"
#include "engine/features/refusal.h"
#include "engine/features/dlq/room.h"
#include "engine/features/suspect.h"

/* ---- whether the queue may hand over ---- */

static bool holds_everything(const struct queue *queue) {
    return queue->state != QUEUE_RUNNING || queue->fenced || queue->engine->stopping ||
           queue->postponed > 0 || queue->settling >= QUEUE_SETTLING_MAX;
}

static size_t slots_of(const struct queue *queue) {
    uint32_t concurrency = queue->rules.concurrency;
    uint32_t free = queue->running < concurrency ? concurrency - queue->running : 0;
    if (queue->settling >= QUEUE_SETTLING_MAX)
        return 0;
    return queue_leases(queue) && queue->wanted < free ? queue->wanted : free;
}

/* Bounded by the memory for bodies. */
static size_t free_slots(struct queue *queue) {
    size_t free = slots_of(queue), room = free > 0 ? body_room(queue) : 0;
    return free < room ? free : room;
}

bool feed_has_slot(const struct queue *queue) {
    return slots_of(queue) > 0;
}

/* After a crash, messages in flight without a commit are handed over again. For replays that is
 * never more than the concurrency (SEMANTICS 12.2); letters in flight to their origin are counted
 * apart. Whether a due message is a replay is known only after it was read, so all of them wait for
 * the commit, which wakes the queue. */
static bool has_all_replays(const struct queue *queue) {
    return queue->replays - queue->going >= queue->rules.concurrency;
}

/* ---- messages that are taken and given back at once; true: the message is gone ---- */

/* True if no waiting worker can take the message; it has been given back. */
static bool finds_no_worker(struct queue *queue, struct message *held) {
    if (!queue_leases(queue) || held->envelope.to_origin ||
        lease_poll_has_place(queue, held->envelope.suspect))
        return false;
    queue_give_back(queue, held, queue->engine->now.mono);
    return true;
}

/* A replay's first attempt counts as a first attempt; a letter that goes to its origin is not
 * attempted at all. */
static bool is_over_budget(struct queue *queue, struct message *held) {
    struct store *store = queue->engine->store;
    if (held->envelope.to_origin || envelope_tries(&held->envelope) == 0 ||
        budget_retry(&queue->budget, &queue->rules.policy->retry, queue->engine->now.mono,
                     &queue->retry_hold))
        return false;
    store->vtable->give_back(store, held, queue->retry_hold);
    return true;
}

/* ---- handing over ---- */

/* NULL: the message waits again, or needs no hand-over. */
static struct attempt *admit(struct queue *queue, struct message *held) {
    if (held->envelope.to_origin) {
        origin_send(queue, held);
        return NULL;
    }
    if (expiry_takes(queue, held) || !suspect_admit(queue, held))
        return NULL;
    struct attempt *attempt = attempt_new(queue, held);
    return idempotency_admit(attempt) ? attempt : NULL;
}

static void begin(struct attempt *attempt, bool probe) {
    struct queue *queue = attempt->queue;
    bool retry = envelope_tries(&attempt->held->envelope) > 0;
    if (probe)
        breaker_probe_started(&queue->breaker);
    if (!probe && retry)
        queue->retries++;
    if (!probe && !retry)
        budget_first(&queue->budget, queue->engine->now.mono);
    attempt_hand_over(attempt, probe);
}

static void hand_over(struct queue *queue, struct message *held, bool probe) {
    struct attempt *attempt = admit(queue, held);
    if (attempt)
        begin(attempt, probe);
}

bool feed_alone(struct queue *queue, struct message *held, bool confirming) {
    struct attempt *attempt = admit(queue, held);
    if (!attempt)
        return false;
    attempt->alone = true;
    attempt->confirming = confirming;
    queue->asked = attempt;
    begin(attempt, queue->breaker.state != BREAKER_CLOSED);
    return true;
}

static void feed_suspect(struct queue *queue) {
    struct message *held = free_slots(queue) ? suspect_next(queue) : NULL;
    if (held)
        hand_over(queue, held, false);
}

/* A message that waited for its key and is held back by the budget becomes due like any other
 * retry. */
static void feed_waited(struct queue *queue) {
    while (free_slots(queue) && !has_all_replays(queue)) {
        struct message *held = idempotency_next(queue);
        if (!held)
            return;
        if (refusal_sets_aside(queue, held))
            continue;
        if (finds_no_worker(queue, held))
            return;
        if (!is_over_budget(queue, held))
            hand_over(queue, held, false);
    }
}

static void feed_due(struct queue *queue) {
    struct engine *engine = queue->engine;
    struct store *store = engine->store;
    while (free_slots(queue) && !has_all_replays(queue) &&
           queue->retry_hold.ms <= engine->now.mono.ms) {
        struct message *held;
        if (!store->vtable->take(store, queue->number, TAKE_DUE, engine->now, &held, 1))
            return;
        if (refusal_sets_aside(queue, held))
            continue;
        if (finds_no_worker(queue, held) || is_over_budget(queue, held))
            return;
        hand_over(queue, held, false);
    }
}

static void feed_new(struct queue *queue) {
    enum { AT_ONCE = 256 };
    struct message *held[AT_ONCE];
    for (size_t room; (room = free_slots(queue)) > 0;) {
        size_t want = room < AT_ONCE ? room : AT_ONCE;
        size_t got = receive_messages(queue, held, want);
        bool none_back = true;
        for (size_t i = 0; i < got; i++) {
            if (refusal_sets_aside(queue, held[i]))
                continue;
            if (finds_no_worker(queue, held[i]))
                none_back = false;
            else
                hand_over(queue, held[i], false);
        }
        if (got < want || !none_back)
            return;
    }
}

/* ---- probes ---- */

static struct message *take_never_attempted(struct queue *queue) {
    struct message *held = NULL;
    if (!room_stops_receiving(queue))
        receive_messages(queue, &held, 1);
    return held;
}

static struct message *take_longest_waiting(struct queue *queue) {
    struct engine *engine = queue->engine;
    struct store *store = engine->store;
    struct message *held = NULL;
    store->vtable->take(store, queue->number, TAKE_DUE_LONGEST, engine->now, &held, 1);
    return held;
}

/* Every kind of waiting message gets its turn. Suspects and messages that waited for an idempotency
 * key are in no list of the store; they leave their own lists here, with their first hand-over. */
static struct message *next_probe(struct queue *queue) {
    struct message *held = suspect_next(queue);
    if (!held)
        held = idempotency_next(queue);
    if (!held)
        held = take_never_attempted(queue);
    return held ? held : take_longest_waiting(queue);
}

/* Without evidence of an outage, the arrival of a message that was never attempted ends the wait
 * (SEMANTICS 4.2). False: nothing was handed over. */
static bool feed_arrival(struct queue *queue) {
    struct breaker *breaker = &queue->breaker;
    struct mono now = queue->engine->now.mono;
    if (breaker->round_started > 0 || breaker_arrival_from(breaker).ms > now.ms ||
        !free_slots(queue))
        return false;
    struct message *held = take_never_attempted(queue);
    if (!held || refusal_sets_aside(queue, held) || finds_no_worker(queue, held))
        return false;
    breaker_arrived(breaker, now);
    uint32_t wanted = breaker_probes_wanted(breaker, &queue->rules.policy->breaker, now);
    hand_over(queue, held, wanted > 0);
    return true;
}

void feed_probes(struct queue *queue) {
    uint32_t wanted = breaker_probes_wanted(&queue->breaker, &queue->rules.policy->breaker,
                                            queue->engine->now.mono);
    if (wanted == 0 && feed_arrival(queue))
        return;
    while (wanted-- > 0 && free_slots(queue)) {
        struct message *held = next_probe(queue);
        if (!held) {
            refusal_probe(queue);
            return;
        }
        if (refusal_sets_aside(queue, held))
            continue;
        if (finds_no_worker(queue, held))
            return;
        hand_over(queue, held, true);
    }
}

static void feed(struct queue *queue) {
    if (holds_everything(queue)) {
        refusal_hold(queue);
        return;
    }
    if (queue->foreign) {
        origin_feed(queue);
        return;
    }
    if (!refusal_feed(queue))
        return;
    if (queue->breaker.state != BREAKER_CLOSED) {
        feed_probes(queue);
        return;
    }
    refusal_feed_proven(queue);
    feed_suspect(queue);
    feed_waited(queue);
    feed_due(queue);
    if (room_stops_receiving(queue))
        return;
    if (body_room(queue))
        order_feed(queue);
    feed_new(queue);
    refusal_feed_last(queue);
}

void feed_queue(struct queue *queue) {
    queue_facts_save_peak(queue);
    room_feed(queue);
    receive_want(queue);
    feed(queue);
    receive_want(queue);
}

/* ---- the next wake-up ---- */

/* Covers only timers; any other event wakes the queue through the mailbox. */
struct mono feed_next_wake(struct queue *queue) {
    struct engine *engine = queue->engine;
    struct store *store = engine->store;
    if (holds_everything(queue))
        return MONO_NEVER;
    if (queue->foreign)
        return origin_next_wake(queue);
    bool no_room = room_stops_receiving(queue);
    if (queue->breaker.state == BREAKER_OPEN)
        return receive_probe_wake(queue, free_slots(queue) && !no_room &&
                                             queue->breaker.round_started == 0);
    if (queue->opinion.stage != OPINION_NONE)
        return refusal_next_wake(queue);
    if (!free_slots(queue))
        return MONO_NEVER;
    struct mono due = MONO_NEVER;
    if (!has_all_replays(queue))
        due = store->vtable->next_ready(store, queue->number, TAKE_DUE);
    if (queue->breaker.state == BREAKER_CLOSED && due.ms < queue->retry_hold.ms)
        due = queue->retry_hold;
    struct mono fresh = receive_next_wake(queue);
    if (no_room)
        fresh = MONO_NEVER;
    struct mono next = mono_earlier(mono_earlier(due, fresh), refusal_next_wake(queue));
    /* A half-open breaker whose round has started must not cause a busy loop: the probes' answers
     * wake the queue. */
    const struct breaker *breaker = &queue->breaker;
    if (breaker->state == BREAKER_HALF_OPEN && breaker->round_started == breaker->round &&
        next.ms <= engine->now.mono.ms)
        return MONO_NEVER;
    return next;
}
