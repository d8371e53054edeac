/* The budget against a model that keeps every single time and counts. */
#include "test.h"

#include "base/rng.h"
#include "core/outage/budget.h"

enum { SEEDS = 40, STEPS = 4000, WINDOW_MS = 10000, MEMORY_MS = 600 * 1000 };

struct times {
    int64_t ms[STEPS * 4];
    size_t count;
};

static void note(struct times *times, int64_t ms) {
    times->ms[times->count++] = ms;
}

/* How many lie in (after, until]; times are in order. */
static size_t count_between(const struct times *times, int64_t after, int64_t until) {
    size_t count = 0;
    for (size_t i = times->count; i > 0 && times->ms[i - 1] > after; i--)
        count += times->ms[i - 1] <= until;
    return count;
}

/* The most within any ten seconds of the last ten minutes. */
static size_t busiest(const struct times *times, int64_t now) {
    size_t most = 0, from = 0;
    for (size_t to = 0; to < times->count; to++) {
        while (times->ms[from] <= times->ms[to] - WINDOW_MS || times->ms[from] <= now - MEMORY_MS)
            if (++from > to)
                break;
        if (from <= to && to - from + 1 > most)
            most = to - from + 1;
    }
    return most;
}

static size_t promised(const struct times *firsts, const struct retry_policy *retry, int64_t now) {
    size_t share = busiest(firsts, now) * retry->budget_permille / 1000;
    size_t floor = retry->budget_floor_permille * 10 / 1000;
    return share > floor ? share : floor;
}

/* Calm and storms: the pace changes every few hundred steps. */
static int64_t pause_ms(struct rng *rng, int step, uint64_t *pace_ms) {
    static const uint64_t paces_ms[] = {5, 40, 400, 1500, 20000};
    if (step % 300 == 0)
        *pace_ms = paces_ms[rng_below(rng, 5)];
    return (int64_t)rng_below(rng, *pace_ms);
}

static struct retry_policy some_retry(struct rng *rng) {
    struct policy policy;
    policy_init(&policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    policy.retry.budget_permille = (uint32_t)rng_below(rng, 1000);
    policy.retry.budget_floor_permille = 100 + (uint32_t)rng_below(rng, 5000);
    return policy.retry;
}

static void check_refusal(const struct times *retries, const struct retry_policy *retry,
                          struct mono now, struct mono again) {
    assert_true(again.ms > now.ms && again.ms <= now.ms + BUDGET_SLOT_MS);
    size_t floor = retry->budget_floor_permille * 10 / 1000;
    assert_true(count_between(retries, now.ms - WINDOW_MS - BUDGET_SLOT_MS, now.ms) >= floor);
}

static void run(uint64_t seed) {
    static struct times firsts, retries;
    struct budget budget = {0};
    struct rng rng;
    rng_seed(&rng, seed);
    struct retry_policy retry = some_retry(&rng);
    struct mono now = {(int64_t)rng_below(&rng, 100000)};
    uint64_t pace_ms = 0;
    firsts.count = retries.count = 0;
    for (int step = 0; step < STEPS; step++) {
        now.ms += pause_ms(&rng, step, &pace_ms);
        if (rng_below(&rng, 3) == 0) {
            budget_first(&budget, now);
            note(&firsts, now.ms);
            continue;
        }
        struct mono again = now;
        if (!budget_retry(&budget, &retry, now, &again)) {
            check_refusal(&retries, &retry, now, again);
            continue;
        }
        note(&retries, now.ms);
        assert_true(count_between(&retries, now.ms - WINDOW_MS, now.ms) <=
                    promised(&firsts, &retry, now.ms));
        double left = budget_remaining_ratio(&budget, &retry, now);
        assert_true(left >= 0.0 && left <= 1.0);
    }
    assert_true(firsts.count > 0 && retries.count > 0);
}

static void no_ten_seconds_see_more_retries_than_promised(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run(seed);
}

static void asking_again_when_told_to_gets_through_in_the_end(void **state) {
    (void)state;
    struct policy policy;
    policy_init(&policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    struct budget budget = {0};
    struct mono now = {123456}, again;
    while (budget_retry(&budget, &policy.retry, now, &again))
        ;
    int asked = 0;
    do {
        now = again;
        asked++;
    } while (!budget_retry(&budget, &policy.retry, now, &again));
    assert_true(asked <= BUDGET_WINDOW_SLOTS + 1);
}

static void a_peak_survives_a_restart_on_another_clock(void **state) {
    (void)state;
    struct budget before = {0}, after = {0};
    for (int i = 0; i < 500; i++)
        budget_first(&before, (struct mono){9000000});
    assert_int_equal(budget_peak(&before, (struct mono){9000000}), 500);
    budget_restore(&after, 500, (struct mono){40});
    assert_int_equal(budget_peak(&after, (struct mono){40}), 500);
    assert_int_equal(budget_peak(&after, (struct mono){599999}), 500);
    assert_int_equal(budget_peak(&after, (struct mono){600000}), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_ten_seconds_see_more_retries_than_promised),
        cmocka_unit_test(asking_again_when_told_to_gets_through_in_the_end),
        cmocka_unit_test(a_peak_survives_a_restart_on_another_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
