/* The breaker against a model that keeps every answer, and in a small world of messages. */
#include "test.h"

#include "base/rng.h"
#include "core/outage/breaker.h"

enum { SEEDS = 200, STEPS = 600 };

static const struct breaker_answer GOOD = {.message = 9, .retry_after_ms = -1};

static struct breaker_policy defaults(void) {
    struct policy policy;
    policy_init(&policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    return policy.breaker;
}

struct answer {
    int64_t ms;
    uint64_t message;
    bool failed;
};

struct model {
    struct answer answers[STEPS];
    size_t count; /* since it was last closed */
};

static bool model_row(const struct model *model, const struct breaker_policy *policy) {
    size_t row = 0;
    bool several = false;
    const struct answer *last = &model->answers[model->count - 1];
    for (size_t i = model->count; i > 0 && model->answers[i - 1].failed; i--, row++)
        several = several || model->answers[i - 1].message != last->message;
    return several && row >= policy->consecutive;
}

static bool model_window(const struct model *model, const struct breaker_policy *policy) {
    int64_t length = policy->window_ms / BREAKER_SLOTS;
    int64_t newest = model->answers[model->count - 1].ms / length;
    size_t attempts = 0, failures = 0;
    for (size_t i = 0; i < model->count; i++)
        if (model->answers[i].ms / length > newest - BREAKER_SLOTS) {
            attempts++;
            failures += model->answers[i].failed;
        }
    return attempts >= policy->min_attempts &&
           failures * 1000 >= attempts * policy->failure_permille;
}

static bool model_note(struct model *model, const struct breaker_policy *policy,
                       struct answer answer) {
    model->answers[model->count++] = answer;
    return answer.failed && (model_row(model, policy) || model_window(model, policy));
}

/* Probes it until it is closed again; every round must be as large as the picture says. */
static void bring_back(struct breaker *breaker, const struct breaker_policy *policy,
                       struct mono *now, uint32_t concurrency) {
    uint32_t last = concurrency < BREAKER_ROUND_MAX ? concurrency : BREAKER_ROUND_MAX;
    assert_int_equal(breaker_probes_wanted(breaker, policy, *now), 0);
    *now = breaker->until;
    for (uint32_t round = 1;; round = round * 2 < last ? round * 2 : last) {
        assert_int_equal(breaker_probes_wanted(breaker, policy, *now), round);
        for (uint32_t i = 0; i < round; i++)
            breaker_probe_started(breaker);
        assert_int_equal(breaker_probes_wanted(breaker, policy, *now), 0);
        for (uint32_t i = 0; i < round; i++)
            breaker_probe_ended(breaker, policy, *now, concurrency, GOOD);
        if (round == last)
            break;
    }
    assert_int_equal(breaker->state, BREAKER_CLOSED);
}

static size_t run(uint64_t seed) {
    static struct model model;
    struct breaker breaker = {0};
    struct breaker_policy policy = defaults();
    struct rng rng;
    rng_seed(&rng, seed);
    uint64_t failing_percent = rng_below(&rng, 101), messages = 1 + rng_below(&rng, 6);
    struct mono now = {(int64_t)rng_below(&rng, 1000000)};
    size_t opened = 0;
    model.count = 0;
    for (int step = 0; step < STEPS; step++) {
        now.ms += (int64_t)rng_below(&rng, 1200);
        struct answer answer = {now.ms, rng_below(&rng, messages),
                                rng_below(&rng, 100) < failing_percent};
        bool opens = model_note(&model, &policy, answer);
        struct breaker_answer told = {answer.message, answer.failed, -1};
        assert_int_equal(breaker_note(&breaker, &policy, now, told), opens);
        if (opens) {
            opened++;
            bring_back(&breaker, &policy, &now, 1 + (uint32_t)rng_below(&rng, 50));
            model.count = 0;
        }
    }
    return opened;
}

static void it_opens_exactly_when_the_rules_say(void **state) {
    (void)state;
    size_t opened = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        opened += run(seed);
    assert_true(opened > 0);
}

/* Random answers to random probes: never more under way than a round, never one before its time. */
static void probing_stays_within_its_rounds(void **state) {
    (void)state;
    struct breaker_policy policy = defaults();
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct breaker breaker = {0};
        struct rng rng;
        rng_seed(&rng, seed);
        struct mono now = {1000};
        uint32_t under_way = 0;
        for (int step = 0; step < STEPS; step++) {
            now.ms += (int64_t)rng_below(&rng, 700);
            if (breaker.state == BREAKER_CLOSED)
                for (uint64_t m = 0; m < 5; m++)
                    breaker_note(&breaker, &policy, now, (struct breaker_answer){m, true, -1});
            uint32_t wanted = breaker_probes_wanted(&breaker, &policy, now);
            assert_true(wanted == 0 || now.ms >= breaker.until.ms);
            assert_true(wanted + under_way <= BREAKER_ROUND_MAX);
            for (; wanted > 0; wanted--, under_way++)
                breaker_probe_started(&breaker);
            if (under_way == 0)
                continue;
            under_way--;
            if (rng_below(&rng, 10) == 0)
                breaker_probe_withdrawn(&breaker);
            else
                breaker_probe_ended(&breaker, &policy, now, 32,
                                    (struct breaker_answer){7, rng_below(&rng, 8) == 0, -1});
            assert_true(breaker.open_ms <= policy.open_ms ||
                        breaker.open_ms <= BREAKER_DOUBT_MAX_MS);
            assert_true(breaker.state != BREAKER_CLOSED || under_way == 0);
        }
    }
}

