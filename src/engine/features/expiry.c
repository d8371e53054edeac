#include "engine/features/expiry.h"

#include "engine/features/tracing/tracing.h"

enum { EXPIRY_WHY_MAX = 96 };

static bool was_handed_over(const struct envelope *envelope) {
    return envelope->first_attempt_at.ms != WALL_NEVER.ms || envelope_tries(envelope) > 0 ||
           envelope->letter_id.len > 0;
}

/* The age is counted from the end of the delay, if the message was pushed with one, and without
 * jumps of the wall clock since then (SEMANTICS 2.6). */
static bool is_too_old(const struct queue *queue, const struct envelope *envelope) {
    const struct engine *engine = queue->engine;
    bool delayed = envelope->next_attempt_at.ms > envelope->created_at.ms;
    struct wall since = delayed ? envelope->next_attempt_at : envelope->created_at;
    struct wall now = clock_jumps_evenly(&engine->jumps, since, engine->now.wall);
    return now.ms - since.ms > queue->rules.policy->expire_ms;
}

static void put_why(const struct queue *queue, struct message *held) {
    char memory[EXPIRY_WHY_MAX];
    struct buf why;
    buf_init_fixed(&why, memory, sizeof memory);
    buf_str(&why, "it was not handed over within ");
    duration_put(&why, queue->rules.policy->expire_ms);
    buf_str(&why, " of its arrival");
    held->envelope.why = arena_dup(&held->arena, buf_view(&why));
}

bool expiry_takes(struct queue *queue, struct message *held) {
    struct envelope *envelope = &held->envelope;
    if (queue->rules.policy->expire_ms == 0 || was_handed_over(envelope) ||
        !is_too_old(queue, envelope))
        return false;
    struct attempt *attempt = attempt_new(queue, held);
    put_why(queue, held);
    envelope->category = BYTES("timeout");
    envelope->reason = BYTES("expired");
    envelope->instance = queue->engine->options.instance;
    judge_bury(attempt, policy_dlq(queue->rules.policy, envelope->category), CAUSE_EXPIRED,
               STATE_PENDING_REVIEW);
    judge_result(attempt, RESULT_DLQ);
    commit_decided(attempt);
    return true;
}
