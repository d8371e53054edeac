/* triage_rule: defaults, and the JSON of a rule. */
#include "triage/rules/triage_rule.h"

#include <assert.h>

#include "core/fingerprint.h"

enum { DURATION_SIZE = 32, RATE_SIZE = 64, RANGE_SIZE = 32 };

#define ACTION_TEXT(code, text) [TRIAGE_##code] = text,
const char *const triage_rule_actions[] = {TRIAGE_ACTION_LIST(ACTION_TEXT) NULL};

bool triage_rule_action_parse(struct bytes text, enum triage_action *out) {
    for (int i = 0; i < TRIAGE_ACTION_COUNT; i++)
        if (bytes_is(text, triage_rule_actions[i])) {
            *out = (enum triage_action)i;
            return true;
        }
    return false;
}

void triage_rule_init(struct triage_rule *rule) {
    *rule = (struct triage_rule){.when = {.replays_most = TRIAGE_REPLAYS_MOST},
                                 .every_ms = TRIAGE_EVERY_MS,
                                 .limit = TRIAGE_LIMIT,
                                 .lifetime_ms = TRIAGE_LIFETIME_MS,
                                 .backoff_ms = TRIAGE_BACKOFF_MS,
                                 .stop_after = TRIAGE_STOP_AFTER,
                                 .rate = {REPLAY_RATE_FIXED, REPLAY_RATE_DEFAULT}};
}

bool triage_rule_is_open(const struct triage_when *when) {
    return when->category.len + when->error_type.len + when->key.len + when->reason.len +
                   when->where.len + when->task_type.len ==
               0 &&
           !when->has_cause && !when->has_fingerprint && when->age_ms == 0 &&
           when->replays_least == 0 && when->replays_most == TRIAGE_REPLAYS_MOST &&
           when->attempts == 0;
}

bool triage_rule_may_fail(const struct triage_rule *rule) {
    return rule->action == TRIAGE_REPLAY || rule->action == TRIAGE_COMPENSATE;
}

/* ---- as JSON ---- */

static void put_text(struct json_out *json, const char *key, struct bytes text) {
    if (text.len == 0)
        return;
    json_key(json, key);
    json_put(json, text);
}

static void put_duration(struct json_out *json, const char *key, int64_t ms) {
    char memory[DURATION_SIZE];
    struct buf text;
    if (ms == 0)
        return;
    buf_init_fixed(&text, memory, sizeof memory);
    duration_put(&text, ms);
    put_text(json, key, buf_view(&text));
}

/* 2: at most two; "3+": at least three; "1-2". */
static void put_replays(struct json_out *json, const struct triage_when *when) {
    char memory[RANGE_SIZE];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    if (when->replays_most == TRIAGE_REPLAYS_MOST && when->replays_least == 0)
        return;
    if (when->replays_most == TRIAGE_REPLAYS_MOST)
        buf_printf(&text, "%u+", when->replays_least);
    else if (when->replays_least > 0)
        buf_printf(&text, "%u-%u", when->replays_least, when->replays_most);
    if (text.len > 0) {
        put_text(json, "replays", buf_view(&text));
    } else {
        json_key(json, "replays");
        json_put_i64(json, when->replays_most);
    }
}

static void put_when(struct json_out *json, const struct triage_when *when) {
    char fingerprint[FINGERPRINT_TEXT_SIZE];
    json_key(json, "when");
    json_open(json, '{');
    put_text(json, "category", when->category);
    put_text(json, "reason", when->reason);
    if (when->has_cause)
        put_text(json, "cause", bytes_of(cause_text(when->cause)));
    put_text(json, "error_type", when->error_type);
    if (when->has_fingerprint)
        put_text(json, "fingerprint", bytes_of(fingerprint_text(when->fingerprint, fingerprint)));
    put_text(json, "key", when->key);
    put_text(json, "task_type", when->task_type);
    put_duration(json, "age", when->age_ms);
    put_replays(json, when);
    if (when->attempts > 0) {
        json_key(json, "attempts");
        json_put_i64(json, when->attempts);
    }
    put_text(json, "where", when->where);
    json_close(json, '}');
}

static void put_replay(struct json_out *json, const struct triage_rule *rule) {
    char memory[RATE_SIZE];
    struct buf rate;
    buf_init_fixed(&rate, memory, sizeof memory);
    replay_rate_put(&rule->rate, &rate);
    put_duration(json, "lifetime", rule->lifetime_ms);
    put_text(json, "rate", buf_view(&rate));
    if (rule->canary_count > 0) {
        json_key(json, "canary");
        json_open(json, '[');
        for (size_t i = 0; i < rule->canary_count; i++)
            json_put_i64(json, rule->canary[i]);
        json_close(json, ']');
    }
    put_text(json, "edit", rule->edit);
    put_text(json, "to", rule->to);
}

static void put_tell(struct json_out *json, const struct triage_rule *rule) {
    if (rule->tell_count == 0)
        return;
    json_key(json, "to");
    json_open(json, '[');
    for (size_t i = 0; i < rule->tell_count; i++)
        json_put(json, rule->tell[i]);
    json_close(json, ']');
}

void triage_rule_put(struct json_out *json, const struct triage_rule *rule) {
    assert(rule->action < TRIAGE_ACTION_COUNT);
    put_when(json, &rule->when);
    put_text(json, "do", bytes_of(triage_rule_actions[rule->action]));
    put_duration(json, "every", rule->every_ms);
    json_key(json, "limit");
    json_put_i64(json, rule->limit);
    if (rule->action == TRIAGE_REPLAY)
        put_replay(json, rule);
    if (triage_rule_may_fail(rule)) {
        put_duration(json, "backoff", rule->backoff_ms);
        json_key(json, "stop_after");
        json_put_i64(json, rule->stop_after);
    }
    put_tell(json, rule);
}