/* Two messages that are answered 503 for ever, and now and then a healthy one. Healthy ones come
 * first as probes; the poison is tried whenever nothing else waits. Returns how many healthy ones
 * were served, none of which waited for much longer than an opening at its shortest. */
static int64_t serve_beside_poison(int64_t hours, int64_t every_ms) {
    enum { STEP_MS = 100, HOUR_MS = 3600 * 1000, CONCURRENCY = 32 };
    struct breaker_policy policy = defaults();
    struct breaker breaker = {0};
    struct rng rng;
    rng_seed(&rng, 7);
    struct mono healthy_since = MONO_NEVER, next_healthy = {0};
    uint64_t poison = 0;
    int64_t longest = 0, served = 0;
    for (struct mono now = {0}; now.ms < hours * HOUR_MS; now.ms += STEP_MS) {
        if (now.ms >= next_healthy.ms) {
            if (healthy_since.ms == INT64_MAX)
                healthy_since = now;
            next_healthy.ms = now.ms + every_ms / 2 + (int64_t)rng_below(&rng, (uint64_t)every_ms);
        }
        bool closed = breaker.state == BREAKER_CLOSED;
        if (healthy_since.ms != INT64_MAX && breaker_arrival_from(&breaker).ms <= now.ms)
            breaker_arrived(&breaker, now);
        if (!closed && breaker_probes_wanted(&breaker, &policy, now) == 0)
            continue;
        bool healthy = healthy_since.ms != INT64_MAX;
        if (healthy) {
            longest = now.ms - healthy_since.ms > longest ? now.ms - healthy_since.ms : longest;
            served++;
            healthy_since = MONO_NEVER;
        }
        struct breaker_answer answer = {healthy ? 9 : ++poison % 2, !healthy, -1};
        if (closed) {
            breaker_note(&breaker, &policy, now, answer);
        } else {
            breaker_probe_started(&breaker);
            breaker_probe_ended(&breaker, &policy, now, CONCURRENCY, answer);
        }
    }
    assert_true(longest <= BREAKER_FIRST_OPEN_MS + STEP_MS);
    return served;
}

static void two_poison_messages_hold_healthy_ones_up_only_briefly(void **state) {
    (void)state;
    assert_true(serve_beside_poison(1, 2000) > 1000);
    assert_true(serve_beside_poison(24, 600000) > 100); /* a quiet queue */
}

static void kinds_and_statuses_speak_for_an_http_downstream(void **state) {
    (void)state;
    static const struct {
        enum kind kind;
        int status;
        bool failure;
    } cases[] = {
        {KIND_TIMEOUT, 0, true},   {KIND_REFUSED, 0, true},   {KIND_RESET, 0, true},
        {KIND_DNS, 0, true},       {KIND_TLS, 0, true},       {KIND_STATUS, 408, true},
        {KIND_STATUS, 425, true},  {KIND_STATUS, 429, true},  {KIND_STATUS, 500, true},
        {KIND_STATUS, 599, true},  {KIND_STATUS, 400, false}, {KIND_STATUS, 401, false},
        {KIND_STATUS, 404, false}, {KIND_STATUS, 302, false}, {KIND_STATUS, 600, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome outcome = {
            .ending = ENDING_FAILED, .kind = cases[i].kind, .status = cases[i].status};
        for (int v = 0; v < VERDICT_COUNT; v++)
            assert_int_equal(breaker_is_failure(HANDLER_HTTP, &outcome, (enum verdict)v),
                             cases[i].failure);
    }
}

static void what_did_not_fail_is_no_failure(void **state) {
    (void)state;
    struct outcome ok = {.ending = ENDING_OK, .kind = KIND_TIMEOUT};
    struct outcome interrupted = {.ending = ENDING_INTERRUPTED, .kind = KIND_TIMEOUT};
    for (int h = HANDLER_HTTP; h <= HANDLER_CALLBACK; h++) {
        assert_false(breaker_is_failure((enum handler_class)h, &ok, VERDICT_RETRY));
        assert_false(breaker_is_failure((enum handler_class)h, &interrupted, VERDICT_RETRY));
    }
}

static void states_are_spelt_as_the_contract_says(void **state) {
    (void)state;
    assert_string_equal(breaker_state_text(BREAKER_CLOSED), "closed");
    assert_string_equal(breaker_state_text(BREAKER_OPEN), "open");
    assert_string_equal(breaker_state_text(BREAKER_HALF_OPEN), "half_open");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_opens_exactly_when_the_rules_say),
        cmocka_unit_test(probing_stays_within_its_rounds),
        cmocka_unit_test(two_poison_messages_hold_healthy_ones_up_only_briefly),
        cmocka_unit_test(kinds_and_statuses_speak_for_an_http_downstream),
        cmocka_unit_test(what_did_not_fail_is_no_failure),
        cmocka_unit_test(states_are_spelt_as_the_contract_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
