/* explain: sentences and data made from an envelope, its history and the present policy. Pure. */
#include "triage/query/explain.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/json/json_member.h"
#include "core/decide.h"
#include "core/lifecycle.h"
#include "triage/query/explain_step.h"
#include "triage/rules/rule_view.h"

#define SENTENCES_MAX ((size_t)16 * 1024)
#define HANDLER_RULE  "handler" /* the rule name for a handler's own verdict */

/* Why a letter died, and the remedy. */
struct ending_words {
    const char *why;
    const char *next;
};

static const struct ending_words ending_words[] = {
    [CAUSE_TERMINAL] = {"That verdict is final, so it was not tried again.",
                        "Fix the message or the handler and replay it, or discard it."},
    [CAUSE_EXHAUSTED] = {"No attempts are left.",
                         "Check that what it depends on works again, then replay it."},
    [CAUSE_EXPIRED] =
        {"Its first failure was longer ago than max_age allows, or it waited for its first attempt "
         "for "
         "longer than the queue's expire allows.",
         "Check that what it depends on works again, then replay it if it still matters."},
    [CAUSE_CRASH] = {"It crashed its worker repeatedly, so it was removed from the queue.",
                     "Run it against the handler in isolation; replay it only when the handler "
                     "survives it."},
    [CAUSE_BLOCKED] =
        {"An earlier message with the same key is dead, and too many messages waited behind it.",
         "Settle the letter at the head of its key first, then replay this one."},
    [CAUSE_UNCLASSIFIED] = {"No rule matches this failure, and unknown failures are not retried.",
                            "Read the error: if it can pass by itself, add a rule that retries it; "
                            "otherwise fix the bug; then replay it."},
    [CAUSE_UNROUTABLE] = {"There was nowhere to send it.",
                          "Correct its destination in the configuration, then replay it."},
    [CAUSE_OPERATOR] = {"A person put it here.", "Replay it, resolve it or discard it."},
    [CAUSE_REPORTED] = {"Another system reported it as failed for good.",
                        "Fix what the report names, then replay it, or resolve it."},
    [CAUSE_ADOPTED] = {"It was found dead in another system's queue.",
                       "Look at its source, then replay it, resolve it or discard it."},
};

static const char *const live_words[STATE_COUNT] = {
    [STATE_QUEUED] = "It waits in the queue for its turn.",
    [STATE_RUNNING] = "It is with the handler now.",
    [STATE_PENDING_RETRY] = "It waits for its next attempt.",
    [STATE_RETRYING] = "It is with the handler again now.",
};

/* ---- the summary ---- */

static void put_attempts(const struct envelope *envelope, struct buf *out) {
    if (!envelope->failed) {
        buf_str(out, envelope->attempts ? "It has not failed. " : "It has not been tried yet. ");
        return;
    }
    if (envelope->attempts > 1 && envelope->attempts >= envelope->max_attempts)
        buf_printf(out, "All %u attempts failed, the last with ", envelope->attempts);
    else if (envelope->attempts && envelope->max_attempts)
        buf_printf(out, "Attempt %u of %u failed with ", envelope->attempts,
                   envelope->max_attempts);
    else if (envelope->attempts) /* an adopted letter, whose limit is unknown */
        buf_printf(out, "Attempt %u failed with ", envelope->attempts);
    else
        buf_str(out, "It failed with ");
    size_t before = out->len;
    explain_step_put_error(envelope->error_type, envelope->error_message, out);
    if (out->len == before)
        buf_printf(out, "a failure of kind %s", kind_text(envelope->kind));
    char status[32];
    snprintf(status, sizeof status, "HTTP %d", envelope->status);
    if (envelope->status && !bytes_starts(envelope->error_message, bytes_of(status)))
        buf_printf(out, " (%s)", status);
    buf_str(out, out->ptr[out->len - 1] == '.' ? " " : ". ");
}

/* The last judged failure: the one that the envelope's rule is about. */
static const struct envelope_note *last_judged(const struct envelope *envelope) {
    for (size_t i = envelope->history_count; i > 0; i--) {
        const struct envelope_note *note = &envelope->history[i - 1];
        if (!note->ok && !note->interrupted)
            return note;
    }
    return NULL;
}

/* Dead after a second opinion (SEMANTICS 4.7): a preset's `halt` refused the message before in this
 * round, uncounted, and then once more for the same category. */
