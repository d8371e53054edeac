/* A letter whose half-done work is undone by its queue's compensating handler (DESIGN §9).
 *
 *   pending_review ──▶ replaying, compensating n ──▶ resolved / compensated
 *        ▲                   │        ▲
 *        │                   └─ retry ┘
 *        └── given up: as it was, with its history longer
 *
 * It is an attempt like any: noted in the flight recorder, judged by the queue's policy, retried
 * with its backoff, recorded before it is let go. But it says nothing about the queue's own handler
 * (the breaker does not hear of it), nor about what the letter died of: that stays as it is. A
 * kill -9 finds the letter still replaying, and the next life runs the handler again. */
#include "engine/compensate.h"

#include "core/lifecycle.h"

bool compensate_is(const struct flight *flight) {
    return flight->before != NULL;
}

/* A restart may have taken the handler away. */
static void fail_at_once(struct flight *flight) {
    flight->outcome = (struct outcome){.ending = ENDING_FAILED,
                                       .kind = KIND_REPORTED,
                                       .error_type = BYTES("no_compensate_handler"),
                                       .error_message = BYTES("the queue has no compensate handler "
                                                              "any more"),
                                       .retry_after_ms = -1,
                                       .has_verdict = true,
                                       .verdict = VERDICT_DLQ};
    question_outcome(flight);
}

void compensate_begin(struct flight *flight) {
    struct envelope *before = arena_alloc(&flight->held->arena, sizeof *before);
    *before = flight->held->envelope;
    flight->before = before;
    if (flight->queue->compensate)
        flight_call(flight);
    else
        fail_at_once(flight);
}

/* Crashes and ages of the letter are its own handler's; attempts alone bound a compensation. */
struct decision compensate_decide(struct flight *flight) {
    struct engine *engine = flight->queue->engine;
    const struct envelope *before = flight->before;
    struct subject subject = {.attempt = before->compensating,
                              .first_failure_at = WALL_NEVER,
                              .previous_delay_ms = before->delay_ms,
                              .headers = before->headers,
                              .header_count = before->header_count};
    struct circumstance around = {.now = engine->now.wall};
    return decide(flight->policy, &subject, &flight->outcome, &flight->facts, &around,
                  &engine->rng);
}

static void note(struct flight *flight, const struct decision *decision) {
    const struct outcome *outcome = &flight->outcome;
    struct envelope_note line = {
        .attempt = flight->before->compensating,
        .replay = flight->before->replays,
        .at = flight->started.wall,
        .duration_ms = outcome->duration_ms,
        .counted = decision->counted,
        .ok = outcome->ending == ENDING_OK,
        .interrupted = outcome->ending == ENDING_INTERRUPTED,
        .compensation = true,
        .verdict = decision->verdict,
        .category = decision->category,
        .error_type = outcome->error_type,
        .error_message = outcome->error_message,
        .delay_ms = decision->action == ACTION_RETRY ? decision->delay_ms : -1,
    };
    envelope_note(&flight->held->envelope, &flight->held->arena, &line);
}

void compensate_carry_out(struct flight *flight, const struct decision *decision) {
    struct envelope *envelope = &flight->held->envelope;
    struct wall now = flight->queue->engine->now.wall;
    *envelope = *flight->before; /* whatever was written into it to be judged */
    note(flight, decision);
    flight->op = STORE_UPDATE;
    switch (decision->action) {
    case ACTION_DONE:
        envelope->compensating = 0;
        lifecycle_resolve(envelope, RESOLUTION_COMPENSATED, now);
        return;
    case ACTION_HAND_BACK:
        lifecycle_retry(envelope, now, 0);
        return;
    case ACTION_RETRY:
    case ACTION_FALLBACK:
        envelope->compensating++;
        lifecycle_retry(envelope, now, decision->delay_ms);
        return;
    case ACTION_DEAD:
    case ACTION_DISCARD:
    case ACTION_HALT: /* the compensating handler's credentials are not the queue's */
        break;
    }
    envelope->compensating = 0;
    lifecycle_recall(envelope);
}
