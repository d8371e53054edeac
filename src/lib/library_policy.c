/* A policy without a worker: defaults, YAML over them, single numbers. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/queue/config_policy.h"
#include "config/table/config_value.h"
#include "lib/library.h"
#include "base/memory.h"
#include "engine/judge/facts.h"

enum { QUEUE_NAME_MAX = 200, MISTAKES_MAX = 64 << 10 };

/* Matching needs scratch memory, which threads must not share. */
struct patterns {
    struct facts *facts;
    pthread_mutex_t mutex;
};

struct impound_policy {
    struct policy policy;
    struct config *config; /* owns its texts */
    struct patterns *patterns;
};

const struct policy *library_policy(const struct impound_policy *policy) {
    return &policy->policy;
}

static bool is_name(struct bytes name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-";
    for (size_t i = 0; i < name.len; i++)
        if (!strchr(allowed, name.ptr[i]))
            return false;
    return name.len > 0 && name.len <= QUEUE_NAME_MAX;
}

enum impound_status impound_policy_new(const char *queue, struct impound_policy **out,
                                       struct impound_error *error) {
    struct bytes name = bytes_of(queue);
    if (!is_name(name))
        return library_fail(error, STATUS_INVALID,
                            "a queue's name has 1 to %d letters, digits, dots, underscores and "
                            "hyphens",
                            QUEUE_NAME_MAX);
    struct impound_policy *policy = memory_new(sizeof *policy);
    policy->config = config_new("policy");
    struct arena *arena = &policy->config->arena;
    char *dlq = arena_alloc(arena, name.len + sizeof CONFIG_DLQ_SUFFIX);
    memcpy(dlq, name.ptr, name.len);
    memcpy(dlq + name.len, CONFIG_DLQ_SUFFIX, sizeof CONFIG_DLQ_SUFFIX);
    policy_init(&policy->policy, arena_dup(arena, name), bytes_of(dlq), HANDLER_CALLBACK);
    policy->patterns = memory_new(sizeof *policy->patterns);
    pthread_mutex_init(&policy->patterns->mutex, NULL);
    *out = policy;
    return IMPOUND_OK;
}

void impound_policy_free(struct impound_policy *policy) {
    if (!policy)
        return;
    facts_free(policy->patterns->facts);
    pthread_mutex_destroy(&policy->patterns->mutex);
    free(policy->patterns);
    config_free(policy->config);
    free(policy);
}

static enum status read_over(struct impound_policy *policy, const char *yaml, struct policy *out,
                             struct err *err) {
    struct buf mistakes;
    buf_init_heap(&mistakes, MISTAKES_MAX);
    enum status status = config_read_policy(policy->config, bytes_of(yaml), out, &mistakes);
    if (status != STATUS_OK)
        err_set(err, status, "%.*s", BYTES_ARG(bytes_trim(buf_view(&mistakes))));
    buf_free(&mistakes);
    for (size_t i = 0; i < out->rule_count && status == STATUS_OK; i++)
        if (out->rules[i].when.jq.len)
            status = err_set(err, STATUS_INVALID, "%.*s: jq needs the helper processes of a worker",
                             BYTES_ARG(out->rules[i].name));
    return status;
}

enum impound_status impound_policy_read(struct impound_policy *policy, const char *yaml,
                                        struct impound_error *error) {
    struct policy changed = policy->policy;
    struct facts *facts;
    struct err err;
    if (read_over(policy, yaml ? yaml : "", &changed, &err) != STATUS_OK ||
        facts_new(&changed, &facts, &err) != STATUS_OK)
        return library_error(error, &err);
    facts_free(policy->patterns->facts);
    policy->patterns->facts = facts;
    policy->policy = changed;
    return IMPOUND_OK;
}