static bool was_refused_again(const struct envelope *envelope, const struct rule *rule) {
    const struct envelope_note *last = last_judged(envelope);
    if (envelope->cause != CAUSE_TERMINAL || !last || !last->counted ||
        !bytes_starts(envelope->rule, BYTES("preset:")) || (rule && rule->verdict != VERDICT_HALT))
        return false;
    for (const struct envelope_note *note = envelope->history; note < last; note++)
        if (note->verdict == VERDICT_HALT && !note->counted && !note->ok && !note->interrupted &&
            note->replay == last->replay && bytes_eq(note->category, last->category))
            return true;
    return false;
}

/* The verdict at that time; the rule may have changed since. NULL: unknown. */
static const char *verdict_then(const struct envelope *envelope, const struct rule *rule) {
    const struct envelope_note *note = last_judged(envelope);
    if (was_refused_again(envelope, rule))
        return verdict_text(VERDICT_HALT);
    if (note)
        return verdict_text(note->verdict);
    return rule ? verdict_text(rule->verdict) : NULL;
}

/* The rule's own reason, without the prefix that exhausting the attempts adds. */
static struct bytes own_reason(const struct envelope *envelope) {
    struct bytes reason = envelope->reason, prefix = BYTES(DECIDE_EXHAUSTED);
    if (!bytes_starts(reason, prefix))
        return reason;
    return (struct bytes){reason.ptr + prefix.len, reason.len - prefix.len};
}

static void put_rule_sentence(const struct envelope *envelope, const struct rule *rule,
                              struct buf *out) {
    const char *verdict = verdict_then(envelope, rule);
    if (!envelope->rule.len)
        return;
    if (bytes_is(envelope->rule, HANDLER_RULE))
        buf_str(out, "The handler itself");
    else
        buf_printf(out, "Rule %.*s", BYTES_ARG(envelope->rule));
    if (verdict)
        buf_printf(out, " said %s and", verdict);
    struct bytes reason = own_reason(envelope);
    buf_printf(out, " called it %.*s/%.*s. ", BYTES_ARG(envelope->category), BYTES_ARG(reason));
}

static void put_crashes(const struct envelope *envelope, const struct policy *policy,
                        struct buf *out) {
    if (envelope->cause != CAUSE_CRASH)
        return;
    buf_printf(out, "Crashes counted: %u", envelope->crashes);
    if (policy)
        buf_printf(out, ", and %u are the limit", policy->poison.crashes);
    buf_str(out, ". ");
    if (envelope->kind == KIND_EXPIRED)
        buf_str(out, "Its lease ran out again while it was leased alone. ");
}

/* A message dead of its probes may have attempts left: the sentence says why it died. */
static void put_probes(const struct envelope *envelope, struct buf *out) {
    if (envelope->probes > 0 && envelope->cause == CAUSE_EXHAUSTED)
        buf_printf(out,
                   "It failed %u more times as a probe of the open breaker, while too few other "
                   "messages failed for an outage. ",
                   envelope->probes);
}

static void put_why(const struct envelope *envelope, struct buf *out) {
    if (envelope->why.len)
        buf_printf(out, ": %.*s", BYTES_ARG(bytes_clip(envelope->why, EXPLAIN_MESSAGE_MAX)));
    buf_char(out, '.');
}

/* A resolved or discarded letter. */
static void put_decided(const struct envelope *envelope, struct buf *out) {
    assert(lifecycle_is_decided(envelope->state));
    char at[INSTANT_TEXT_SIZE];
    buf_str(out, envelope->state == STATE_DISCARDED ? "It was discarded" : "It was resolved");
    if (envelope->resolved_at.ms != 0)
        buf_printf(out, " at %s", wall_text(envelope->resolved_at, at));
    if (envelope->resolution != RESOLUTION_NONE)
        buf_printf(out, " (%s)", resolution_text(envelope->resolution));
    put_why(envelope, out);
    buf_str(out, " There is nothing left to do.");
}

/* An escalation replaces the operator's `why`. */
static void put_cause(const struct envelope *envelope, bool refused_again, struct buf *out) {
    assert(envelope->cause < CAUSE_COUNT);
    struct bytes why = bytes_of(ending_words[envelope->cause].why);
    bool told = envelope->cause == CAUSE_OPERATOR && envelope->escalated_at.ms == WALL_NEVER.ms;
    if (refused_again) {
        buf_str(out, "The queue went on, because another message succeeded after this one was "
                     "refused; it was handed over once more, alone, and refused again.");
    } else if (told) {
        buf_bytes(out, bytes_cut(why, 0, why.len - 1));
        put_why(envelope, out);
    } else {
        buf_bytes(out, why);
    }
}

