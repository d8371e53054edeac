/* Drives the budget from budget.txt. Given, after settings, is a story: `first*N` first attempts,
 * `retry*N` asks N times, `+1s` passes time, `restart` keeps only the peak. Wanted: how many of
 * each `retry` were granted, then what remains in per cent. */
#include "table.h"

#include "core/outage/budget.h"

struct story {
    struct budget budget;
    struct policy policy;
    struct mono now;
};

static int64_t times_of(struct bytes word) {
    struct bytes name, count;
    return table_split(word, '*', &name, &count) ? table_number(count) : 1;
}

/* A refusal must name a later time: whoever asks again then does not spin. */
static int64_t ask(struct story *s, int64_t times) {
    int64_t granted = 0;
    while (times--) {
        struct mono again = s->now;
        if (budget_retry(&s->budget, &s->policy.retry, s->now, &again))
            granted++;
        else if (again.ms <= s->now.ms || again.ms > s->now.ms + BUDGET_SLOT_MS)
            table_bad("a time to ask again", BYTES("it must lie within the next second"));
    }
    return granted;
}

static void restart(struct story *s) {
    uint32_t peak = budget_peak(&s->budget, s->now);
    s->budget = (struct budget){0};
    budget_restore(&s->budget, peak, s->now);
}

static void step(struct story *s, struct bytes word, struct bytes value, struct buf *actual) {
    if (bytes_is(word, "share") && bytes_is(value, "off"))
        s->policy.retry.budget_permille = BUDGET_OFF;
    else if (bytes_is(word, "share"))
        s->policy.retry.budget_permille = (uint32_t)table_number(value) * 10;
    else if (bytes_is(word, "floor_permille"))
        s->policy.retry.budget_floor_permille = (uint32_t)table_number(value);
    else if (bytes_is(word, "restart"))
        restart(s);
    else if (word.ptr[0] == '+')
        s->now = mono_after(s->now, table_duration(bytes_cut(word, 1, word.len)));
    else if (bytes_starts(word, BYTES("first")))
        for (int64_t times = times_of(word); times > 0; times--)
            budget_first(&s->budget, s->now);
    else if (bytes_starts(word, BYTES("retry")))
        buf_printf(actual, "%lld ", (long long)ask(s, times_of(word)));
    else
        table_bad("a step", word);
}

static void answer(const struct table_case *c, struct buf *actual) {
    struct story s = {.now = {7000}};
    policy_init(&s.policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    struct bytes rest = c->given, key, value;
    while (table_word(&rest, &key, &value))
        step(&s, key, value, actual);
    double ratio = budget_remaining_ratio(&s.budget, &s.policy.retry, s.now);
    buf_printf(actual, "%.0f%%", ratio * 100);
}

int main(int argc, char **argv) {
    return argc == 2 ? table_run(argv[1], 16, answer) : 2;
}
