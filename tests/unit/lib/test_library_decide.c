/* The library's first half, through its header alone: decisions without a worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <impound/impound.h>

static struct impound_policy *policy_of(const char *yaml) {
    struct impound_policy *policy;
    struct impound_error error = {0, ""};
    assert_int_equal(impound_policy_new("orders", &policy, &error), IMPOUND_OK);
    if (yaml && impound_policy_read(policy, yaml, &error) != IMPOUND_OK)
        fail_msg("%s", error.text);
    return policy;
}

static struct impound_decision decide(const struct impound_policy *policy,
                                      const struct impound_outcome *outcome,
                                      struct impound_attempt attempt) {
    struct impound_decision decision = IMPOUND_DECISION_INIT;
    struct impound_rng rng;
    impound_rng_seed(&rng, 42);
    assert_int_equal(impound_decide(policy, outcome, &attempt, &rng, &decision, NULL), IMPOUND_OK);
    return decision;
}

static const struct impound_attempt first = IMPOUND_ATTEMPT_INIT;

static void the_version_is_the_headers(void **state) {
    char text[32];
    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", IMPOUND_VERSION_MAJOR, IMPOUND_VERSION_MINOR,
             IMPOUND_VERSION_PATCH);
    assert_string_equal(impound_version(), text);
}

static void success_and_interruption_are_no_failures(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of(NULL);
    struct impound_outcome *outcome = impound_outcome_new();
    assert_int_equal(decide(policy, outcome, first).action, IMPOUND_ACTION_DONE);
    impound_outcome_interrupt(outcome);
    struct impound_decision decision = decide(policy, outcome, first);
    assert_int_equal(decision.action, IMPOUND_ACTION_HAND_BACK);
    assert_false(decision.counted);
    impound_outcome_free(outcome);
    impound_policy_free(policy);
}

/* SEMANTICS §3: the library's presets are http and errors. */
static void failures_are_classified_by_the_presets(void **state) {
    static const struct {
        int status;
        const char *type;
        enum impound_verdict verdict;
        const char *category, *reason;
    } rows[] = {
        {429, "", IMPOUND_VERDICT_RETRY, "rate_limit", "rate_limit"},
        {503, "", IMPOUND_VERDICT_RETRY, "transient", "upstream_busy"},
        {401, "", IMPOUND_VERDICT_HALT, "auth", "auth"},
        {422, "", IMPOUND_VERDICT_DLQ, "validation", "bad_request"},
        {404, "", IMPOUND_VERDICT_DLQ, "not_found", "not_found"},
        {0, "ReadTimeout", IMPOUND_VERDICT_RETRY, "timeout", "timeout"},
        {0, "Strange", IMPOUND_VERDICT_DLQ, "unknown", "unclassified:Strange"},
    };
    (void)state;
    struct impound_policy *policy = policy_of(NULL);
    struct impound_outcome *outcome = impound_outcome_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct impound_classification class = IMPOUND_CLASSIFICATION_INIT;
        impound_outcome_fail(outcome, rows[i].type, NULL);
        impound_outcome_set_status(outcome, rows[i].status);
        assert_int_equal(impound_classify(policy, outcome, &first, &class, NULL), IMPOUND_OK);
        assert_int_equal(class.verdict, rows[i].verdict);
        assert_string_equal(class.category, rows[i].category);
        assert_string_equal(class.reason, rows[i].reason);
        assert_string_equal(class.dlq, "orders.dlq");
        assert_int_equal(class.unclassified, strncmp(rows[i].reason, "unclassified", 12) == 0);
    }
    impound_outcome_free(outcome);
    impound_policy_free(policy);
}

/* SEMANTICS 4.7. */
static void a_halt_of_a_preset_is_to_be_checked_by_the_caller(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of("classify:\n  rules:\n"
                                              "    - {when: {status: 402}, do: halt}\n");
    struct impound_outcome *outcome = impound_outcome_new();
    impound_outcome_fail(outcome, NULL, NULL);
    impound_outcome_set_status(outcome, 403);
    struct impound_decision decision = decide(policy, outcome, first);
    assert_int_equal(decision.action, IMPOUND_ACTION_HALT);
    assert_int_equal(decision.suspect, 1);
    impound_outcome_set_status(outcome, 402); /* the user's own rule */
    decision = decide(policy, outcome, first);
    assert_int_equal(decision.action, IMPOUND_ACTION_HALT);
    assert_int_equal(decision.suspect, 0);
    impound_outcome_set_status(outcome, 403);
    impound_outcome_set_verdict(outcome, IMPOUND_VERDICT_HALT, NULL);
    assert_int_equal(decide(policy, outcome, first).suspect, 0);
    impound_outcome_free(outcome);
    impound_policy_free(policy);
}

