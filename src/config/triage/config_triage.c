#include "config/triage/config_triage.h"

#include "config/config.h"
#include "config/queue/config_handler.h"
#include "config/table/config_printer.h"
#include "config/table/config_value.h"
#include "base/json/json_path.h"

#define FRESH_MOST_MS (3650LL * 24 * 3600 * 1000)
#define LAG_MOST      1000000000000LL

static bool read_check(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    if (!config_reader_is_mapping(reader, node, "{http: URL} or {exec: [COMMAND]}"))
        return false;
    struct config_handler *check = arena_alloc(reader->arena, sizeof *check);
    if (!config_handler_read(reader, node, field, check))
        return false;
    *(struct config_handler **)out = check;
    return true;
}

static void put_check(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    config_handler_put(p, field, *(struct config_handler *const *)value);
}

static bool read_hash(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    struct bytes path;
    struct err err;
    (void)field;
    if (!config_value_string(reader, node, "a path into the body such as .content_hash", &path))
        return false;
    if (json_path_check(path, &err) != STATUS_OK) {
        config_mistake_add(&reader->mistakes, node->at, "hash: %s", err.text);
        return false;
    }
    *(struct bytes *)out = path;
    return true;
}

static const struct config_field fresh_fields[] = {
    CONFIG_NUMBER("within", duration, struct config_fresh, within_ms, 1, FRESH_MOST_MS,
                  .optional = true, .reload = CONFIG_LIVE),
    CONFIG_OTHER("check", read_check, put_check, struct config_fresh, check, .optional = true,
                 .reload = CONFIG_RESTART),
    CONFIG_TEXT("hash", read_hash, struct config_fresh, hash, .reload = CONFIG_LIVE),
};
const struct config_table config_fresh_table = CONFIG_FLOW(fresh_fields);

bool config_triage_read_fresh(struct config_reader *reader, const struct config_node *node,
                              const struct config_field *field, void *out) {
    (void)field;
    if (!config_reader_mapping(reader, node, &config_fresh_table, out))
        return false;
    if (config_tree_find(node, "hash") && !config_tree_find(node, "check"))
        config_mistake_add(&reader->mistakes, node->at,
                           "fresh: hash says where the body has the hash of its content, but not "
                           "what to compare it with. Add a check");
    return true;
}

static const struct config_field replay_fields[] = {
    CONFIG_NUMBER("max_lag", large, struct config_queue, replay_max_lag, 0, LAG_MOST,
                  .usual = CONFIG_MAX_LAG, .reload = CONFIG_LIVE),
};
const struct config_table config_replay_table = CONFIG_BLOCK(replay_fields);

bool config_triage_read_replay(struct config_reader *reader, const struct config_node *node,
                               const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_replay_table, out);
}

/* ---- retention ---- */

#define DAY_MS            (24LL * 3600 * 1000)
#define RETENTION_MS      (30 * DAY_MS)
#define RETENTION_MOST_MS (36500 * DAY_MS)

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
                 .most = RETENTION_MOST_MS, .usual = default_ms)
static const struct config_field retention_fields[] = {
    KEEP("unresolved", RETENTION_UNRESOLVED, RETENTION_NEVER),
    KEEP("resolved", RETENTION_RESOLVED, RETENTION_MS),
    KEEP("discarded", RETENTION_DISCARDED, RETENTION_MS),
};
const struct config_table config_retention_table = CONFIG_FLOW(retention_fields);

bool config_triage_read_retention(struct config_reader *reader, const struct config_node *node,
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

size_t config_triage_retention(const struct config *config, struct arena *arena,
                               struct retention_rule **out) {
    *out = arena_alloc(arena, config->dlq_count * sizeof **out);
    for (size_t i = 0; i < config->dlq_count; i++)
        (*out)[i] = rule_of(&config->dlqs[i]);
    return config->dlq_count;
}
