/* The promises of DESIGN §1, checked from outside: by what producers and handlers saw, and by what
 * the store shows to anybody who asks. */
#include <stdio.h>
#include <string.h>

#include "fake_broker.h"
#include "world.h"

enum {
    ATTEMPTS_MAX = 5,
    PROBES_MAX = 8, /* calls beyond the attempts, without evidence of an outage */
    RETRY_WINDOW_MS = 10000,
    RETRY_FLOOR = 30,
    SURELY_DUE_MS = 60 * 1000, /* after a hand-over: no backoff is so long */
};

static bool is_dead(enum state state) {
    return state == STATE_PENDING_REVIEW || state == STATE_DISCARDED || state == STATE_RESOLVED;
}

/* ---- promise 4: retries stay within their share of first attempts ---- */

static size_t count_window(const struct world_queue *queue, int64_t until_ms, bool retries) {
    size_t n = 0;
    for (size_t i = queue->start_count; i-- > 0;) {
        if (queue->starts[i].at_ms <= until_ms - RETRY_WINDOW_MS)
            break;
        n += queue->starts[i].retry == retries;
    }
    return n;
}

static void check_budget(struct world *world, struct world_queue *queue, bool retry) {
    if (queue->start_count == WORLD_STARTS_MAX)
        queue->start_count = 0;
    queue->starts[queue->start_count++] = (struct start){world->now.mono.ms, retry};
    size_t firsts = count_window(queue, world->now.mono.ms, false);
    if (firsts > world->firsts_peak)
        world->firsts_peak = firsts;
    size_t allowed = world->firsts_peak / 5 > RETRY_FLOOR ? world->firsts_peak / 5 : RETRY_FLOOR;
    size_t retries = count_window(queue, world->now.mono.ms, true);
    if (retries > allowed)
        world_break(world, "%zu retries in 10 s, %zu are allowed", retries, allowed);
}

/* ---- order and idempotency ---- */

static bool shares_key(const struct sim_message *a, const struct sim_message *b) {
    return a != b && a->queue == b->queue && a->key != 0 && a->key == b->key;
}

static bool has_older_letter(struct world *world, const struct sim_message *message) {
    for (struct sim_message *older = world->messages; older < message; older++) {
        promises_look(world, older);
        if (shares_key(older, message) && older->held && older->state == STATE_PENDING_REVIEW)
            return true;
    }
    return false;
}

/* Whoever was pushed before it, with its key, has succeeded or was decided about. A letter that
 * people replay does not wait for an older one that they left in the DLQ, nor for those behind. */
static void check_order(struct world *world, const struct sim_message *message) {
    bool by_people = message->replay > 0 && has_older_letter(world, message);
    for (const struct sim_message *older = world->messages; older < message; older++) {
        bool settled = older->succeeded > 0 || older->decided || older->script == SCRIPT_DISCARD;
        if (!shares_key(older, message) || !older->acknowledged)
            continue;
        if (older->open_calls > 0 || (!settled && !by_people))
            world_break(world, "%s: handed over before %s, which has its key", message->id,
                        older->id);
    }
}

/* Nobody else with its key is at the handler, or has succeeded and is known to have. */
static void check_once(struct world *world, const struct sim_message *message) {
    for (size_t i = 0; i < world->message_count; i++) {
        struct sim_message *other = &world->messages[i];
        if (!shares_key(other, message))
            continue;
        if (other->open_calls > 0)
            world_break(world, "%s: handed over while %s runs, which has its key", message->id,
                        other->id);
        promises_look(world, other);
        if (other->succeeded > 0 && !other->held)
            world_break(world, "%s: handed over though %s succeeded, which has its key",
                        message->id, other->id);
    }
}

/* It was settled as a duplicate. */
static bool another_succeeded(const struct world *world, const struct sim_message *message) {
    for (size_t i = 0; message->queue == WORLD_ONCE_QUEUE && i < world->message_count; i++) {
        if (shares_key(&world->messages[i], message) && world->messages[i].succeeded > 0)
            return true;
    }
    return false;
}