static void own_rules_see_patterns_headers_and_attempts(void **state) {
    static const char yaml[] =
        "classify:\n  rules:\n"
        "    - {when: {message: 'gone: m\\d+'}, do: dlq, category: model_gone, dlq: orders.gone}\n"
        "    - {when: {header: {x-tier: free}, attempt: 2}, do: discard, reason: not_worth_it}\n";
    static const struct impound_header headers[] = {{"x-tier", "free"}};
    (void)state;
    struct impound_policy *policy = policy_of(yaml);
    struct impound_outcome *outcome = impound_outcome_new();
    impound_outcome_fail(outcome, "E", "it is gone: m17");
    struct impound_decision decision = decide(policy, outcome, first);
    assert_int_equal(decision.action, IMPOUND_ACTION_DEAD);
    assert_int_equal(decision.cause, IMPOUND_CAUSE_TERMINAL);
    assert_string_equal(decision.dlq, "orders.gone");
    assert_string_equal(decision.rule, "orders.rules[0]");
    struct impound_attempt second = first;
    second.attempt = 2;
    second.headers = headers;
    second.header_count = 1;
    impound_outcome_fail(outcome, "E", "no such thing");
    decision = decide(policy, outcome, second);
    assert_int_equal(decision.action, IMPOUND_ACTION_DISCARD);
    assert_string_equal(decision.reason, "not_worth_it");
    second.header_count = 0;
    assert_int_equal(decide(policy, outcome, second).cause, IMPOUND_CAUSE_UNCLASSIFIED);
    impound_outcome_free(outcome);
    impound_policy_free(policy);
}

static void attempts_age_and_crashes_end_a_message(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of("retry: {attempts: 3, max_age: 1h}");
    struct impound_outcome *outcome = impound_outcome_new();
    struct impound_attempt attempt = first;
    impound_outcome_fail(outcome, NULL, NULL);
    impound_outcome_set_status(outcome, 503);
    attempt.attempt = 3;
    struct impound_decision decision = decide(policy, outcome, attempt);
    assert_int_equal(decision.cause, IMPOUND_CAUSE_EXHAUSTED);
    assert_string_equal(decision.reason, "max_attempts:upstream_busy");
    attempt.attempt = 2;
    attempt.first_failure_ms = 1000;
    attempt.now_ms = 1000 + 3600 * 1000;
    assert_int_equal(decide(policy, outcome, attempt).cause, IMPOUND_CAUSE_EXPIRED);
    attempt.now_ms--;
    assert_int_equal(decide(policy, outcome, attempt).action, IMPOUND_ACTION_RETRY);
    attempt.crashes = 2;
    impound_outcome_set_kind(outcome, IMPOUND_KIND_RESET);
    decision = decide(policy, outcome, attempt);
    assert_int_equal(decision.cause, IMPOUND_CAUSE_CRASH);
    assert_true(decision.crashed);
    impound_outcome_free(outcome);
    impound_policy_free(policy);
}

static void the_handlers_own_verdict_wins(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of(NULL);
    struct impound_outcome *outcome = impound_outcome_new();
    impound_outcome_fail(outcome, "ReadTimeout", "slow");
    impound_outcome_set_verdict(outcome, IMPOUND_VERDICT_DLQ, "too_late");
    struct impound_decision decision = decide(policy, outcome, first);
    assert_int_equal(decision.action, IMPOUND_ACTION_DEAD);
    assert_string_equal(decision.reason, "too_late");
    impound_outcome_free(outcome);
    impound_policy_free(policy);
}

