#include "triage/query/explain.h"

#include <stdio.h>

#include "base/json/json.h"
#include "test.h"

enum { TEXT_MAX = 64 * 1024 };

static struct buf out;
static struct arena arena;
static struct policy policy;

static int start(void **state) {
    (void)state;
    buf_init_heap(&out, TEXT_MAX);
    arena_init_heap(&arena, 4096);
    policy_init(&policy, BYTES("orders"), BYTES("orders.dlq"), HANDLER_HTTP);
    return 0;
}

static int end(void **state) {
    (void)state;
    buf_free(&out);
    arena_free(&arena);
    return 0;
}

static struct json explained_in(const struct envelope *envelope, const struct policy *with,
                                const struct explain_queue *queue) {
    struct json whole;
    buf_clear(&out);
    explain_json(envelope, with, queue, &out);
    assert_false(out.overflow);
    assert_int_equal(json_parse(buf_view(&out), &whole, NULL), STATUS_OK);
    return whole;
}

static struct json explained(const struct envelope *envelope, const struct policy *with) {
    return explained_in(envelope, with, NULL);
}

static struct json member(struct json object, const char *name) {
    struct json value;
    if (!json_get(object, name, &value))
        fail_msg("%s is missing in %.*s", name, BYTES_ARG(object.text));
    return value;
}

static struct bytes text_of(struct json object, const char *name) {
    struct bytes text;
    assert_true(json_string(member(object, name), &arena, &text));
    return text;
}

static void assert_has(struct bytes text, const char *part) {
    if (bytes_find(text, bytes_of(part)) == text.len)
        fail_msg("\"%s\" is not in: %.*s", part, BYTES_ARG(text));
}

static void assert_lacks(struct bytes text, const char *part) {
    if (bytes_find(text, bytes_of(part)) < text.len)
        fail_msg("\"%s\" is in: %.*s", part, BYTES_ARG(text));
}

static const struct wall first_at = {1763182181123}; /* 2025-11-15T04:49:41.123Z */

static struct envelope exhausted_letter(struct envelope_note notes[2]) {
    notes[0] = (struct envelope_note){.attempt = 1,
                                      .at = first_at,
                                      .counted = true,
                                      .verdict = VERDICT_RETRY,
                                      .category = BYTES("timeout"),
                                      .error_type = BYTES("TimeoutError"),
                                      .error_message = BYTES("no answer\nsecond line"),
                                      .delay_ms = 132};
    notes[1] = notes[0];
    notes[1].attempt = 2;
    notes[1].delay_ms = -1;
    return (struct envelope){
        .id = BYTES("o-2"),
        .letter_id = BYTES("letter-2"),
        .queue = BYTES("orders"),
        .state = STATE_PENDING_REVIEW,
        .cause = CAUSE_EXHAUSTED,
        .category = BYTES("timeout"),
        .reason = BYTES("max_attempts:timeout"),
        .failed = true,
        .kind = KIND_TIMEOUT,
        .error_type = BYTES("TimeoutError"),
        .error_message = BYTES("no answer"),
        .attempts = 2,
        .max_attempts = 2,
        .history = notes,
        .history_count = 2,
        .rule = BYTES("preset:http[2]"),
    };
}

static void a_letter_says_what_failed_who_decided_and_what_to_do(void **state) {
    (void)state;
    struct envelope_note notes[2];
    struct envelope envelope = exhausted_letter(notes);
    struct json whole = explained(&envelope, &policy);
    struct bytes summary = text_of(whole, "summary");
    assert_bytes(text_of(whole, "id"), "letter-2");
    assert_bytes(text_of(whole, "queue"), "orders");
    assert_bytes(text_of(whole, "state"), "pending_review");
    assert_bytes(text_of(whole, "cause"), "exhausted");
    assert_has(summary, "All 2 attempts failed, the last with TimeoutError: no answer.");
    assert_has(summary, "Rule preset:http[2] said retry and called it timeout/timeout.");
    assert_has(summary, "No attempts are left.");
    assert_has(summary, "replay it");
}

