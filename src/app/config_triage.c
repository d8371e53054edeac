#include "app/config_triage.h"

#include "app/config.h"
#include "app/config_handler.h"
#include "app/config_retention.h"
#include "app/config_same.h"
#include "app/config_triage_rules.h"
#include "app/config_value.h"
#include "base/json_path.h"

#define FRESH_MOST_MS (3650LL * 24 * 3600 * 1000)
#define LAG_MOST      1000000000000LL

/* `out` is the whole of what is said. */
static bool read_check(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    struct config_triage *triage = out;
    if (!config_reader_is_mapping(reader, node, "{http: URL} or {exec: [COMMAND]}"))
        return false;
    struct config_handler *check = arena_alloc(reader->arena, sizeof *check);
    if (!config_handler_read(reader, node, field, check))
        return false;
    triage->check = check;
    return true;
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
    CONFIG_NUMBER("within", config_value_duration, struct config_triage, fresh_ms, 1,
                  FRESH_MOST_MS),
    CONFIG_WHOLE("check", read_check),
    CONFIG_VALUE("hash", read_hash, struct config_triage, fresh_hash),
};
const struct config_table config_fresh_table = CONFIG_TABLE(fresh_fields);

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
    CONFIG_NUMBER("max_lag", config_value_large, struct config_queue, replay_max_lag, 0, LAG_MOST),
};
const struct config_table config_replay_table = CONFIG_TABLE(replay_fields);

bool config_triage_read_replay(struct config_reader *reader, const struct config_node *node,
                               const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_replay_table, out);
}

void config_triage_apply(const struct config_node *entry, const struct config_triage *said,
                         struct config_triage *into) {
    config_retention_apply(&said->retention, &into->retention);
    if (config_tree_find(entry, "triage"))
        into->rules = said->rules;
    if (config_tree_find(entry, "max_replays"))
        into->max_replays = said->max_replays;
    if (config_tree_find(entry, "fresh")) {
        into->fresh_ms = said->fresh_ms;
        into->check = said->check;
        into->fresh_hash = said->fresh_hash;
    }
}

const char *config_triage_difference(const struct config_triage *a, const struct config_triage *b) {
    if (a->max_replays != b->max_replays)
        return "max_replays";
    if (!config_retention_same(&a->retention, &b->retention))
        return "retention";
    if (!config_triage_rules_same(&a->rules, &b->rules))
        return "triage";
    bool same = a->fresh_ms == b->fresh_ms && bytes_eq(a->fresh_hash, b->fresh_hash) &&
                config_same_handler(a->check, b->check);
    return same ? NULL : "fresh";
}