void library_policy_facts(const struct impound_policy *policy, const struct outcome *outcome,
                          struct rule_facts *facts) {
    *facts = (struct rule_facts){0};
    if (!policy->patterns->facts)
        return;
    pthread_mutex_lock(&policy->patterns->mutex);
    for (size_t i = 0; i < policy->policy.rule_count; i++)
        if (facts_message_matches(policy->patterns->facts, i, outcome->error_message))
            rule_facts_set(facts, i);
    pthread_mutex_unlock(&policy->patterns->mutex);
}

/* ---- single numbers, by the tables that read impound.yaml ---- */

struct setting {
    const struct config_table *table;
    size_t offset; /* of the table's target, in the policy */
    const char *key;
};

#define RETRY(key)                                                                                 \
    { &config_retry_table, offsetof(struct policy, retry), key }
#define BREAKER(key)                                                                               \
    { &config_breaker_table, offsetof(struct policy, breaker), key }
#define POISON(key)                                                                                \
    { &config_poison_table, offsetof(struct policy, poison), key }

static const struct setting settings[] = {
    [IMPOUND_RETRY_ATTEMPTS] = RETRY("attempts"),
    [IMPOUND_RETRY_BASE_MS] = RETRY("base"),
    [IMPOUND_RETRY_CAP_MS] = RETRY("cap"),
    [IMPOUND_RETRY_MAX_AGE_MS] = RETRY("max_age"),
    [IMPOUND_RETRY_AFTER_CAP_MS] = RETRY("retry_after_cap"),
    [IMPOUND_RETRY_BUDGET_PERMILLE] = RETRY("budget"),
    [IMPOUND_RETRY_BUDGET_FLOOR_PERMILLE] = RETRY("budget_floor"),
    [IMPOUND_BREAKER_FAILURE_PERMILLE] = BREAKER("failure_rate"),
    [IMPOUND_BREAKER_WINDOW_MS] = BREAKER("window"),
    [IMPOUND_BREAKER_MIN_ATTEMPTS] = BREAKER("min_attempts"),
    [IMPOUND_BREAKER_CONSECUTIVE] = BREAKER("consecutive"),
    [IMPOUND_BREAKER_OPEN_MS] = BREAKER("open"),
    [IMPOUND_POISON_CRASHES] = POISON("crashes"),
};

static const struct config_field *field_of(enum impound_setting setting) {
    if ((size_t)setting >= sizeof settings / sizeof *settings)
        return NULL;
    const struct config_table *table = settings[setting].table;
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->fields[i].name, settings[setting].key) == 0)
            return &table->fields[i];
    return NULL;
}

/* Durations have 64 bits, all other numbers 32. */
static bool is_wide(const struct config_field *field) {
    return field->read == config_value_duration;
}

enum impound_status impound_policy_set(struct impound_policy *policy, enum impound_setting setting,
                                       int64_t value, struct impound_error *error) {
    const struct config_field *field = field_of(setting);
    if (!field)
        return library_fail(error, STATUS_INVALID, "there is no setting %d", (int)setting);
    if (value < field->least || value > field->most)
        return library_fail(error, STATUS_INVALID, "%s: expected %lld to %lld, got %lld",
                            field->name, (long long)field->least, (long long)field->most,
                            (long long)value);
    char *at = (char *)&policy->policy + settings[setting].offset + field->offset;
    uint32_t narrow = (uint32_t)value;
    if (is_wide(field))
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &narrow, sizeof narrow);
    return IMPOUND_OK;
}

int64_t impound_policy_get(const struct impound_policy *policy, enum impound_setting setting) {
    const struct config_field *field = field_of(setting);
    if (!field)
        return -1;
    const char *at = (const char *)&policy->policy + settings[setting].offset + field->offset;
    int64_t wide = 0;
    uint32_t narrow = 0;
    if (is_wide(field))
        memcpy(&wide, at, sizeof wide);
    else
        memcpy(&narrow, at, sizeof narrow);
    return is_wide(field) ? wide : (int64_t)narrow;
}