static void put_dead(const struct envelope *envelope, const struct policy *policy,
                     const struct rule *rule, struct buf *out) {
    const struct ending_words *words = &ending_words[envelope->cause];
    put_crashes(envelope, policy, out);
    put_probes(envelope, out);
    put_cause(envelope, was_refused_again(envelope, rule), out);
    if (envelope->state == STATE_REPLAYING)
        buf_printf(out, " It is being %s now: wait for the outcome.",
                   envelope->compensating ? "compensated" : "replayed");
    else
        buf_printf(out, " %s", words->next);
    if (envelope->blocked_by.len)
        buf_printf(out, " It is blocked by %.*s.", BYTES_ARG(envelope->blocked_by));
}

static bool was_halted(const struct envelope *envelope) {
    const struct envelope_note *note = last_judged(envelope);
    return note && note->verdict == VERDICT_HALT;
}

static bool is_waiting(const struct envelope *envelope) {
    return envelope->state == STATE_QUEUED || envelope->state == STATE_PENDING_RETRY;
}

/* The condition of the queue that delays it beyond its due time. False: there is none. */
static bool put_hold(const struct envelope *envelope, const struct explain_queue *queue,
                     struct buf *out) {
    char until[INSTANT_TEXT_SIZE];
    if (!queue || !is_waiting(envelope))
        return false;
    if (queue->stopped)
        buf_printf(out, " The queue is %s%s%.*s; `impound resume %.*s` lets it go on.",
                   queue->stopped, queue->why.len ? ": " : "", BYTES_ARG(queue->why),
                   BYTES_ARG(envelope->queue));
    else if (queue->breaker == BREAKER_OPEN)
        buf_printf(out,
                   " The queue's breaker is open until %s, because its handler failed for many "
                   "messages: only probes are handed over until they succeed.",
                   wall_text(queue->breaker_until, until));
    else if (queue->breaker == BREAKER_HALF_OPEN)
        buf_str(out, " The queue's breaker is half open: probes are in flight, and if they succeed "
                     "the queue continues.");
    else if (queue->dlq_full && envelope->state == STATE_QUEUED)
        buf_str(out,
                " A DLQ of the queue is full and too many messages wait for room in it: nothing "
                "new is handed over until letters leave it or the cap is raised.");
    else
        return false;
    return true;
}

static void put_due(const struct envelope *envelope, bool held, struct buf *out) {
    char due[INSTANT_TEXT_SIZE];
    if (!is_waiting(envelope) || envelope->next_attempt_at.ms == 0)
        return;
    buf_printf(out, " That is due at %s%s.", wall_text(envelope->next_attempt_at, due),
               held ? "" : "; impound retry makes it due now");
}

static void put_live(const struct envelope *envelope, const struct explain_queue *queue,
                     struct buf *out) {
    assert(lifecycle_is_live(envelope->state));
    if (was_halted(envelope) && queue && queue->stopped && strcmp(queue->stopped, "halted") == 0)
        buf_str(out, "That stopped the queue. ");
    else if (envelope->refused)
        buf_str(out,
                "It was refused. Other messages go first; once one of them has succeeded, it is "
                "handed over once more, and dead-lettered if it is refused again. ");
    if (envelope->suspect)
        buf_str(out, "Its worker may have died of it, so it is leased alone until one answers. ");
    if (envelope_awaits_room(envelope)) {
        buf_printf(out,
                   "It was judged dead (%s), but DLQ %.*s is full: it waits for room there and is "
                   "not handed over again. Resolve or discard letters, or raise the cap.",
                   cause_text(envelope->cause), BYTES_ARG(envelope->dlq));
        return;
    }
    buf_str(out, live_words[envelope->state]);
    if (envelope->blocked_by.len)
        buf_printf(out, " It is blocked by %.*s: settle that letter to let it go on.",
                   BYTES_ARG(envelope->blocked_by));
    else
        put_due(envelope, put_hold(envelope, queue, out), out);
}

