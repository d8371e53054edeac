/* From facts to a decision, and the envelope that records it. Nothing here is durable yet; commit.c
 * does that. */
#include <stdio.h>

#include "base/json/json.h"
#include "base/log.h"
#include "base/text/uuid.h"
#include "core/lifecycle.h"
#include "engine/feature.h"
#include "engine/receive.h"
#include "engine/source.h"

/* ---- effects on the queue ---- */

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

static void count(struct attempt *attempt, const struct decision *decision) {
    struct queue *queue = attempt->queue;
    double seconds = (double)attempt->outcome.duration_ms / 1000;
    size_t bucket = 0;
    while (bucket < ENGINE_SECONDS_BUCKETS && seconds > engine_seconds_bounds[bucket])
        bucket++;
    queue->seconds_buckets[bucket]++;
    queue->seconds_sum += seconds;
    queue->results[result_of(decision, &attempt->outcome)]++;
    if (attempt->outcome.ending != ENDING_INTERRUPTED)
        rate_count(decision->action == ACTION_DONE ? &queue->ok : &queue->failed,
                   queue->engine->now.mono);
}

/* Limits of the text about the failure that halts a queue or opens its breaker. */
enum { LOG_ATTEMPT_MAX = 512, WHY_NAME_MAX = 64, WHY_WORDS_MAX = 120 };

/* The status, unless the text begins with it, and the text; or else the failure's kind. */
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

