#include "config/queue/config_policy.h"

#include "config/table/config_printer.h"
#include "config/table/config_value.h"
#include "base/instant.h"

#define DAY_MS    (24LL * 3600 * 1000)
#define DELAY_MS  (30 * DAY_MS)
#define AGE_MS    (3650 * DAY_MS)
#define WINDOW_MS (3600LL * 1000)

enum {
    ATTEMPTS_MOST = 1000,
    WHOLE_PERMILLE = 1000,
    FLOOR_MOST = 1000 * 1000 * 1000, /* 1000000/s */
    COUNT_MOST = 1000 * 1000,
    WINDOW_LEAST_MS = 100,
    OPEN_LEAST_MS = 1000,
    FLOOD_WINDOW_LEAST_MS = 1000,
};

static const char *const jitter_words[] = {[JITTER_FULL] = "full",
                                           [JITTER_EQUAL] = "equal",
                                           [JITTER_DECORRELATED] = "decorrelated",
                                           [JITTER_NONE] = "none",
                                           NULL};
static const char *const backoff_words[] = {
    [BACKOFF_EXPONENTIAL] = "exponential", [BACKOFF_FIXED] = "fixed", NULL};

/* `out` is the whole retry policy. */
static bool read_delays(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    static const struct config_field delay = {.most = DELAY_MS};
    (void)field;
    struct retry_policy *retry = out;
    if (node->kind != CONFIG_LIST || node->count == 0 || node->count > POLICY_DELAYS_MAX)
        return config_reader_expected(reader, node, "a list of 1 to 32 delays such as [1s, 5s]");
    retry->shape = BACKOFF_LIST;
    retry->delay_count = 0;
    for (const struct config_node *item = node->first; item; item = item->next)
        if (config_value_duration(reader, item, &delay, &retry->delays_ms[retry->delay_count]))
            retry->delay_count++;
    return true;
}

static void put_delays(struct config_printer *p, const struct config_field *field,
                       const void *value) {
    const struct retry_policy *retry = value;
    (void)field;
    for (size_t i = 0; i < retry->delay_count; i++) {
        buf_str(p->out, i ? ", " : "[");
        duration_put(p->out, retry->delays_ms[i]);
    }
    buf_char(p->out, ']');
}

/* Delays replace backoff. */
CONFIG_SHOWN(shows_backoff, struct retry_policy, of->shape != BACKOFF_LIST)
CONFIG_SHOWN(shows_delays, struct retry_policy, of->shape == BACKOFF_LIST)

static void put_budget(struct config_printer *p, const struct config_field *field,
                       const void *value) {
    if (*(const uint32_t *)value == BUDGET_OFF)
        buf_str(p->out, "off");
    else
        config_value_put_percent(p, field, value);
}

static bool read_budget(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    if (!config_value_is(node, "off"))
        return config_value_percent_or(reader, node, field,
                                       "off, or a share from 0% to 100%, such as 20%", out);
    *(uint32_t *)out = BUDGET_OFF;
    return true;
}

static const struct config_field retry_fields[] = {
    CONFIG_NUMBER("attempts", count, struct retry_policy, attempts, 1, ATTEMPTS_MOST),
    CONFIG_NUMBER("base", duration, struct retry_policy, base_ms, 1, DELAY_MS),
    CONFIG_NUMBER("cap", duration, struct retry_policy, cap_ms, 1, DELAY_MS),
    CONFIG_WORD("jitter", struct retry_policy, jitter, jitter_words),
    CONFIG_WORD("backoff", struct retry_policy, shape, backoff_words, .shown = shows_backoff),
    CONFIG_WHOLE("delays", read_delays, .put = put_delays, .shown = shows_delays),
    CONFIG_NUMBER("max_age", duration, struct retry_policy, max_age_ms, 1, AGE_MS),
    CONFIG_NUMBER("retry_after_cap", duration, struct retry_policy, retry_after_cap_ms, 0,
                  DELAY_MS),
    CONFIG_OTHER("budget", read_budget, put_budget, struct retry_policy, budget_permille,
                 .most = WHOLE_PERMILLE),
    CONFIG_NUMBER("budget_floor", rate, struct retry_policy, budget_floor_permille, 0, FLOOR_MOST),
};
const struct config_table config_retry_table = CONFIG_BLOCK(retry_fields);