/* Its verdict waits for room in a full DLQ: it is not handed over again. */
static void check_not_judged(struct world *world, const struct sim_message *message) {
    struct message *held = NULL;
    struct store *store = world->real_store;
    if (letters_get(store->letters, world_queue_name(message->queue), bytes_of(message->id), &held,
                    NULL) == STATUS_OK &&
        envelope_awaits_room(&held->envelope))
        world_break(world, "%s: handed over again while its verdict waits for room", message->id);
    message_free(held);
}

/* What its broker gives again is not begun again while it is held. */
static void check_not_doubled(struct world *world, struct sim_message *message,
                              const struct call *call) {
    promises_look(world, message);
    if (call->attempt == 1 && message->held && is_dead(message->state))
        world_break(world, "%s: a letter, and yet it begins again", message->id);
}

/* ---- while the breaker is not closed, every waiting message gets its turn ---- */

/* What awaits room in a full DLQ has its verdict, and is not handed over again. */
static bool is_waiting(struct world *world, const struct sim_message *message) {
    struct message *held = NULL;
    struct store *store = world->real_store;
    letters_get(store->letters, world_queue_name(message->queue), bytes_of(message->id), &held,
                NULL);
    bool waits = held && held->envelope.state == STATE_PENDING_RETRY &&
                 !envelope_awaits_room(&held->envelope) && !held->envelope.refused;
    message_free(held);
    return waits;
}

/* `message` is a probe that was one before. Each of the others may come first once, and no more. */
static void check_turns(struct world *world, const struct sim_message *message) {
    struct mono now = world->now.mono;
    uint32_t others = 0;
    for (size_t i = 0; i < world->message_count; i++)
        others += world->messages[i].queue == message->queue && world->messages[i].tried_at.ms > 0;
    for (size_t i = 0; i < world->message_count; i++) {
        struct sim_message *other = &world->messages[i];
        if (other == message || other->queue != message->queue || other->tried_at.ms == 0 ||
            other->open_calls > 0 || now.ms - other->tried_at.ms < SURELY_DUE_MS ||
            !is_waiting(world, other))
            continue;
        if (++other->passed_over > others)
            world_break(world, "%s: waits while %s is probed again", other->id, message->id);
    }
}

/* A few that fail come to their end. What a crash made us forget is not counted; of a batch, parts
 * are handed over again within one attempt. */
static void check_calls(struct world *world, struct sim_message *message, const struct call *call) {
    if (call->replay != message->replay)
        message->doubted = 0;
    if (message->queue != WORLD_BATCH_QUEUE &&
        message->doubted >= ATTEMPTS_MAX + PROBES_MAX + world->lives)
        world_break(world, "%s: has failed %u times, and comes again", message->id,
                    message->doubted);
}

static void note_turn(struct world *world, struct world_queue *queue, struct sim_message *message) {
    bool blocked = message->queue == WORLD_ORDERED_QUEUE || message->queue == WORLD_ONCE_QUEUE;
    if (queue->breaker != BREAKER_CLOSED && message->tried_at.ms > 0 && !blocked)
        check_turns(world, message);
    message->tried_at = world->now.mono;
    message->passed_over = 0;
}

void promises_on_start(struct world *world, struct world_queue *queue, struct sim_message *message,
                       const struct call *call) {
    if (!message || message->submissions == 0) {
        world_break(world, "a message that nobody pushed was handed over");
        return;
    }
    if (message->rejected)
        world_break(world, "%s: its push was refused, and yet it was handed over", message->id);
    if (message->open_calls > 0)
        world_break(world, "%s: handed over twice at once", message->id);
    if (call->attempt > ATTEMPTS_MAX)
        world_break(world, "%s: attempt %u", message->id, call->attempt);
    if (call->replay > 0 && message->succeeded > 0 && message->succeeded_life == world->lives &&
        message->succeeded_replay > 0)
        world_break(world, "%s: sent again by a replay, though one resolved it in this life",
                    message->id);
    if (message->removed && call->replay == 0)
        world_break(world, "%s: buried or discarded, and yet handed over", message->id);
    refusals_on_start(world, message);
    check_not_judged(world, message);
    check_calls(world, message, call);
    message->replay = call->replay;
    if (message->queue == WORLD_ORDERED_QUEUE)
        check_order(world, message);
    if (message->queue == WORLD_ONCE_QUEUE)
        check_once(world, message);
    if (message->queue == WORLD_SERVER_QUEUE)
        check_not_doubled(world, message, call);
    note_turn(world, queue, message);
    bool again = message->split && call->attempt == message->attempts_seen;
    if (queue->breaker == BREAKER_CLOSED && !again)
        check_budget(world, queue, call->attempt > 1);
}