/* Failed probes and rounds are events only: an outage has too many of them for the log. */
static void say_breaker(const struct attempt *attempt, enum breaker_state before,
                        struct mono opened_at) {
    struct queue *queue = attempt->queue;
    char memory[sizeof queue->breaker_why];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    if (queue->breaker.state == BREAKER_OPEN) {
        put_failure(&attempt->outcome, &text);
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

/* The breaker counts attempts that were started while it was closed, and its probes; a call that
 * was in flight when it opened is evidence only. */
static void tell_breaker(struct attempt *attempt, const struct decision *decision) {
    struct queue *queue = attempt->queue;
    const struct breaker_policy *policy = &queue->rules.policy->breaker;
    struct mono now = queue->engine->now.mono;
    enum breaker_state before = queue->breaker.state;
    struct mono opened_at = queue->breaker.opened_at;
    /* The id, not the store's number: a broker's message has a number only once it has failed. */
    struct breaker_answer answer = {.message = attempt->by_id.hash,
                                    .failed = decision->breaker_failure,
                                    .retry_after_ms = attempt->outcome.retry_after_ms};
    bool silent = attempt->outcome.ending == ENDING_INTERRUPTED || attempt_compensates(attempt);
    if (FEATURES_ANY(is_told, attempt, decision)) {
        if (answer.failed && !silent)
            breaker_failed_too(&queue->breaker, answer.message);
        return;
    }
    if (attempt->probe && silent)
        breaker_probe_withdrawn(&queue->breaker);
    else if (attempt->probe)
        breaker_probe_ended(&queue->breaker, policy, now, queue->rules.concurrency, answer);
    else if (!silent)
        breaker_note(&queue->breaker, policy, now, answer);
    if (queue->breaker.state == before)
        return;
    say_breaker(attempt, before, opened_at);
    notice_breaker(queue);
}

static void end_attempt(struct attempt *attempt, const struct decision *decision) {
    attempt->queue->running--;
    if (decision->action == ACTION_DONE && !attempt_compensates(attempt))
        attempt->queue->succeeded_at = attempt->queue->engine->now.mono;
    queue_visit(attempt->queue);
    count(attempt, decision);
    if (decision->action == ACTION_DONE && attempt->outcome.connection &&
        !attempt_compensates(attempt))
        connection_log_success(&attempt->queue->connections[attempt->handler],
                               attempt->queue->engine->now.mono, attempt->outcome.connection);
    tell_breaker(attempt, decision);
    FEATURES_TELL(ended, attempt, decision);
}

/* ---- effects on the message ---- */

static void note_attempt(struct attempt *attempt, const struct decision *decision) {
    const struct outcome *outcome = &attempt->outcome;
    struct envelope_note note = {
        .attempt =
            attempt->call.attempt ? attempt->call.attempt : attempt->held->envelope.attempts + 1,
        .replay = attempt->held->envelope.replays,
        .at = attempt->started.wall,
        .duration_ms = outcome->duration_ms,
        .counted = decision->counted && !attempt->counted_before,
        .ok = outcome->ending == ENDING_OK,
        .interrupted = outcome->ending == ENDING_INTERRUPTED,
        .probe = attempt->probe,
        .verdict = decision->verdict,
        .category = decision->category,
        .error_type = outcome->error_type,
        .error_message = outcome->error_message,
        .delay_ms = decision->action == ACTION_RETRY ? decision->delay_ms : -1,
    };
    envelope_note(&attempt->held->envelope, &attempt->held->arena, &note);
}

static struct bytes full_reason(struct attempt *attempt, const struct decision *decision) {
    char text[DECIDE_REASON_MAX];
    return arena_dup(&attempt->held->arena, decide_reason(decision, text));
}

/* The consumer's version: from its answer, else from the worker's lease request, else from the
 * configuration; empty: not known. */
static struct bytes version_of(const struct attempt *attempt) {
    if (attempt->outcome.version.len > 0)
        return bytes_clip(attempt->outcome.version, OUTCOME_TYPE_MAX);
    if (attempt->report)
        return BYTES_NONE;
    return attempt->lease ? attempt->held->envelope.version : attempt_handler(attempt)->version;
}

static struct bytes instance_of(const struct attempt *attempt) {
    if (attempt->outcome.instance.len > 0)
        return attempt->outcome.instance;
    return attempt->lease ? attempt->held->envelope.instance
                          : attempt->queue->engine->options.instance;
}

static void describe(struct attempt *attempt, const struct decision *decision) {
    struct envelope *envelope = &attempt->held->envelope;
    envelope->category = decision->category;
    envelope->reason = full_reason(attempt, decision);
    envelope->rule = decision->rule_name;
    envelope->instance = instance_of(attempt);
    envelope->version = version_of(attempt);
    if (attempt->outcome.kind == KIND_EXPIRED)
        envelope->suspect = true; /* the message may have crashed its worker */
    if (decision->crashed)
        envelope->crashes++;
    if (decision->probed && !attempt->probed_before)
        envelope->probes++;
}

static void count_attempt(struct attempt *attempt, const struct decision *decision) {
    struct envelope *envelope = &attempt->held->envelope;
    envelope->max_attempts = policy_attempts(attempt->policy, envelope->max_attempts);
    if (decision->counted && !attempt->counted_before)
        envelope->attempts++;
}

static void write_down(struct attempt *attempt, const struct decision *decision) {
    const struct outcome *outcome = &attempt->outcome;
    if (outcome->ending != ENDING_OK || attempt->replay)
        note_attempt(attempt, decision);
    if (outcome->ending == ENDING_FAILED)
        describe(attempt, decision);
    if (outcome->ending != ENDING_INTERRUPTED)
        count_attempt(attempt, decision);
    if (!decision->counted &&
        !decision->probed) /* max_age starts neither in an outage nor in a halt */
        attempt->held->envelope.first_failure_at = attempt->first_failure_at;
}

/* Waits `delay_ms`; with a delay of 0 it is retried as soon as the queue may. */
static void wait_for_retry(struct attempt *attempt, int64_t delay_ms) {
    lifecycle_retry(&attempt->held->envelope, attempt->queue->engine->now.wall, delay_ms);
    attempt->op = STORE_UPDATE;
}

/* A refusal that halts the queue, and an interruption, leave the message in the state in which it
 * was taken. */
static void wait_as_before(struct attempt *attempt) {
    struct envelope *envelope = &attempt->held->envelope;
    bool retried = envelope->state == STATE_RETRYING || envelope->state == STATE_PENDING_RETRY;
    if (retried || envelope->attempts > 0 || attempt->replay || attempt->report) {
        wait_for_retry(attempt, 0);
        return;
    }
    lifecycle_requeue(envelope);
    attempt->op = STORE_UPDATE;
}

/* A broker's message goes back to its source only when its hand-over was interrupted. After any
 * failure, counted or not, it is stored with its history and acknowledged at its source (SEMANTICS
 * 4.11): a redelivery would raise its delivery count there and lose the history. */
static void hand_back(struct attempt *attempt) {
    if (attempt->outcome.ending != ENDING_INTERRUPTED) {
        wait_for_retry(attempt, 0);
        return;
    }
    wait_as_before(attempt);
    if (source_is_fresh(attempt) && !attempt->replay)
        attempt_to(attempt, ATTEMPT_RETURNING);
}

void judge_end(struct attempt *attempt, enum resolution resolution) {
    if (!attempt->replay) {
        attempt->op = STORE_FORGET;
        return;
    }
    lifecycle_resolve(&attempt->held->envelope, resolution, attempt->queue->engine->now.wall);
    attempt->op = STORE_UPDATE;
}

void judge_bury(struct attempt *attempt, struct bytes dlq_name, enum cause cause,
                enum state state) {
    struct engine *engine = attempt->queue->engine;
    struct envelope *envelope = &attempt->held->envelope;
    const struct engine_dlq *dlq = queue_dlq(attempt->queue, dlq_name);
    if (!attempt->replay) {
        char id[UUID_TEXT_SIZE];
        uuid_v7(engine->now.wall, &engine->rng, id);
        envelope->letter_id = arena_dup(&attempt->held->arena, bytes_of(id));
    }
    envelope->dlq = dlq_name;
    envelope->cause = cause;
    if (attempt->report && attempt->outcome.has_verdict)
        envelope->cause = CAUSE_REPORTED;
    envelope->owner = dlq ? dlq->owner : BYTES_NONE;
    struct wall dead_at =
        attempt->purpose == PURPOSE_LATE_LETTER ? envelope->dead_at : engine->now.wall;
    if (state == STATE_DISCARDED)
        lifecycle_discard(envelope, dead_at);
    else
        lifecycle_die(envelope, dead_at);
    envelope->closes_key = false;
    FEATURES_TELL(died, attempt);
    attempt->op = STORE_UPDATE;
}

void judge_result(struct attempt *attempt, enum attempt_result result) {
    FEATURES_TELL(result, attempt, result);
}

void judge_why(const struct attempt *attempt, const struct decision *decision, struct buf *out) {
    buf_printf(out, "%.*s: message %.*s: ", BYTES_ARG(bytes_clip(decision->reason, WHY_NAME_MAX)),
               BYTES_ARG(bytes_clip(attempt->held->envelope.id, WHY_NAME_MAX)));
    put_failure(&attempt->outcome, out);
}

/* Whether a letter is tried again is decided by people, not by a worker's late answer. */
static void keep_dead(const struct attempt *attempt, struct decision *decision) {
    const struct envelope *envelope = &attempt->held->envelope;
    bool dead = attempt->purpose == PURPOSE_LATE_LETTER || envelope_awaits_room(envelope);
    if (!dead || decision->action == ACTION_DONE || decision->action == ACTION_DISCARD)
        return;
    decision->action = ACTION_DEAD;
    decision->cause = envelope->cause;
    decision->dlq = envelope->dlq;
}

static void carry_out(struct attempt *attempt, const struct decision *decision) {
    switch (decision->action) {
    case ACTION_DONE:
        FEATURES_TELL(succeeded, attempt);
        judge_end(attempt, attempt->purpose == PURPOSE_LATE_LETTER ? RESOLUTION_BY_HAND
                                                                   : RESOLUTION_REPLAYED);
        break;
    case ACTION_RETRY:
    case ACTION_FALLBACK:
        wait_for_retry(attempt, decision->delay_ms);
        break;
    case ACTION_DEAD:
        judge_bury(attempt, decision->dlq, decision->cause, STATE_PENDING_REVIEW);
        break;
    case ACTION_DISCARD:
        judge_bury(attempt, decision->dlq, decision->cause, STATE_DISCARDED);
        break;
    case ACTION_HALT:
        wait_as_before(attempt);
        break;
    case ACTION_HAND_BACK:
        hand_back(attempt);
        break;
    }
}

/* Whether another message succeeded lately on a connection newer than the one that was reset. For a
 * suspect on a connection of its own, that is the connection it shared when it became one. */
static bool newer_succeeded(const struct attempt *attempt) {
    const struct queue *queue = attempt->queue;
    uint64_t reset =
        attempt->shared_connection ? attempt->shared_connection : attempt->outcome.connection;
    return connection_log_has_newer(&queue->connections[attempt->handler], queue->engine->now.mono,
                                    reset);
}

/* In this round only: failures of a letter before its replay say nothing about the time since. */
static bool others_succeeded(const struct attempt *attempt) {
    const struct engine *engine = attempt->queue->engine;
    struct mono succeeded_at = attempt->queue->succeeded_at;
    struct wall failed_at = attempt->last_failure_at;
    bool failed_before =
        failed_at.ms != WALL_NEVER.ms &&
        (!attempt->replay || failed_at.ms > attempt->held->envelope.replayed_at.ms);
    if (!failed_before || succeeded_at.ms == 0)
        return false;
    int64_t failed_ms_ago =
        clock_jumps_evenly(&engine->jumps, failed_at, engine->now.wall).ms - failed_at.ms;
    return engine->now.mono.ms - succeeded_at.ms < failed_ms_ago;
}

/* A failure that arrives while the breaker is not closed is judged like a probe's, whether or not
 * the call was one: it was in flight when the breaker opened. */
static struct decision decision_on(struct attempt *attempt) {
    struct queue *queue = attempt->queue;
    const struct envelope *envelope = &attempt->held->envelope;
    bool closed = queue->breaker.state == BREAKER_CLOSED;
    struct decision decided;
    if (FEATURES_ANY(decide, attempt, &decided))
        return decided;
    struct subject subject = {.attempt = envelope->attempts + !attempt->counted_before,
                              .max_attempts = envelope->max_attempts,
                              .crashes = envelope->crashes,
                              .probes = envelope->probes,
                              .first_failure_at = attempt->replay ? envelope->replayed_at
                                                                  : envelope->first_failure_at,
                              .previous_delay_ms = envelope->attempts ? envelope->delay_ms : 0,
                              .headers = envelope->headers,
                              .header_count = envelope->header_count};
    struct circumstance around = {.now = clock_jumps_evenly(&queue->engine->jumps,
                                                            subject.first_failure_at,
                                                            queue->engine->now.wall),
                                  .probe = !attempt->report && attempt->purpose != PURPOSE_BLAME &&
                                           (attempt->probe || !closed),
                                  .reset_is_crash = closed && newer_succeeded(attempt),
                                  .outage = breaker_is_outage(&queue->breaker, attempt->by_id.hash),
                                  .others_succeeded = others_succeeded(attempt),
                                  .alone = envelope->suspect,
                                  .on_fallback = attempt->handler > 0,
                                  .confirming = attempt->confirming,
                                  .fallback_left = !attempt->report && !queue->engine->stopping &&
                                                   attempt->handler + 1 < queue->handler_count};
    if (attempt->purpose == PURPOSE_BLAME)
        return decide_crash(attempt->policy, &subject, &attempt->outcome, &around,
                            &queue->engine->rng);
    return decide(attempt->policy, &subject, &attempt->outcome, &attempt->facts, &around,
                  &queue->engine->rng);
}

/* Continues the same attempt with the next handler. */
static void fall_back(struct attempt *attempt) {
    attempt->queue->fallbacks++;
    attempt->handler++;
    FEATURES_TELL(leaves, attempt);
    attempt_call(attempt);
}

/* "; attempt 2, status 503, ReadTimeout, next in 132ms". To be called before the attempt is
 * counted. */
static void put_attempt(const struct attempt *attempt, const struct decision *decision,
                        struct buf *out) {
    const struct outcome *outcome = &attempt->outcome;
    buf_printf(out, "; attempt %u", envelope_tries(&attempt->held->envelope) + 1);
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

static void log_result(const struct attempt *attempt, const struct decision *decision,
                       enum attempt_result result) {
    if (!log_says(LOG_DEBUG)) /* building the line's arguments is not free */
        return;
    char memory[LOG_ATTEMPT_MAX];
    struct buf text;
    struct log_about about = attempt_about(attempt);
    buf_init_fixed(&text, memory, sizeof memory);
    put_attempt(attempt, decision, &text);
    log_about(LOG_DEBUG, &about, "an attempt ended: %s%s", attempt_result_text(result),
              buf_cstr(&text));
}

void judge_decide(struct attempt *attempt) {
    attempt_to(attempt, ATTEMPT_JUDGING);
    versions_note(&attempt->queue->versions, version_of(attempt), attempt->queue->engine->now.mono);
    struct decision decision = decision_on(attempt);
    keep_dead(attempt, &decision);
    if (FEATURES_ANY(sets_aside, attempt, &decision))
        return;
    if (decision.action == ACTION_FALLBACK) {
        fall_back(attempt);
        return;
    }
    if (attempt->report)
        attempt->report->verdict = decision.verdict;
    else
        end_attempt(attempt, &decision);
    enum attempt_result result = result_of(&decision, &attempt->outcome);
    log_result(attempt, &decision, result);
    if (!FEATURES_ANY(carry_out, attempt, &decision)) {
        write_down(attempt, &decision);
        carry_out(attempt, &decision);
        FEATURES_TELL(judged, attempt, &decision);
    }
    judge_result(attempt, result);
    FEATURES_TELL(leaves, attempt);
    if (attempt->state == ATTEMPT_RETURNING)
        source_return(attempt);
    else
        commit_decided(attempt);
}