static void each_attempt_is_a_step(void **state) {
    (void)state;
    struct envelope_note notes[2];
    struct envelope envelope = exhausted_letter(notes);
    struct json_walk steps = json_walk(member(explained(&envelope, &policy), "steps"));
    int64_t attempt;
    assert_true(json_step(&steps));
    assert_true(json_i64(member(steps.value, "attempt"), &attempt));
    assert_int_equal(attempt, 1);
    assert_bytes(text_of(steps.value, "at"), "2025-11-15T04:49:41.123Z");
    assert_bytes(text_of(steps.value, "what"),
                 "attempt 1 failed: TimeoutError: no answer → retry (timeout); next attempt 132 ms "
                 "later (full jitter of at most 200ms)");
    assert_true(json_step(&steps));
    assert_bytes(text_of(steps.value, "what"),
                 "attempt 2 failed: TimeoutError: no answer → rule preset:http[2] said retry "
                 "(timeout)");
    assert_false(json_step(&steps));
}

static void what_did_not_count_says_so(void **state) {
    (void)state;
    struct envelope_note notes[] = {
        {.attempt = 1, .interrupted = true, .delay_ms = -1},
        {.attempt = 1, .probe = true, .verdict = VERDICT_RETRY, .delay_ms = -1},
        {.attempt = 1, .verdict = VERDICT_HALT, .category = BYTES("auth"), .delay_ms = -1},
        {.attempt = 1, .replay = 1, .counted = true, .ok = true, .delay_ms = -1},
    };
    struct envelope envelope = {.id = BYTES("m"),
                                .queue = BYTES("orders"),
                                .state = STATE_QUEUED,
                                .history = notes,
                                .history_count = 4};
    static const char *const expected[] = {
        "attempt 1 was interrupted when impound stopped; it does not count",
        "attempt 1 (a probe of the open breaker) failed → retry; it does not count",
        "attempt 1 failed → halt (auth); it was refused; it does not count",
        "replay 1, attempt 1 succeeded"};
    struct json_walk steps = json_walk(member(explained(&envelope, &policy), "steps"));
    for (size_t i = 0; i < 4; i++) {
        assert_true(json_step(&steps));
        assert_bytes(text_of(steps.value, "what"), expected[i]);
    }
}

static const char *delay_told(uint32_t attempt, int64_t delay_ms) {
    static char told[256];
    struct envelope_note note = {
        .attempt = attempt, .counted = true, .verdict = VERDICT_RETRY, .delay_ms = delay_ms};
    struct envelope envelope = {.id = BYTES("m"),
                                .queue = BYTES("orders"),
                                .state = STATE_PENDING_RETRY,
                                .history = &note,
                                .history_count = 1};
    struct json_walk steps = json_walk(member(explained(&envelope, &policy), "steps"));
    assert_true(json_step(&steps));
    struct bytes what = text_of(steps.value, "what");
    size_t at = bytes_find(what, BYTES(" ("));
    snprintf(told, sizeof told, "%.*s", BYTES_ARG(bytes_cut(what, at + 1, what.len)));
    return told;
}

static void a_delay_names_the_bound_of_its_policy(void **state) {
    (void)state;
    assert_string_equal(delay_told(3, 700), "(full jitter of at most 800ms)");
    assert_string_equal(delay_told(60, 700), "(full jitter of at most 30s)");
    assert_string_equal(delay_told(1, 60000), "(longer than its backoff of at most 200ms, as "
                                              "Retry-After or the retry budget asked)");
    policy.retry.jitter = JITTER_EQUAL;
    assert_string_equal(delay_told(2, 300), "(equal jitter of at most 400ms)");
    policy.retry.jitter = JITTER_NONE;
    policy.retry.shape = BACKOFF_LIST;
    policy.retry.delays_ms[0] = 1000;
    policy.retry.delays_ms[1] = 5000;
    policy.retry.delay_count = 2;
    policy.retry.cap_ms = 2000; /* for the exponential backoff alone */
    assert_string_equal(delay_told(7, 5000), "(no jitter: 5s)");
    policy.retry.shape = BACKOFF_FIXED;
    assert_string_equal(delay_told(7, 200), "(no jitter: 200ms)");
}