bool config_policy_read_retry(struct config_reader *reader, const struct config_node *node,
                              const struct config_field *field, void *out) {
    (void)field;
    struct retry_policy *retry = out;
    if (!config_reader_mapping(reader, node, &config_retry_table, retry))
        return false;
    const struct config_node *base = config_tree_find(node, "base");
    const struct config_node *delays = config_tree_find(node, "delays");
    if (base && config_tree_find(node, "cap") && retry->base_ms > retry->cap_ms)
        config_mistake_add(&reader->mistakes, base->at, "base: %.*s is longer than the cap, %.*s",
                           BYTES_ARG(base->text), BYTES_ARG(config_tree_find(node, "cap")->text));
    if (delays && config_tree_find(node, "backoff"))
        config_mistake_add(&reader->mistakes, delays->key_at,
                           "delays: they stand in place of backoff; write one of the two");
    return true;
}

static const struct config_field breaker_fields[] = {
    CONFIG_NUMBER("failure_rate", percent, struct breaker_policy, failure_permille, 1,
                  WHOLE_PERMILLE),
    CONFIG_NUMBER("window", duration, struct breaker_policy, window_ms, WINDOW_LEAST_MS, WINDOW_MS),
    CONFIG_NUMBER("min_attempts", count, struct breaker_policy, min_attempts, 1, COUNT_MOST),
    CONFIG_NUMBER("consecutive", count, struct breaker_policy, consecutive, 1, COUNT_MOST),
    CONFIG_NUMBER("open", duration, struct breaker_policy, open_ms, OPEN_LEAST_MS, DAY_MS),
};
const struct config_table config_breaker_table = CONFIG_BLOCK(breaker_fields);

bool config_policy_breaker_is_off(const void *breaker) {
    return ((const struct breaker_policy *)breaker)->off;
}

bool config_policy_read_breaker(struct config_reader *reader, const struct config_node *node,
                                const struct config_field *field, void *out) {
    (void)field;
    struct breaker_policy *breaker = out;
    if (config_value_is(node, "off")) {
        breaker->off = true;
        return true;
    }
    if (!config_reader_is_mapping(reader, node, "off, or a mapping such as {failure_rate: 50%}"))
        return false;
    return config_reader_mapping(reader, node, &config_breaker_table, breaker);
}

static const char *const flood_words[] = {
    [FLOOD_OFF] = "off", [FLOOD_ALERT] = "alert", [FLOOD_HOLD] = "hold", NULL};

static const struct config_field flood_fields[] = {
    CONFIG_NUMBER("share", percent, struct flood_policy, share_permille, 1, WHOLE_PERMILLE),
    CONFIG_NUMBER("of", count, struct flood_policy, of, 1, COUNT_MOST),
    CONFIG_NUMBER("window", duration, struct flood_policy, window_ms, FLOOD_WINDOW_LEAST_MS,
                  FLOOD_WINDOW_MOST_MS),
    CONFIG_WORD("then", struct flood_policy, then, flood_words),
};
const struct config_table config_flood_table = CONFIG_BLOCK(flood_fields);

bool config_policy_read_flood(struct config_reader *reader, const struct config_node *node,
                              const struct config_field *field, void *out) {
    (void)field;
    struct flood_policy *flood = out;
    if (config_value_is(node, "off")) {
        flood->then = FLOOD_OFF;
        return true;
    }
    if (!config_reader_is_mapping(reader, node, "off, or a mapping such as {then: hold}"))
        return false;
    return config_reader_mapping(reader, node, &config_flood_table, flood);
}

static const struct config_field poison_fields[] = {
    CONFIG_NUMBER("crashes", count, struct poison_policy, crashes, 1, COUNT_MOST),
    CONFIG_NUMBER("deliveries", count, struct poison_policy, deliveries, 1, COUNT_MOST),
};
const struct config_table config_poison_table = CONFIG_BLOCK(poison_fields);

bool config_policy_read_poison(struct config_reader *reader, const struct config_node *node,
                               const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_poison_table, out);
}