static void the_same_seed_gives_the_same_delays(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of(NULL);
    struct impound_rng a, b;
    impound_rng_seed(&a, 7);
    impound_rng_seed(&b, 7);
    for (uint32_t n = 1; n <= 20; n++) {
        int64_t delay = impound_backoff_ms(policy, n, 0, -1, &a);
        assert_int_equal(delay, impound_backoff_ms(policy, n, 0, -1, &b));
        int64_t most = n < 8 ? 200 << (n - 1) : 30000;
        assert_in_range(delay, 0, most > 30000 ? 30000 : most);
    }
    assert_true(impound_backoff_ms(policy, 1, 0, 60000, &a) >= 60000);
    assert_int_equal(impound_backoff_ms(policy, 1, 0, INT64_MAX, &a), 3600 * 1000);
    impound_policy_free(policy);
}

static void settings_have_the_limits_of_the_configuration(void **state) {
    struct impound_error error;
    (void)state;
    struct impound_policy *policy = policy_of(NULL);
    assert_int_equal(impound_policy_get(policy, IMPOUND_RETRY_ATTEMPTS), 5);
    assert_int_equal(impound_policy_get(policy, IMPOUND_RETRY_MAX_AGE_MS), 24 * 3600 * 1000);
    assert_int_equal(impound_policy_get(policy, IMPOUND_RETRY_AFTER_CAP_MS), 3600 * 1000);
    assert_int_equal(impound_policy_get(policy, IMPOUND_BREAKER_OPEN_MS), 30000);
    assert_int_equal(impound_policy_get(policy, IMPOUND_POISON_CRASHES), 3);
    assert_int_equal(impound_policy_set(policy, IMPOUND_RETRY_ATTEMPTS, 9, &error), IMPOUND_OK);
    assert_int_equal(impound_policy_get(policy, IMPOUND_RETRY_ATTEMPTS), 9);
    assert_int_equal(impound_policy_set(policy, IMPOUND_RETRY_ATTEMPTS, 0, &error),
                     IMPOUND_INVALID);
    assert_non_null(strstr(error.text, "attempts"));
    assert_int_equal(impound_policy_set(policy, (enum impound_setting)99, 1, NULL),
                     IMPOUND_INVALID);
    assert_int_equal(impound_policy_get(policy, IMPOUND_RETRY_ATTEMPTS), 9);
    impound_policy_free(policy);
}

static void a_mistake_is_told_and_changes_nothing(void **state) {
    static const struct {
        const char *yaml, *told;
    } rows[] = {
        {"retry: {attempts: 2, base: ten}", ":1:28"},
        {"rety: {}", "Did you mean \"retry\""},
        {"classify: {rules: [{when: {message: '('}, do: dlq}]}", "regular expression"},
        {"classify: {rules: [{when: {jq: '.a'}, do: dlq}]}", "jq"},
        {"[", "policy:2:1"},
    };
    struct impound_error error;
    (void)state;
    struct impound_policy *policy = policy_of(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(impound_policy_read(policy, rows[i].yaml, &error), IMPOUND_INVALID);
        assert_int_equal(error.status, IMPOUND_INVALID);
        if (!strstr(error.text, rows[i].told))
            fail_msg("%s: %s", rows[i].yaml, error.text);
    }
    assert_int_equal(impound_policy_get(policy, IMPOUND_RETRY_ATTEMPTS), 5);
    impound_policy_free(policy);
    assert_int_equal(impound_policy_new("no spaces", &policy, &error), IMPOUND_INVALID);
    assert_int_equal(impound_policy_new(NULL, &policy, &error), IMPOUND_INVALID);
}

/* Callers that were compiled against an older, smaller struct. */
static void a_struct_is_filled_as_far_as_its_size_reaches(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of(NULL);
    struct impound_outcome *outcome = impound_outcome_new();
    struct impound_decision decision;
    struct impound_rng rng;
    impound_rng_seed(&rng, 1);
    impound_outcome_fail(outcome, "Strange", NULL);
    memset(&decision, 0x55, sizeof decision);
    decision.size = offsetof(struct impound_decision, category);
    assert_int_equal(impound_decide(policy, outcome, &first, &rng, &decision, NULL), IMPOUND_OK);
    assert_int_equal(decision.size, offsetof(struct impound_decision, category));
    assert_int_equal(decision.action, IMPOUND_ACTION_DEAD);
    assert_int_equal(decision.category[0], 0x55);
    decision.size = 0;
    assert_int_equal(impound_decide(policy, outcome, &first, &rng, &decision, NULL),
                     IMPOUND_INVALID);
    impound_outcome_free(outcome);
    impound_policy_free(policy);
}

