#include "config/config_retention.h"

#include "config/config_printer.h"
#include "config/config_value.h"

#define DAY_MS  (24LL * 3600 * 1000)
#define KEEP_MS (30 * DAY_MS)
#define MOST_MS (36500 * DAY_MS)

static bool read_keep(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    int64_t *keep_ms = out;
    if (!bytes_is(node->text, "never"))
        return config_value_duration(reader, node, field, out);
    *keep_ms = RETENTION_NEVER;
    return true;
}

static void put_keep(struct config_printer *p, const struct config_field *field,
                     const void *value) {
    if (*(const int64_t *)value == RETENTION_NEVER)
        buf_str(p->out, "never");
    else
        config_value_put_duration(p, field, value);
}

#define KEEP(key, of, default_ms)                                                                  \
    CONFIG_OTHER(key, read_keep, put_keep, struct config_retention, keep_ms[of], .least = 1,       \
                 .most = MOST_MS, .usual = default_ms)
static const struct config_field fields[] = {
    KEEP("unresolved", RETENTION_UNRESOLVED, RETENTION_NEVER),
    KEEP("resolved", RETENTION_RESOLVED, KEEP_MS),
    KEEP("discarded", RETENTION_DISCARDED, KEEP_MS),
};
const struct config_table config_retention_table = CONFIG_FLOW(fields);

bool config_retention_read(struct config_reader *reader, const struct config_node *node,
                           const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_retention_table, out);
}

static struct retention_rule rule_of(const struct config_dlq *dlq) {
    struct retention_rule rule = {.dlq = dlq->dlq->name, .archive = dlq->dlq->archive};
    for (size_t k = 0; k < RETENTION_COUNT; k++)
        rule.keep_ms[k] = dlq->triage->retention.keep_ms[k];
    return rule;
}

size_t config_retention_rules(const struct config *config, struct arena *arena,
                              struct retention_rule **out) {
    *out = arena_alloc(arena, config->dlq_count * sizeof **out);
    for (size_t i = 0; i < config->dlq_count; i++)
        (*out)[i] = rule_of(&config->dlqs[i]);
    return config->dlq_count;
}