static void the_rule_shows_its_conditions(void **state) {
    (void)state;
    struct rule own = {.when = {.statuses = {{404, 404}, {500, 599}, {510, 520}},
                                .status_count = 3,
                                .kinds = 1u << KIND_STATUS,
                                .message = BYTES("model"),
                                .error_type = BYTES("*Error"),
                                .header_name = BYTES("x-tenant")},
                       .verdict = VERDICT_DLQ,
                       .category = BYTES("model_gone"),
                       .reason = BYTES("model_gone"),
                       .name = BYTES("orders.rules[0]")};
    policy.rules = &own;
    policy.rule_count = 1;
    struct envelope envelope = {.id = BYTES("m"),
                                .letter_id = BYTES("l"),
                                .queue = BYTES("orders"),
                                .state = STATE_PENDING_REVIEW,
                                .cause = CAUSE_TERMINAL,
                                .category = BYTES("model_gone"),
                                .reason = BYTES("model_gone"),
                                .rule = BYTES("orders.rules[0]")};
    struct json rule = member(explained(&envelope, &policy), "rule");
    assert_bytes(rule.text,
                 "{\"name\":\"orders.rules[0]\",\"verdict\":\"dlq\",\"category\":\"model_gone\","
                 "\"reason\":\"model_gone\",\"when\":{\"status\":[404,\"5xx\",\"510-520\"],"
                 "\"kind\":[\"status\"],\"error_type\":\"*Error\",\"message\":\"model\","
                 "\"header\":{\"x-tenant\":\"*\"}}}");
}

static void limits_are_there_as_data(void **state) {
    (void)state;
    struct envelope_note notes[2];
    struct envelope envelope = exhausted_letter(notes);
    struct json limits = member(explained(&envelope, &policy), "limits");
    assert_bytes(limits.text,
                 "{\"attempts\":2,\"max_attempts\":2,\"crashes\":0,\"probes\":0,\"replays\":0,"
                 "\"poison_crashes\":3,\"base\":\"200ms\",\"cap\":\"30s\","
                 "\"max_age\":\"24h\",\"retry_after_cap\":\"1h\"}");
}

static void a_queue_that_is_gone_is_named(void **state) {
    (void)state;
    struct envelope_note notes[2];
    struct envelope envelope = exhausted_letter(notes);
    struct json whole = explained(&envelope, NULL);
    assert_has(text_of(whole, "summary"), "Queue orders is no longer configured.");
    assert_bytes(member(whole, "limits").text,
                 "{\"attempts\":2,\"max_attempts\":2,\"crashes\":0,\"probes\":0,\"replays\":0}");
}

static void a_lease_that_ran_out_is_told(void **state) {
    (void)state;
    struct envelope envelope = {.id = BYTES("m"),
                                .queue = BYTES("orders"),
                                .state = STATE_PENDING_RETRY,
                                .failed = true,
                                .kind = KIND_EXPIRED,
                                .attempts = 1,
                                .suspect = true};
    assert_has(text_of(explained(&envelope, NULL), "summary"),
               "Its worker may have died of it, so it is leased alone until one answers.");
    envelope.state = STATE_PENDING_REVIEW;
    envelope.cause = CAUSE_CRASH;
    assert_has(text_of(explained(&envelope, NULL), "summary"),
               "Its lease ran out again while it was leased alone.");
}

static void every_cause_says_what_to_do(void **state) {
    (void)state;
    static const char *const expected[CAUSE_COUNT] = {
        [CAUSE_TERMINAL] = "final",     [CAUSE_EXHAUSTED] = "No attempts are left",
        [CAUSE_EXPIRED] = "max_age",    [CAUSE_CRASH] = "Crashes counted: 3, and 3 are the limit",
        [CAUSE_BLOCKED] = "same key",   [CAUSE_UNCLASSIFIED] = "No rule matches",
        [CAUSE_UNROUTABLE] = "nowhere", [CAUSE_OPERATOR] = "A person",
        [CAUSE_REPORTED] = "reported",  [CAUSE_ADOPTED] = "another system's queue"};
    for (int cause = 0; cause < CAUSE_COUNT; cause++) {
        struct envelope envelope = {.id = BYTES("m"),
                                    .letter_id = BYTES("l"),
                                    .queue = BYTES("orders"),
                                    .state = STATE_PENDING_REVIEW,
                                    .cause = (enum cause)cause,
                                    .failed = true,
                                    .kind = KIND_RESET,
                                    .attempts = 1,
                                    .max_attempts = 5,
                                    .crashes = 3};
        struct json whole = explained(&envelope, &policy);
        struct bytes summary = text_of(whole, "summary");
        assert_has(summary, "Attempt 1 of 5 failed with a failure of kind reset.");
        assert_has(summary, expected[cause]);
        assert_true(bytes_has_nocase(summary, BYTES("replay")));
        assert_int_equal(member(whole, "rule").type, JSON_NULL);
    }
}