static void the_budget_bounds_retries(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of("retry: {budget: 20%, budget_floor: 1/s}");
    struct impound_budget *budget = impound_budget_new();
    int64_t again;
    int allowed = 0;
    for (int i = 0; i < 1000; i++)
        impound_budget_first(budget, 1000);
    for (int i = 0; i < 1000; i++)
        allowed += impound_budget_retry(budget, policy, 1000, &again);
    assert_int_equal(allowed, 200);
    assert_true(again > 1000);
    assert_true(impound_budget_remaining(budget, policy, 1000) < 0.01);
    assert_int_equal(impound_budget_retry(budget, policy, 20000, NULL), 1);
    impound_budget_free(budget);
    impound_policy_free(policy);
}

static void the_breaker_opens_probes_and_closes(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of("breaker: {consecutive: 3}");
    struct impound_breaker *breaker = impound_breaker_new();
    assert_int_equal(impound_breaker_probes(breaker, policy, 0), 0);
    impound_breaker_probe_started(breaker); /* nobody asked for one */
    for (uint64_t message = 1; message <= 3; message++)
        impound_breaker_note(breaker, policy, 1000, message, 1, -1);
    assert_int_equal(impound_breaker_state(breaker), IMPOUND_BREAKER_OPEN);
    assert_int_equal(impound_breaker_until(breaker), 2000);
    assert_int_equal(impound_breaker_probes(breaker, policy, 1999), 0);
    int64_t now = 2000;
    for (int rounds = 0; impound_breaker_state(breaker) != IMPOUND_BREAKER_CLOSED; rounds++) {
        uint32_t probes = impound_breaker_probes(breaker, policy, now);
        assert_true(probes > 0 && rounds < 10);
        for (uint32_t i = 0; i < probes; i++)
            impound_breaker_probe_started(breaker);
        for (uint32_t i = 0; i < probes; i++)
            impound_breaker_probe_ended(breaker, policy, now, 4, 0, -1);
    }
    impound_breaker_free(breaker);
    impound_policy_free(policy);
}

static struct impound_decision judge_probe(const struct impound_policy *policy,
                                           const struct impound_attempt *attempt) {
    struct impound_outcome *outcome = impound_outcome_new();
    struct impound_decision decision = IMPOUND_DECISION_INIT;
    struct impound_rng rng;
    impound_rng_seed(&rng, 1);
    impound_outcome_fail(outcome, NULL, "busy");
    impound_outcome_set_status(outcome, 503);
    assert_int_equal(impound_decide(policy, outcome, attempt, &rng, &decision, NULL), IMPOUND_OK);
    impound_outcome_free(outcome);
    return decision;
}

static void failed_probes_are_bounded_without_evidence_of_an_outage(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of("retry: {attempts: 4}");
    struct impound_attempt attempt = IMPOUND_ATTEMPT_INIT;
    attempt.attempt = 4;
    attempt.probe = attempt.breaker_open = 1;
    attempt.probes = 7;
    struct impound_decision decision = judge_probe(policy, &attempt);
    assert_int_equal(decision.action, IMPOUND_ACTION_HAND_BACK);
    assert_true(decision.probed && !decision.counted && decision.breaker_failure);
    attempt.probes = 8;
    decision = judge_probe(policy, &attempt);
    assert_int_equal(decision.action, IMPOUND_ACTION_DEAD);
    assert_int_equal(decision.cause, IMPOUND_CAUSE_EXHAUSTED);
    attempt.outage = 1;
    decision = judge_probe(policy, &attempt);
    assert_int_equal(decision.action, IMPOUND_ACTION_HAND_BACK);
    assert_false(decision.probed);
    impound_policy_free(policy);
}

static void a_failure_after_others_succeeded_is_an_attempt(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of("retry: {attempts: 4}");
    struct impound_attempt attempt = IMPOUND_ATTEMPT_INIT;
    attempt.attempt = 2;
    attempt.probe = attempt.breaker_open = attempt.outage = 1;
    attempt.others_succeeded = 1;
    struct impound_decision decision = judge_probe(policy, &attempt);
    assert_int_equal(decision.action, IMPOUND_ACTION_RETRY);
    assert_true(decision.counted);
    impound_policy_free(policy);
}

