#include "app/config_retention.h"

#include "app/config_value.h"

#define DAY_MS  (24LL * 3600 * 1000)
#define KEEP_MS (30 * DAY_MS)
#define MOST_MS (36500 * DAY_MS)

const char *const config_retention_words[] = {[RETENTION_UNRESOLVED] = "unresolved",
                                              [RETENTION_RESOLVED] = "resolved",
                                              [RETENTION_DISCARDED] = "discarded"};

static bool read_keep(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    int64_t *keep_ms = out;
    if (!bytes_is(node->text, "never"))
        return config_value_duration(reader, node, field, out);
    *keep_ms = RETENTION_NEVER;
    return true;
}

#define KEEP(name, of)                                                                             \
    CONFIG_NUMBER(name, read_keep, struct config_retention, keep_ms[of], 1, MOST_MS)
static const struct config_field fields[] = {
    KEEP("unresolved", RETENTION_UNRESOLVED),
    KEEP("resolved", RETENTION_RESOLVED),
    KEEP("discarded", RETENTION_DISCARDED),
};
const struct config_table config_retention_table = CONFIG_TABLE(fields);

void config_retention_init(struct config_retention *retention) {
    *retention = (struct config_retention){{RETENTION_NEVER, KEEP_MS, KEEP_MS}};
}

bool config_retention_read(struct config_reader *reader, const struct config_node *node,
                           const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_retention_table, out);
}

void config_retention_apply(const struct config_retention *said, struct config_retention *into) {
    for (size_t i = 0; i < RETENTION_COUNT; i++)
        if (said->keep_ms[i] != 0)
            into->keep_ms[i] = said->keep_ms[i];
}

bool config_retention_same(const struct config_retention *a, const struct config_retention *b) {
    for (size_t i = 0; i < RETENTION_COUNT; i++)
        if (a->keep_ms[i] != b->keep_ms[i])
            return false;
    return true;
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