static void put_summary(const struct envelope *envelope, const struct policy *policy,
                        const struct explain_queue *queue, const struct rule *rule,
                        struct buf *out) {
    put_attempts(envelope, out);
    put_rule_sentence(envelope, rule, out);
    if (lifecycle_is_live(envelope->state))
        put_live(envelope, queue, out);
    else if (lifecycle_counts_in_depth(envelope->state))
        put_dead(envelope, policy, rule, out);
    else
        put_decided(envelope, out);
    if (envelope->read_only)
        buf_str(out, " It is read-only: its broker still has it, until adopt says mode: take.");
    if (!policy)
        buf_printf(out, " Queue %.*s is %s configured.", BYTES_ARG(envelope->queue),
                   envelope->cause == CAUSE_ADOPTED ? "not" : "no longer");
}

/* ---- the data ---- */

static void put_steps(const struct envelope *envelope, const struct policy *policy,
                      const struct rule *rule, struct json_out *out, struct buf *text) {
    char at[INSTANT_TEXT_SIZE];
    const struct envelope_note *last = last_judged(envelope);
    bool refused_again = was_refused_again(envelope, rule);
    json_open(out, '[');
    for (size_t i = 0; i < envelope->history_count; i++) {
        const struct envelope_note *note = &envelope->history[i];
        buf_clear(text);
        explain_step_put(note, note == last ? envelope->rule : BYTES_NONE,
                         refused_again && note == last, policy, text);
        json_open(out, '{');
        json_key(out, "attempt");
        json_put_i64(out, note->attempt);
        json_key(out, "at");
        if (note->at.ms == WALL_NEVER.ms) /* from another system's history, without a time */
            json_put_null(out);
        else
            json_put_str(out, wall_text(note->at, at));
        json_key(out, "what");
        json_put(out, buf_view(text));
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void put_rule(const struct envelope *envelope, const struct rule *rule,
                     struct json_out *out) {
    if (!envelope->rule.len) {
        json_put_null(out);
        return;
    }
    json_open(out, '{');
    json_member_text(out, "name", envelope->rule);
    json_key(out, "verdict");
    json_put_str(out, verdict_then(envelope, rule));
    json_member_text(out, "category", envelope->category);
    json_member_text(out, "reason", own_reason(envelope));
    if (rule) {
        json_key(out, "when");
        rule_view_put_when(out, &rule->when);
    }
    json_close(out, '}');
}

static void put_duration(struct json_out *out, const char *key, int64_t ms) {
    char memory[32];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    duration_put(&text, ms);
    json_member_text(out, key, buf_view(&text));
}

static void put_limits(const struct envelope *envelope, const struct policy *policy,
                       struct json_out *out) {
    json_open(out, '{');
    json_member_number(out, "attempts", envelope->attempts);
    json_member_number(out, "max_attempts", policy_attempts(policy, envelope->max_attempts));
    json_member_number(out, "crashes", envelope->crashes);
    json_member_number(out, "probes", envelope->probes);
    json_member_number(out, "replays", envelope->replays);
    if (policy) {
        json_member_number(out, "poison_crashes", policy->poison.crashes);
        put_duration(out, "base", policy->retry.base_ms);
        put_duration(out, "cap", policy->retry.cap_ms);
        put_duration(out, "max_age", policy->retry.max_age_ms);
        put_duration(out, "retry_after_cap", policy->retry.retry_after_cap_ms);
    }
    json_close(out, '}');
}

static void put_identity(const struct envelope *envelope, struct json_out *out) {
    json_member_text(out, "id", envelope->letter_id.len ? envelope->letter_id : envelope->id);
    json_member_text(out, "queue", envelope->queue);
    json_key(out, "state");
    json_put_str(out, state_text(envelope->state));
    json_key(out, "cause");
    json_put_str(out, lifecycle_is_letter(envelope->state) ? cause_text(envelope->cause) : NULL);
}

void explain_json(const struct envelope *envelope, const struct policy *policy,
                  const struct explain_queue *queue, struct buf *out) {
    const struct rule *rule = rule_view_find(policy, envelope->rule);
    struct json_out json = json_out(out);
    struct buf text;
    buf_init_heap(&text, SENTENCES_MAX);
    put_summary(envelope, policy, queue, rule, &text);
    json_open(&json, '{');
    put_identity(envelope, &json);
    json_member_text(&json, "summary", buf_view(&text));
    json_key(&json, "steps");
    put_steps(envelope, policy, rule, &json, &text);
    json_key(&json, "rule");
    put_rule(envelope, rule, &json);
    json_key(&json, "limits");
    put_limits(envelope, policy, &json);
    json_close(&json, '}');
    buf_free(&text);
}
