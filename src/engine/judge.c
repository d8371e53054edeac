/* From facts to what is to become of the message: decide, and the envelope that says so. Nothing
 * here is durable yet; record.c sees to that. */
#include <stdio.h>

#include "base/json.h"
#include "base/log.h"
#include "base/uuid.h"
#include "core/lifecycle.h"
#include "engine/compensate.h"
#include "engine/bundle.h"
#include "engine/flood_guard.h"
#include "engine/idempotency.h"
#include "engine/intake.h"
#include "engine/order.h"
#include "engine/refusal.h"
#include "engine/reply.h"
#include "engine/suspect.h"
#include "engine/tracing.h"

/* ---- what it means for the queue ---- */

static enum attempt_result result_of(const struct decision *decision,
                                     const struct outcome *outcome) {
    switch (decision->action) {
    case ACTION_DONE:
        return RESULT_OK;
    case ACTION_DEAD:
        return RESULT_DLQ;
    case ACTION_DISCARD:
        return RESULT_DISCARD;
    case ACTION_HALT:
        return RESULT_HALT;
    case ACTION_HAND_BACK:
        return outcome->ending == ENDING_INTERRUPTED ? RESULT_INTERRUPTED : RESULT_PROBE_FAILED;
    case ACTION_RETRY:
    case ACTION_FALLBACK:
        break;
    }
    return RESULT_RETRY;
}

static void count(struct flight *flight, const struct decision *decision) {
    struct queue *queue = flight->queue;
    double seconds = (double)flight->outcome.duration_ms / 1000;
    size_t bucket = 0;
    while (bucket < ENGINE_SECONDS_BUCKETS && seconds > engine_seconds_bounds[bucket])
        bucket++;
    queue->seconds_buckets[bucket]++;
    queue->seconds_sum += seconds;
    queue->results[result_of(decision, &flight->outcome)]++;
    if (flight->outcome.ending != ENDING_INTERRUPTED)
        rate_count(decision->action == ACTION_DONE ? &queue->ok : &queue->failed,
                   queue->engine->now.mono);
}

/* Of the failure that halts a queue or opens its breaker, in what is said of that. */
enum { LOG_ATTEMPT_MAX = 512, WHY_NAME_MAX = 64, WHY_WORDS_MAX = 120 };

/* The status, unless the words begin with it, and the words; or else its kind. */
static void put_failure(const struct outcome *outcome, struct buf *out) {
    struct bytes words = outcome->error_message.len ? outcome->error_message : outcome->error_type;
    char status[32] = "";
    if (outcome->status)
        snprintf(status, sizeof status, "HTTP %d", outcome->status);
    if (words.len == 0 && !outcome->status)
        words = bytes_of(kind_text(outcome->kind));
    if (!bytes_starts(words, bytes_of(status)))
        buf_printf(out, "%s%s", status, words.len ? " " : "");
    buf_bytes(out, bytes_clip(words, WHY_WORDS_MAX));
}

/* Failed probes and rounds are events alone: an outage has too many of them for the log. */
static void say_breaker(const struct flight *flight, enum breaker_state before,
                        struct mono opened_at) {
    struct queue *queue = flight->queue;
    char memory[sizeof queue->breaker_why];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    if (queue->breaker.state == BREAKER_OPEN) {
        put_failure(&flight->outcome, &text);
        snprintf(queue->breaker_why, sizeof queue->breaker_why, "%s", buf_cstr(&text));
    }
    if (before == BREAKER_CLOSED) {
        log_about(LOG_WARN, QUEUE_ABOUT(queue), "breaker open: too many failures, the last: %s",
                  buf_cstr(&text));
    } else if (queue->breaker.state == BREAKER_CLOSED) {
        duration_put(&text, queue->engine->now.mono.ms - opened_at.ms);
        log_about(LOG_INFO, QUEUE_ABOUT(queue), "breaker closed after %s", buf_cstr(&text));
    }
}