/* ---- promises 1, 2, 3, 5 ---- */

static bool is_at_server(const struct world *world, const struct sim_message *message) {
    return message->queue == WORLD_SERVER_QUEUE && fake_server_has(world->server, message->id);
}

void promises_look(struct world *world, struct sim_message *message) {
    struct message *held = NULL;
    struct store *store = world->real_store;
    enum status status = letters_get(store->letters, world_queue_name(message->queue),
                                     bytes_of(message->id), &held, NULL);
    message->held = status == STATUS_OK;
    if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_IO)
        world_break(world, "%s: get answers %s", message->id, status_name(status));
    message->unreadable = status == STATUS_IO;
    if (message->unreadable)
        message->held = true; /* the disk is failing: it cannot be told now */
    if (held) {
        message->state = held->envelope.state;
        message->cause = held->envelope.cause;
        if (held->envelope.attempts > ATTEMPTS_MAX)
            world_break(world, "%s: %u attempts counted", message->id, held->envelope.attempts);
        if (held->envelope.attempts + held->envelope.probes > ATTEMPTS_MAX + PROBES_MAX)
            world_break(world, "%s: %u attempts and %u probes", message->id,
                        held->envelope.attempts, held->envelope.probes);
        if (message->queue == WORLD_CALLBACK_QUEUE && message->script != SCRIPT_KILLER &&
            held->envelope.crashes > 0)
            world_break(world, "%s: blamed for a death that another one caused", message->id);
        if (held->body.len != strlen(message->id) ||
            memcmp(held->body.ptr, message->id, held->body.len) != 0)
            world_break(world, "%s: its body is not what was pushed", message->id);
    }
    message_free(held);
    if (!message->held && is_at_server(world, message)) {
        message->held = true;
        message->state = STATE_QUEUED;
    }
}

/* A worker's silence is an attempt, and the fourth one a message's last: a suspect's three. */
static bool may_die_of_silence(const struct sim_message *message, enum cause cause) {
    enum { EXPIRIES_TO_DIE = 4 };
    if (message->queue != WORLD_LEASE_QUEUE)
        return false;
    return (cause == CAUSE_CRASH && message->silent >= EXPIRIES_TO_DIE) ||
           (cause == CAUSE_EXHAUSTED && message->silent > 0);
}

static bool may_die_of(const struct sim_message *message, enum cause cause) {
    if (cause == CAUSE_BLOCKED)
        return message->queue == WORLD_ORDERED_QUEUE && message->calls == 0;
    if (may_die_of_silence(message, cause) || (cause == CAUSE_OPERATOR && message->removal_asked) ||
        (cause == CAUSE_TERMINAL && message->locked_out))
        return true;
    switch (message->script) {
    case SCRIPT_VALIDATION:
    case SCRIPT_DISCARD:
        return cause == CAUSE_TERMINAL;
    case SCRIPT_BUG:
        return cause == CAUSE_UNCLASSIFIED;
    case SCRIPT_POISON:
        return cause == CAUSE_EXHAUSTED;
    case SCRIPT_CRASHER:
        return cause == CAUSE_CRASH || cause == CAUSE_EXHAUSTED;
    case SCRIPT_KILLER:
        return cause == CAUSE_CRASH;
    case SCRIPT_REFUSED:
        return cause == CAUSE_TERMINAL;
    case SCRIPT_GOOD:
    case SCRIPT_FLAKY:
    case SCRIPT_SLOW:
    case SCRIPT_COUNT:
        break;
    }
    return false;
}

static void check_death(struct world *world, const struct sim_message *message) {
    refusals_check_death(world, message);
    if (message->spared && message->cause != CAUSE_OPERATOR)
        world_break(world, "%s: dead (%s) with evidence of an outage", message->id,
                    cause_text(message->cause));
    if (!message->met_outage && message->cause != CAUSE_EXPIRED &&
        !may_die_of(message, message->cause))
        world_break(world, "%s: dead with cause %s, which its script does not give", message->id,
                    cause_text(message->cause));
}