static void what_its_broker_has_says_so(void **state) {
    (void)state;
    struct envelope envelope = {.id = BYTES("m"),
                                .letter_id = BYTES("l"),
                                .queue = BYTES("q:main"),
                                .state = STATE_PENDING_REVIEW,
                                .cause = CAUSE_ADOPTED,
                                .failed = true,
                                .error_message = BYTES("rejected in queue orders"),
                                .attempts = 1,
                                .read_only = true};
    struct bytes summary = text_of(explained(&envelope, NULL), "summary");
    assert_has(summary, "Attempt 1 failed with rejected in queue orders.");
    assert_has(summary, "It is read-only: its broker still has it");
    assert_has(summary, "Queue q:main is not configured.");
}

static void a_status_stands_once_and_a_halt_says_what_starts_it_again(void **state) {
    (void)state;
    struct envelope_note note = {.attempt = 1, .verdict = VERDICT_HALT};
    struct envelope envelope = {.id = BYTES("m"),
                                .queue = BYTES("orders"),
                                .state = STATE_QUEUED,
                                .failed = true,
                                .kind = KIND_STATUS,
                                .status = 401,
                                .error_message = BYTES("HTTP 401 Unauthorized"),
                                .history = &note,
                                .history_count = 1};
    struct bytes summary = text_of(explained(&envelope, &policy), "summary");
    assert_has(summary, "It failed with HTTP 401 Unauthorized. ");
    assert_lacks(summary, "`impound resume orders`");
    struct explain_queue paused = {.stopped = "paused"};
    assert_lacks(text_of(explained_in(&envelope, &policy, &paused), "summary"),
                 "That stopped the queue");
    struct explain_queue queue = {.stopped = "halted", .why = BYTES("auth: HTTP 401")};
    assert_has(text_of(explained_in(&envelope, &policy, &queue), "summary"),
               "The queue is halted: auth: HTTP 401; `impound resume orders` lets it go on.");
    envelope.error_message = BYTES("key expired");
    assert_has(text_of(explained(&envelope, &policy), "summary"), "key expired (HTTP 401). ");
}

/* Refused, and refused again after another message had succeeded (SEMANTICS 4.7). */
static struct envelope refused_letter(struct envelope_note notes[2], enum verdict last) {
    notes[0] = (struct envelope_note){.attempt = 1,
                                      .verdict = VERDICT_HALT,
                                      .category = BYTES("auth"),
                                      .error_message = BYTES("HTTP 403"),
                                      .delay_ms = -1};
    notes[1] = notes[0];
    notes[1].verdict = last;
    notes[1].counted = true;
    return (struct envelope){.id = BYTES("m"),
                             .letter_id = BYTES("letter-1"),
                             .queue = BYTES("orders"),
                             .state = STATE_PENDING_REVIEW,
                             .cause = CAUSE_TERMINAL,
                             .category = BYTES("auth"),
                             .reason = BYTES("auth"),
                             .failed = true,
                             .kind = KIND_STATUS,
                             .status = 403,
                             .error_message = BYTES("HTTP 403"),
                             .attempts = 1,
                             .max_attempts = 5,
                             .history = notes,
                             .history_count = 2,
                             .rule = BYTES("preset:http[8]")};
}