/* The breaker is told of attempts that were made while it was closed, and of its probes; what was
 * under way when it opened is evidence alone. */
static void tell_breaker(struct flight *flight, const struct decision *decision) {
    struct queue *queue = flight->queue;
    const struct breaker_policy *policy = &queue->rules.policy->breaker;
    struct mono now = queue->engine->now.mono;
    enum breaker_state before = queue->breaker.state;
    struct mono opened_at = queue->breaker.opened_at;
    /* The id, not the store's number: a broker's message has that only once it has failed. */
    struct breaker_answer answer = {.message = flight->by_id.hash,
                                    .failed = decision->breaker_failure,
                                    .retry_after_ms = flight->outcome.retry_after_ms};
    bool silent = flight->outcome.ending == ENDING_INTERRUPTED || compensate_is(flight);
    if (!bundle_speaks(flight, decision)) {
        if (answer.failed && !silent)
            breaker_failed_too(&queue->breaker, answer.message);
        return;
    }
    if (flight->probe && silent)
        breaker_probe_withdrawn(&queue->breaker);
    else if (flight->probe)
        breaker_probe_ended(&queue->breaker, policy, now, queue->rules.concurrency, answer);
    else if (!silent)
        breaker_note(&queue->breaker, policy, now, answer);
    if (queue->breaker.state == before)
        return;
    say_breaker(flight, before, opened_at);
    notice_breaker(queue);
}

static void end_attempt(struct flight *flight, const struct decision *decision) {
    flight->queue->running--;
    if (decision->action == ACTION_DONE && !compensate_is(flight))
        flight->queue->succeeded_at = flight->queue->engine->now.mono;
    queue_visit(flight->queue);
    count(flight, decision);
    if (decision->action == ACTION_DONE && flight->outcome.connection && !compensate_is(flight))
        connection_log_success(&flight->queue->connections[flight->handler],
                               flight->queue->engine->now.mono, flight->outcome.connection);
    tell_breaker(flight, decision);
    suspect_ended(flight);
    refusal_ended(flight, decision);
}

/* ---- what it means for the message ---- */

static void note_attempt(struct flight *flight, const struct decision *decision) {
    const struct outcome *outcome = &flight->outcome;
    struct envelope_note note = {
        .attempt =
            flight->call.attempt ? flight->call.attempt : flight->held->envelope.attempts + 1,
        .replay = flight->held->envelope.replays,
        .at = flight->started.wall,
        .duration_ms = outcome->duration_ms,
        .counted = decision->counted && !flight->counted_before,
        .ok = outcome->ending == ENDING_OK,
        .interrupted = outcome->ending == ENDING_INTERRUPTED,
        .probe = flight->probe,
        .verdict = decision->verdict,
        .category = decision->category,
        .error_type = outcome->error_type,
        .error_message = outcome->error_message,
        .delay_ms = decision->action == ACTION_RETRY ? decision->delay_ms : -1,
    };
    envelope_note(&flight->held->envelope, &flight->held->arena, &note);
}

static struct bytes full_reason(struct flight *flight, const struct decision *decision) {
    char text[DECIDE_REASON_MAX];
    return arena_dup(&flight->held->arena, decide_reason(decision, text));
}

/* The version of the consumer: as its answer says, else as the worker said when it leased the
 * message, else as the configuration says; empty: not known. */
static struct bytes version_of(const struct flight *flight) {
    if (flight->outcome.version.len > 0)
        return bytes_clip(flight->outcome.version, OUTCOME_TYPE_MAX);
    if (flight->report)
        return BYTES_NONE;
    return flight->lease ? flight->held->envelope.version : flight_handler(flight)->version;
}

static struct bytes instance_of(const struct flight *flight) {
    if (flight->outcome.instance.len > 0)
        return flight->outcome.instance;
    return flight->lease ? flight->held->envelope.instance
                         : flight->queue->engine->options.instance;
}