static void a_caller_of_an_older_header_has_no_bound(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of("retry: {attempts: 4, max_age: 1h}");
    struct impound_attempt attempt = IMPOUND_ATTEMPT_INIT;
    attempt.size = offsetof(struct impound_attempt, probes);
    attempt.attempt = 4;
    attempt.probe = attempt.breaker_open = 1;
    attempt.probes = 100; /* not read */
    attempt.first_failure_ms = 1;
    attempt.now_ms = 1 + 48 * 3600 * 1000;
    assert_int_equal(judge_probe(policy, &attempt).action, IMPOUND_ACTION_HAND_BACK);
    attempt.size = sizeof attempt;
    attempt.probes = 0;
    assert_int_equal(judge_probe(policy, &attempt).cause, IMPOUND_CAUSE_EXPIRED);
    impound_policy_free(policy);
}

/* Two messages fail in turn, then others. */
static void evidence_of_an_outage_is_five_distinct_messages(void **state) {
    (void)state;
    struct impound_policy *policy = policy_of("breaker: {consecutive: 3}");
    struct impound_breaker *breaker = impound_breaker_new();
    for (uint64_t i = 0; i < 3; i++)
        impound_breaker_note(breaker, policy, 1000, 1 + i % 2, 1, -1);
    assert_int_equal(impound_breaker_state(breaker), IMPOUND_BREAKER_OPEN);
    int64_t now = 1000;
    for (int i = 0; i < 4; i++) {
        now = impound_breaker_until(breaker);
        assert_int_equal(impound_breaker_probes(breaker, policy, now), 1);
        impound_breaker_probe_started(breaker);
        assert_int_equal(impound_breaker_outage(breaker, 1), 0);
        impound_breaker_probe_ended_for(breaker, policy, now, 4, 1, 1, -1);
    }
    assert_int_equal(impound_breaker_until(breaker), now + 16000);
    assert_int_equal(impound_breaker_arrived(breaker, now + 999), 0);
    assert_int_equal(impound_breaker_arrived(breaker, now + 1000), 1);
    assert_int_equal(impound_breaker_probes(breaker, policy, now + 1000), 1);
    impound_breaker_probe_started(breaker);
    for (uint64_t message = 3; message <= 4; message++)
        impound_breaker_note(breaker, policy, now, message, 1, -1); /* was under way */
    assert_int_equal(impound_breaker_outage(breaker, 4), 0);
    assert_int_equal(impound_breaker_outage(breaker, 5), 1);
    impound_breaker_probe_ended_for(breaker, policy, now + 1000, 4, 5, 1, -1);
    assert_int_equal(impound_breaker_outage(breaker, 1), 1);
    assert_int_equal(impound_breaker_arrived(breaker, now + 3000), 0);
    impound_breaker_resume(breaker, now + 3000);
    assert_int_equal(impound_breaker_probes(breaker, policy, now + 3000), 1);
    impound_breaker_free(breaker);
    impound_policy_free(policy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_the_headers),
        cmocka_unit_test(success_and_interruption_are_no_failures),
        cmocka_unit_test(failures_are_classified_by_the_presets),
        cmocka_unit_test(a_halt_of_a_preset_is_to_be_checked_by_the_caller),
        cmocka_unit_test(own_rules_see_patterns_headers_and_attempts),
        cmocka_unit_test(attempts_age_and_crashes_end_a_message),
        cmocka_unit_test(the_handlers_own_verdict_wins),
        cmocka_unit_test(the_same_seed_gives_the_same_delays),
        cmocka_unit_test(settings_have_the_limits_of_the_configuration),
        cmocka_unit_test(a_mistake_is_told_and_changes_nothing),
        cmocka_unit_test(a_struct_is_filled_as_far_as_its_size_reaches),
        cmocka_unit_test(the_budget_bounds_retries),
        cmocka_unit_test(the_breaker_opens_probes_and_closes),
        cmocka_unit_test(failed_probes_are_bounded_without_evidence_of_an_outage),
        cmocka_unit_test(a_failure_after_others_succeeded_is_an_attempt),
        cmocka_unit_test(a_caller_of_an_older_header_has_no_bound),
        cmocka_unit_test(evidence_of_an_outage_is_five_distinct_messages),
    };
    return cmocka_run_group_tests_name("library decide", tests, NULL, NULL);
}