static void a_letter_that_was_refused_twice_says_that_another_message_succeeded(void **state) {
    (void)state;
    struct envelope_note notes[2];
    static const enum verdict last[] = {VERDICT_DLQ, VERDICT_HALT}; /* of earlier versions */
    for (size_t i = 0; i < 2; i++) {
        struct envelope envelope = refused_letter(notes, last[i]);
        struct json whole = explained(&envelope, NULL);
        assert_bytes(
            text_of(whole, "summary"),
            "Attempt 1 of 5 failed with HTTP 403. Rule preset:http[8] said halt and called "
            "it auth/auth. The queue went on, because another message succeeded after "
            "this one was refused; it was handed over once more, alone, and refused "
            "again. Fix the message or the handler and replay it, or discard it. Queue "
            "orders is no longer configured.");
        assert_bytes(text_of(member(whole, "rule"), "verdict"), "halt");
        struct json_walk steps = json_walk(member(whole, "steps"));
        assert_true(json_step(&steps));
        assert_bytes(text_of(steps.value, "what"), "attempt 1 failed: HTTP 403 → halt (auth); it "
                                                   "was refused; it does not count");
        assert_true(json_step(&steps));
        assert_bytes(text_of(steps.value, "what"),
                     "attempt 1 failed: HTTP 403 → rule preset:http[8] said halt (auth); it was "
                     "refused again after another message had succeeded, and dead-lettered");
    }
}

/* Refused first, dead of something else later. */
static void a_letter_that_died_otherwise_after_a_refusal_says_of_what(void **state) {
    (void)state;
    struct envelope_note notes[2];
    struct envelope envelope = refused_letter(notes, VERDICT_DLQ);
    notes[1].category = envelope.category = BYTES("validation");
    envelope.reason = BYTES("bad_request");
    struct bytes summary = text_of(explained(&envelope, NULL), "summary");
    assert_has(summary, "said dlq and called it validation/bad_request. That verdict is final");
    assert_lacks(summary, "refused");
}

static void a_buried_letter_says_why(void **state) {
    (void)state;
    struct envelope envelope = {.id = BYTES("m"),
                                .letter_id = BYTES("letter-1"),
                                .queue = BYTES("orders"),
                                .state = STATE_PENDING_REVIEW,
                                .cause = CAUSE_OPERATOR,
                                .why = BYTES("wrong customer")};
    assert_bytes(text_of(explained(&envelope, &policy), "summary"),
                 "It has not been tried yet. A person put it here: wrong customer. Replay it, "
                 "resolve it or discard it.");
    envelope.escalated_at = first_at; /* now the why is that of the escalation */
    assert_has(text_of(explained(&envelope, &policy), "summary"), "A person put it here. ");
    envelope.why = BYTES_NONE;
    envelope.escalated_at = WALL_NEVER;
    assert_has(text_of(explained(&envelope, &policy), "summary"), "A person put it here. ");
}

static void what_is_alive_or_settled_needs_nobody(void **state) {
    (void)state;
    struct envelope envelope = {.id = BYTES("m"), .queue = BYTES("orders"), .state = STATE_QUEUED};
    struct json whole = explained(&envelope, &policy);
    assert_bytes(text_of(whole, "id"), "m");
    assert_int_equal(member(whole, "cause").type, JSON_NULL);
    assert_bytes(text_of(whole, "summary"),
                 "It has not been tried yet. It waits in the queue for its turn.");
    envelope.state = STATE_PENDING_RETRY;
    envelope.next_attempt_at = first_at;
    assert_has(text_of(explained(&envelope, &policy), "summary"),
               "due at 2025-11-15T04:49:41.123Z");
    envelope.state = STATE_RESOLVED;
    envelope.resolved_at = first_at;
    envelope.resolution = RESOLUTION_BY_HAND;
    envelope.why = BYTES("refunded");
    assert_has(text_of(explained(&envelope, &policy), "summary"),
               "It was resolved at 2025-11-15T04:49:41.123Z (by_hand): refunded.");
    envelope.state = STATE_DISCARDED;
    assert_has(text_of(explained(&envelope, &policy), "summary"), "It was discarded");
}