static void describe(struct flight *flight, const struct decision *decision) {
    struct envelope *envelope = &flight->held->envelope;
    envelope->category = decision->category;
    envelope->reason = full_reason(flight, decision);
    envelope->rule = decision->rule_name;
    envelope->instance = instance_of(flight);
    envelope->version = version_of(flight);
    if (flight->outcome.kind == KIND_EXPIRED)
        envelope->suspect = true; /* its worker may have died of it */
    if (decision->crashed)
        envelope->crashes++;
    if (decision->probed && !flight->probed_before)
        envelope->probes++;
}

static void count_attempt(struct flight *flight, const struct decision *decision) {
    struct envelope *envelope = &flight->held->envelope;
    envelope->max_attempts = policy_attempts(flight->policy, envelope->max_attempts);
    if (decision->counted && !flight->counted_before)
        envelope->attempts++;
}

static void write_down(struct flight *flight, const struct decision *decision) {
    const struct outcome *outcome = &flight->outcome;
    if (outcome->ending != ENDING_OK || flight->replay)
        note_attempt(flight, decision);
    if (outcome->ending == ENDING_FAILED)
        describe(flight, decision);
    if (outcome->ending != ENDING_INTERRUPTED)
        count_attempt(flight, decision);
    if (!decision->counted &&
        !decision->probed) /* max_age runs from neither an outage nor a halt */
        flight->held->envelope.first_failure_at = flight->first_failure_at;
}

/* Waits `delay_ms`; a delay of 0 is as soon as the queue may. */
static void wait_for_retry(struct flight *flight, int64_t delay_ms) {
    lifecycle_retry(&flight->held->envelope, flight->queue->engine->now.wall, delay_ms);
    flight->op = STORE_UPDATE;
}

/* A refusal that halts the queue, and an interruption, leave the message in the state that it was
 * taken in. */
static void wait_as_before(struct flight *flight) {
    struct envelope *envelope = &flight->held->envelope;
    bool retried = envelope->state == STATE_RETRYING || envelope->state == STATE_PENDING_RETRY;
    if (retried || envelope->attempts > 0 || flight->replay || flight->report) {
        wait_for_retry(flight, 0);
        return;
    }
    lifecycle_requeue(envelope);
    flight->op = STORE_UPDATE;
}

/* A broker's message goes back to its source only when its hand-over was interrupted. After any
 * failure, counted or not, it is stored with its history and settled at its source (SEMANTICS
 * 4.11): going back would cost it a delivery there and lose the history. */
static void hand_back(struct flight *flight) {
    if (flight->outcome.ending != ENDING_INTERRUPTED) {
        wait_for_retry(flight, 0);
        return;
    }
    wait_as_before(flight);
    flight->returns = intake_is_fresh(flight) && !flight->replay;
}

void judge_end(struct flight *flight, enum resolution resolution) {
    if (!flight->replay) {
        flight->op = STORE_FORGET;
        return;
    }
    lifecycle_resolve(&flight->held->envelope, resolution, flight->queue->engine->now.wall);
    flight->op = STORE_UPDATE;
}

void judge_bury(struct flight *flight, struct bytes dlq_name, enum cause cause, enum state state) {
    struct engine *engine = flight->queue->engine;
    struct envelope *envelope = &flight->held->envelope;
    const struct engine_dlq *dlq = queue_dlq(flight->queue, dlq_name);
    if (!flight->replay) {
        char id[UUID_TEXT_SIZE];
        uuid_v7(engine->now.wall, &engine->rng, id);
        envelope->letter_id = arena_dup(&flight->held->arena, bytes_of(id));
    }
    envelope->dlq = dlq_name;
    envelope->cause = cause;
    if (flight->report && flight->outcome.has_verdict)
        envelope->cause = CAUSE_REPORTED;
    envelope->owner = dlq ? dlq->owner : BYTES_NONE;
    struct wall dead_at = flight->late_letter ? envelope->dead_at : engine->now.wall;
    if (state == STATE_DISCARDED)
        lifecycle_discard(envelope, dead_at);
    else
        lifecycle_die(envelope, dead_at);
    envelope->closes_key = order_closes_key(flight->queue, envelope);
    flight->op = STORE_UPDATE;
}

