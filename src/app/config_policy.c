#include "app/config_policy.h"

#include "app/config_value.h"

#define DAY_MS    (24LL * 3600 * 1000)
#define DELAY_MS  (30 * DAY_MS)
#define AGE_MS    (3650 * DAY_MS)
#define WINDOW_MS (3600LL * 1000)

enum {
    ATTEMPTS_MOST = 1000,
    WHOLE_PERMILLE = 1000,
    FLOOR_MOST = 1000 * 1000, /* 1000/s */
    COUNT_MOST = 1000 * 1000,
    WINDOW_LEAST_MS = 100,
    OPEN_LEAST_MS = 1000,
};

const char *const config_jitter_words[] = {[JITTER_FULL] = "full",
                                           [JITTER_EQUAL] = "equal",
                                           [JITTER_DECORRELATED] = "decorrelated",
                                           [JITTER_NONE] = "none",
                                           NULL};
const char *const config_backoff_words[] = {
    [BACKOFF_EXPONENTIAL] = "exponential", [BACKOFF_FIXED] = "fixed", NULL};

/* `out` is the whole retry policy. */
static bool read_delays(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    struct retry_policy *retry = out;
    if (node->kind != CONFIG_LIST || node->count == 0 || node->count > POLICY_DELAYS_MAX)
        return config_reader_expected(reader, node, "a list of 1 to 32 delays such as [1s, 5s]");
    retry->shape = BACKOFF_LIST;
    retry->delay_count = 0;
    for (const struct config_node *item = node->first; item; item = item->next)
        if (config_value_duration(reader, item, field, &retry->delays_ms[retry->delay_count]))
            retry->delay_count++;
    return true;
}

#define RETRY(member) .offset = offsetof(struct retry_policy, member)

static const struct config_field retry_fields[] = {
    {.name = "attempts",
     .read = config_value_count,
     RETRY(attempts),
     .least = 1,
     .most = ATTEMPTS_MOST},
    {.name = "base", .read = config_value_duration, RETRY(base_ms), .least = 1, .most = DELAY_MS},
    {.name = "cap", .read = config_value_duration, RETRY(cap_ms), .least = 1, .most = DELAY_MS},
    {.name = "jitter", .read = config_value_word, RETRY(jitter), .words = config_jitter_words},
    {.name = "backoff", .read = config_value_word, RETRY(shape), .words = config_backoff_words},
    {.name = "delays", .read = read_delays, .most = DELAY_MS},
    {.name = "max_age",
     .read = config_value_duration,
     RETRY(max_age_ms),
     .least = 1,
     .most = AGE_MS},
    {.name = "retry_after_cap",
     .read = config_value_duration,
     RETRY(retry_after_cap_ms),
     .most = DELAY_MS},
    {.name = "budget",
     .read = config_value_percent,
     RETRY(budget_permille),
     .most = WHOLE_PERMILLE},
    {.name = "budget_floor",
     .read = config_value_rate,
     RETRY(budget_floor_permille),
     .most = FLOOR_MOST},
};
const struct config_table config_retry_table = CONFIG_TABLE(retry_fields);

bool config_policy_read_retry(struct config_reader *reader, const struct config_node *node,
                              const struct config_field *field, void *out) {
    (void)field;
    struct retry_policy *retry = out;
    if (!config_reader_mapping(reader, node, &config_retry_table, retry))
        return false;
    const struct config_node *base = config_tree_find(node, "base");
    const struct config_node *delays = config_tree_find(node, "delays");
    if (base && config_tree_find(node, "cap") && retry->base_ms > retry->cap_ms)
        config_mistake_add(&reader->mistakes, base->at, "base: %.*s is longer than the cap",
                           BYTES_ARG(base->text));
    if (delays && config_tree_find(node, "backoff"))
        config_mistake_add(&reader->mistakes, delays->key_at,
                           "delays: they stand in place of backoff; write one of the two");
    return true;
}

#define BREAKER(member) .offset = offsetof(struct breaker_policy, member)

static const struct config_field breaker_fields[] = {
    {.name = "failure_rate",
     .read = config_value_percent,
     BREAKER(failure_permille),
     .least = 1,
     .most = WHOLE_PERMILLE},
    {.name = "window",
     .read = config_value_duration,
     BREAKER(window_ms),
     .least = WINDOW_LEAST_MS,
     .most = WINDOW_MS},
    {.name = "min_attempts",
     .read = config_value_count,
     BREAKER(min_attempts),
     .least = 1,
     .most = COUNT_MOST},
    {.name = "consecutive",
     .read = config_value_count,
     BREAKER(consecutive),
     .least = 1,
     .most = COUNT_MOST},
    {.name = "open",
     .read = config_value_duration,
     BREAKER(open_ms),
     .least = OPEN_LEAST_MS,
     .most = DAY_MS},
};
const struct config_table config_breaker_table = CONFIG_TABLE(breaker_fields);

bool config_policy_read_breaker(struct config_reader *reader, const struct config_node *node,
                                const struct config_field *field, void *out) {
    (void)field;
    struct breaker_policy *breaker = out;
    if (node->kind == CONFIG_SCALAR && bytes_is(node->text, "off")) {
        breaker->off = true;
        return true;
    }
    if (!config_reader_is_mapping(reader, node, "off, or a mapping such as {failure_rate: 50%}"))
        return false;
    return config_reader_mapping(reader, node, &config_breaker_table, breaker);
}

#define POISON(member) .offset = offsetof(struct poison_policy, member)

static const struct config_field poison_fields[] = {
    {.name = "crashes",
     .read = config_value_count,
     POISON(crashes),
     .least = 1,
     .most = COUNT_MOST},
    {.name = "deliveries",
     .read = config_value_count,
     POISON(deliveries),
     .least = 1,
     .most = COUNT_MOST},
};
const struct config_table config_poison_table = CONFIG_TABLE(poison_fields);

bool config_policy_read_poison(struct config_reader *reader, const struct config_node *node,
                               const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_poison_table, out);
}