static void what_waits_says_what_the_queue_waits_for(void **state) {
    (void)state;
    struct envelope envelope = {.id = BYTES("m"),
                                .queue = BYTES("orders"),
                                .state = STATE_PENDING_RETRY,
                                .next_attempt_at = first_at};
    static const struct {
        struct explain_queue queue;
        const char *says;
    } cases[] = {
        {{.stopped = "paused"}, "The queue is paused; `impound resume orders`"},
        {{.stopped = "paused", .why = BYTES("deploy")}, "The queue is paused: deploy; "},
        {{.breaker = BREAKER_OPEN, .breaker_until = {1763182181999}},
         "breaker is open until 2025-11-15T04:49:41.999Z"},
        {{.breaker = BREAKER_HALF_OPEN}, "breaker is half open"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct json whole = explained_in(&envelope, &policy, &cases[i].queue);
        assert_has(text_of(whole, "summary"), cases[i].says);
        assert_has(text_of(whole, "summary"), "due at 2025-11-15T04:49:41.123Z.");
        assert_lacks(text_of(whole, "summary"), "nothing to do");
        envelope.state = STATE_RUNNING;
        whole = explained_in(&envelope, &policy, &cases[i].queue);
        assert_lacks(text_of(whole, "summary"), "The queue");
        envelope.state = STATE_PENDING_RETRY;
    }
}

static void a_full_dlq_holds_what_was_never_tried(void **state) {
    (void)state;
    struct envelope envelope = {.id = BYTES("m"), .queue = BYTES("orders"), .state = STATE_QUEUED};
    struct explain_queue queue = {.dlq_full = true};
    assert_has(text_of(explained_in(&envelope, &policy, &queue), "summary"),
               "nothing new is handed over");
    envelope.state = STATE_PENDING_RETRY;
    assert_lacks(text_of(explained_in(&envelope, &policy, &queue), "summary"), "is full");
}

static void a_message_that_awaits_room_says_so(void **state) {
    (void)state;
    struct envelope envelope = {.id = BYTES("m"),
                                .queue = BYTES("orders"),
                                .state = STATE_PENDING_RETRY,
                                .cause = CAUSE_TERMINAL,
                                .dlq = BYTES("orders.dlq")};
    struct explain_queue queue = {.dlq_full = true};
    struct bytes summary = text_of(explained_in(&envelope, &policy, &queue), "summary");
    assert_has(summary, "judged dead (terminal), but DLQ orders.dlq is full");
    assert_has(summary, "not handed over again");
}

static void the_handlers_own_verdict_is_called_that(void **state) {
    (void)state;
    struct envelope_note notes[2];
    struct envelope envelope = exhausted_letter(notes);
    envelope.rule = BYTES("handler");
    struct bytes summary = text_of(explained(&envelope, &policy), "summary");
    assert_has(summary, "The handler itself said retry");
    assert_lacks(summary, "Rule handler");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_letter_says_what_failed_who_decided_and_what_to_do, start,
                                        end),
        cmocka_unit_test_setup_teardown(each_attempt_is_a_step, start, end),
        cmocka_unit_test_setup_teardown(what_did_not_count_says_so, start, end),
        cmocka_unit_test_setup_teardown(a_delay_names_the_bound_of_its_policy, start, end),
        cmocka_unit_test_setup_teardown(the_rule_shows_its_conditions, start, end),
        cmocka_unit_test_setup_teardown(limits_are_there_as_data, start, end),
        cmocka_unit_test_setup_teardown(a_queue_that_is_gone_is_named, start, end),
        cmocka_unit_test_setup_teardown(a_lease_that_ran_out_is_told, start, end),
        cmocka_unit_test_setup_teardown(every_cause_says_what_to_do, start, end),
        cmocka_unit_test_setup_teardown(what_its_broker_has_says_so, start, end),
        cmocka_unit_test_setup_teardown(
            a_letter_that_was_refused_twice_says_that_another_message_succeeded, start, end),
        cmocka_unit_test_setup_teardown(a_letter_that_died_otherwise_after_a_refusal_says_of_what,
                                        start, end),
        cmocka_unit_test_setup_teardown(a_buried_letter_says_why, start, end),
        cmocka_unit_test_setup_teardown(a_status_stands_once_and_a_halt_says_what_starts_it_again,
                                        start, end),
        cmocka_unit_test_setup_teardown(what_is_alive_or_settled_needs_nobody, start, end),
        cmocka_unit_test_setup_teardown(what_waits_says_what_the_queue_waits_for, start, end),
        cmocka_unit_test_setup_teardown(a_full_dlq_holds_what_was_never_tried, start, end),
        cmocka_unit_test_setup_teardown(a_message_that_awaits_room_says_so, start, end),
        cmocka_unit_test_setup_teardown(the_handlers_own_verdict_is_called_that, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