void judge_why(const struct flight *flight, const struct decision *decision, struct buf *out) {
    buf_printf(out, "%.*s: message %.*s: ", BYTES_ARG(bytes_clip(decision->reason, WHY_NAME_MAX)),
               BYTES_ARG(bytes_clip(flight->held->envelope.id, WHY_NAME_MAX)));
    put_failure(&flight->outcome, out);
}

/* Whether a letter is tried again is for people to say, not for a worker who was late. */
static void keep_dead(const struct flight *flight, struct decision *decision) {
    const struct envelope *envelope = &flight->held->envelope;
    bool dead = flight->late_letter || envelope_awaits_room(envelope);
    if (!dead || decision->action == ACTION_DONE || decision->action == ACTION_DISCARD)
        return;
    decision->action = ACTION_DEAD;
    decision->cause = envelope->cause;
    decision->dlq = envelope->dlq;
}

static void carry_out(struct flight *flight, const struct decision *decision) {
    switch (decision->action) {
    case ACTION_DONE:
        idempotency_keep(flight);
        reply_keep(flight);
        judge_end(flight, flight->late_letter ? RESOLUTION_BY_HAND : RESOLUTION_REPLAYED);
        break;
    case ACTION_RETRY:
    case ACTION_FALLBACK:
        wait_for_retry(flight, decision->delay_ms);
        break;
    case ACTION_DEAD:
        judge_bury(flight, decision->dlq, decision->cause, STATE_PENDING_REVIEW);
        break;
    case ACTION_DISCARD:
        judge_bury(flight, decision->dlq, decision->cause, STATE_DISCARDED);
        break;
    case ACTION_HALT:
        wait_as_before(flight);
        break;
    case ACTION_HAND_BACK:
        hand_back(flight);
        break;
    }
}

/* Whether another message succeeded lately on a connection newer than the one that was reset. For a
 * suspect on a connection of its own, that is the connection it shared when it became one. */
static bool newer_succeeded(const struct flight *flight) {
    const struct queue *queue = flight->queue;
    uint64_t reset =
        flight->shared_connection ? flight->shared_connection : flight->outcome.connection;
    return connection_log_has_newer(&queue->connections[flight->handler], queue->engine->now.mono,
                                    reset);
}

/* In this round: what a letter failed of before its replay says nothing about the time since. */
static bool others_succeeded(const struct flight *flight) {
    const struct engine *engine = flight->queue->engine;
    struct mono succeeded_at = flight->queue->succeeded_at;
    struct wall failed_at = flight->last_failure_at;
    bool failed_before = failed_at.ms != WALL_NEVER.ms &&
                         (!flight->replay || failed_at.ms > flight->held->envelope.replayed_at.ms);
    if (!failed_before || succeeded_at.ms == 0)
        return false;
    int64_t failed_ms_ago =
        leaps_evenly(&engine->leaps, failed_at, engine->now.wall).ms - failed_at.ms;
    return engine->now.mono.ms - succeeded_at.ms < failed_ms_ago;
}

/* A failure that arrives while the breaker is not closed is judged like a probe's, whether or not
 * the call was one: it was under way when the breaker opened. */
