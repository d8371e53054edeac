/* A letter whose half-done work is undone by its queue's compensating handler (DESIGN §9).
 *
 *   pending_review ──▶ replaying, compensating n ──▶ resolved / compensated
 *        ▲                   │        ▲
 *        │                   └─ retry ┘
 *        └── given up: the letter as before, with a longer history
 *
 * A compensation is an attempt like any other: noted in the attempt log, judged by the queue's
 * policy, retried with its backoff, durable before it is freed. But the breaker does not count it,
 * since it says nothing about the queue's own handler, and the letter's failure stays as it is.
 * After a kill -9 the letter is still replaying, and the handler runs again after the restart. */
#include "core/lifecycle.h"
#include "engine/feature.h"

/* The handler may have been removed from the configuration before a restart. */
static void fail_at_once(struct attempt *attempt) {
    attempt->outcome =
        (struct outcome){.ending = ENDING_FAILED,
                         .kind = KIND_REPORTED,
                         .error_type = BYTES("no_compensate_handler"),
                         .error_message = BYTES("the queue has no compensate handler "
                                                "any more"),
                         .retry_after_ms = -1,
                         .has_verdict = true,
                         .verdict = VERDICT_DLQ};
    evaluate_rules(attempt);
}

/* attempt_handler chooses the compensating handler from now on. */
static bool before_call(struct attempt *attempt) {
    if (!attempt->held->envelope.compensating || attempt->before)
        return false;
    struct envelope *before = arena_alloc(&attempt->held->arena, sizeof *before);
    *before = attempt->held->envelope;
    attempt->before = before;
    if (attempt->queue->compensate)
        return false;
    fail_at_once(attempt);
    return true;
}

/* Crashes and the age of the letter belong to the queue's own handler; only the number of attempts
 * bounds a compensation. */
static bool decide_compensation(struct attempt *attempt, struct decision *out) {
    if (!attempt_compensates(attempt))
        return false;
    struct engine *engine = attempt->queue->engine;
    const struct envelope *before = attempt->before;
    struct subject subject = {.attempt = before->compensating,
                              .first_failure_at = WALL_NEVER,
                              .previous_delay_ms = before->delay_ms,
                              .headers = before->headers,
                              .header_count = before->header_count};
    struct circumstance around = {.now = engine->now.wall};
    *out = decide(attempt->policy, &subject, &attempt->outcome, &attempt->facts, &around,
                  &engine->rng);
    return true;
}

static void note(struct attempt *attempt, const struct decision *decision) {
    const struct outcome *outcome = &attempt->outcome;
    struct envelope_note line = {
        .attempt = attempt->before->compensating,
        .replay = attempt->before->replays,
        .at = attempt->started.wall,
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
    envelope_note(&attempt->held->envelope, &attempt->held->arena, &line);
}

static bool carry_out(struct attempt *attempt, const struct decision *decision) {
    if (!attempt_compensates(attempt))
        return false;
    struct envelope *envelope = &attempt->held->envelope;
    struct wall now = attempt->queue->engine->now.wall;
    *envelope = *attempt->before; /* discards all changes that were made for the judgement */
    note(attempt, decision);
    attempt->op = STORE_UPDATE;
    switch (decision->action) {
    case ACTION_DONE:
        envelope->compensating = 0;
        lifecycle_resolve(envelope, RESOLUTION_COMPENSATED, now);
        return true;
    case ACTION_HAND_BACK:
        lifecycle_retry(envelope, now, 0);
        return true;
    case ACTION_RETRY:
    case ACTION_FALLBACK:
        envelope->compensating++;
        lifecycle_retry(envelope, now, decision->delay_ms);
        return true;
    case ACTION_DEAD:
    case ACTION_DISCARD:
    case ACTION_HALT: /* the compensating handler's credentials are not the queue's */
        break;
    }
    envelope->compensating = 0;
    lifecycle_recall(envelope);
    return true;
}

/* ---- the feature ---- */

const struct engine_feature compensation_feature = {
    .name = "compensation",
    .before_call = before_call,
    .decide = decide_compensation,
    .carry_out = carry_out,
};