/* A message that is gone has left its answer where its queue says. */
static void check_answer(struct world *world, const struct sim_message *message) {
    struct store *store = world->real_store;
    struct arena arena;
    struct bytes value;
    arena_init_heap(&arena, 256);
    if (message->queue == WORLD_SINK_QUEUE && !message->published)
        world_break(world, "%s: gone, and its answer was not published", message->id);
    if (message->queue == WORLD_KEEPING_QUEUE &&
        letters_note(store->letters,
                     store->vtable->queue_number(store, world_queue_name(message->queue)),
                     SPACE_RESULT, bytes_of(message->id), world->now.wall, &arena, &value,
                     NULL) == STATUS_NOT_FOUND)
        world_break(world, "%s: gone, and its answer is not kept", message->id);
    arena_free(&arena);
}

/* Only what a handler answered well, or a person decided, is resolved. */
static void check_resolved(struct world *world, const struct sim_message *message) {
    if (message->succeeded == 0 && !message->decided && !another_succeeded(world, message))
        world_break(world, "%s: resolved, though it never succeeded", message->id);
}

static void check_one(struct world *world, struct sim_message *message) {
    if (message->open_calls > 0)
        return;
    promises_look(world, message);
    if (message->acknowledged && !message->held && message->succeeded == 0 &&
        !another_succeeded(world, message))
        world_break(world, "%s: acknowledged, never handled, and gone", message->id);
    if (message->acknowledged && !message->held)
        check_answer(world, message);
    if (message->rejected && message->held && !message->unreadable)
        world_break(world, "%s: its push was refused, and yet it is held", message->id);
    if (message->held && message->state == STATE_RESOLVED)
        check_resolved(world, message);
    else if (message->held && is_dead(message->state))
        check_death(world, message);
}

static void check_caps(struct world *world) {
    for (size_t i = 0; i < WORLD_QUEUES; i++) {
        const struct engine_dlq *dlq = &world->queues[i].dlq;
        uint64_t depth = world->real_store->vtable->dlq_depth(world->real_store, dlq->name);
        if (depth > dlq->cap)
            world_break(world, "%.*s: %llu letters, its cap is %llu", BYTES_ARG(dlq->name),
                        (unsigned long long)depth, (unsigned long long)dlq->cap);
    }
}

/* No full DLQ holds what would succeed, where nothing else does: order, idempotency, workers, a
 * halted queue, an open breaker. */
void promises_check_healthy(struct world *world) {
    for (size_t i = 0; i < world->message_count && !world->broken[0]; i++) {
        struct sim_message *message = &world->messages[i];
        bool plain = message->queue == WORLD_KEEPING_QUEUE || message->queue == WORLD_SINK_QUEUE;
        if (!plain || message->script != SCRIPT_GOOD || message->open_calls > 0)
            continue;
        promises_look(world, message);
        const struct world_queue *queue = &world->queues[message->queue];
        bool stopped = queue->state == QUEUE_HALTED || queue->breaker == BREAKER_OPEN;
        if (message->held && !is_dead(message->state) && !message->met_outage &&
            !message->removal_asked && !stopped)
            world_break(world, "%s: healthy, and held by a full DLQ", message->id);
    }
}

void promises_check(struct world *world) {
    check_caps(world);
    if (world->message_count > 0)
        check_one(world, &world->messages[rng_below(&world->rng, world->message_count)]);
}

void promises_check_all(struct world *world) {
    for (size_t i = 0; i < world->message_count; i++)
        check_one(world, &world->messages[i]);
}

/* Faults are over and everything has come to rest: every message has its one known destination. */
void promises_check_end(struct world *world) {
    for (size_t i = 0; i < world->message_count; i++) {
        struct sim_message *message = &world->messages[i];
        check_one(world, message);
        if (message->held && is_dead(message->state) && is_at_server(world, message))
            world_break(world, "%s: a letter that its source was never told of", message->id);
        if (message->held && !is_dead(message->state))
            world_break(world, "%s: still %s, and nothing will ever move it", message->id,
                        state_text(message->state));
    }
}