static struct decision decision_on(struct flight *flight) {
    struct queue *queue = flight->queue;
    const struct envelope *envelope = &flight->held->envelope;
    bool closed = queue->breaker.state == BREAKER_CLOSED;
    if (compensate_is(flight))
        return compensate_decide(flight);
    struct subject subject = {.attempt = envelope->attempts + !flight->counted_before,
                              .max_attempts = envelope->max_attempts,
                              .crashes = envelope->crashes,
                              .probes = envelope->probes,
                              .first_failure_at = flight->replay ? envelope->replayed_at
                                                                 : envelope->first_failure_at,
                              .previous_delay_ms = envelope->attempts ? envelope->delay_ms : 0,
                              .headers = envelope->headers,
                              .header_count = envelope->header_count};
    struct circumstance around = {
        .now =
            leaps_evenly(&queue->engine->leaps, subject.first_failure_at, queue->engine->now.wall),
        .probe = !flight->report && !flight->killed_us && (flight->probe || !closed),
        .reset_is_crash = closed && newer_succeeded(flight),
        .outage = breaker_is_outage(&queue->breaker, flight->by_id.hash),
        .others_succeeded = others_succeeded(flight),
        .alone = envelope->suspect,
        .on_fallback = flight->handler > 0,
        .confirming = flight->confirming,
        .fallback_left = !flight->report && !queue->engine->stopping &&
                         flight->handler + 1 < queue->handler_count};
    if (flight->killed_us)
        return decide_crash(flight->policy, &subject, &flight->outcome, &around,
                            &queue->engine->rng);
    return decide(flight->policy, &subject, &flight->outcome, &flight->facts, &around,
                  &queue->engine->rng);
}

/* The same attempt, with the next handler. */
static void fall_back(struct flight *flight) {
    flight->queue->fallbacks++;
    flight->handler++;
    bundle_leave(flight);
    flight_call(flight);
}

/* "; attempt 2, status 503, ReadTimeout, next in 132ms". Before it is counted. */
static void put_attempt(const struct flight *flight, const struct decision *decision,
                        struct buf *out) {
    const struct outcome *outcome = &flight->outcome;
    buf_printf(out, "; attempt %u", envelope_tries(&flight->held->envelope) + 1);
    if (outcome->ending != ENDING_FAILED)
        return;
    if (outcome->status)
        buf_printf(out, ", status %d", outcome->status);
    if (outcome->error_type.len > 0)
        buf_printf(out, ", %.*s", BYTES_ARG(bytes_clip(outcome->error_type, WHY_NAME_MAX)));
    else if (!outcome->status)
        buf_printf(out, ", %s", kind_text(outcome->kind));
    if (decision->action != ACTION_RETRY)
        return;
    buf_str(out, ", next in ");
    duration_put(out, decision->delay_ms);
}

static void log_result(const struct flight *flight, const struct decision *decision,
                       enum attempt_result result) {
    if (!log_says(LOG_DEBUG)) /* what the line would be about is not for nothing */
        return;
    char memory[LOG_ATTEMPT_MAX];
    struct buf text;
    struct log_about about = tracing_about(flight);
    buf_init_fixed(&text, memory, sizeof memory);
    put_attempt(flight, decision, &text);
    log_about(LOG_DEBUG, &about, "an attempt ended: %s%s", attempt_result_text(result),
              buf_cstr(&text));
}

void judge_decide(struct flight *flight) {
    versions_note(&flight->queue->versions, version_of(flight), flight->queue->engine->now.mono);
    struct decision decision = decision_on(flight);
    keep_dead(flight, &decision);
    if (bundle_sets_aside(flight, &decision))
        return;
    if (decision.action == ACTION_FALLBACK) {
        fall_back(flight);
        return;
    }
    if (flight->report)
        flight->report->verdict = decision.verdict;
    else
        end_attempt(flight, &decision);
    enum attempt_result result = result_of(&decision, &flight->outcome);
    log_result(flight, &decision, result);
    if (compensate_is(flight)) {
        compensate_carry_out(flight, &decision);
        tracing_judged(flight, result);
        record_decided(flight);
        return;
    }
    write_down(flight, &decision);
    carry_out(flight, &decision);
    refusal_judged(flight, &decision);
    flood_guard_judged(flight, &decision);
    tracing_judged(flight, result);
    bundle_leave(flight);
    if (flight->returns)
        intake_return(flight);
    else
        record_decided(flight);
}
