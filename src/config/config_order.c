#include "config/config_order.h"

#include "config/config_value.h"
#include "base/json_path.h"

#define DAY_MS (24LL * 3600 * 1000)

const char *const config_order_words[] = {[ORDER_NONE] = "none", [ORDER_KEY] = "key", NULL};
const char *const config_on_dead_words[] = {
    [ON_DEAD_CLOSE] = "close", [ON_DEAD_CONTINUE] = "continue", NULL};

static bool read_path(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    struct bytes path;
    struct err err;
    (void)field;
    if (!config_value_string(reader, node, "a path into the body such as .order_id", &path))
        return false;
    if (json_path_check(path, &err) != STATUS_OK) {
        config_mistake_add(&reader->mistakes, node->at, "key: %s", err.text);
        return false;
    }
    *(struct bytes *)out = path;
    return true;
}

static const struct config_field idempotency_fields[] = {
    CONFIG_TEXT("key", read_path, struct engine_idempotency, path),
    CONFIG_TEXT("header", config_value_text, struct engine_idempotency, header),
    CONFIG_NUMBER("dedupe", duration, struct engine_idempotency, dedupe_ms, 1, 3650 * DAY_MS,
                  .usual = DAY_MS),
};
const struct config_table config_idempotency_table = CONFIG_FLOW(idempotency_fields);

bool config_order_read_idempotency(struct config_reader *reader, const struct config_node *node,
                                   const struct config_field *field, void *out) {
    (void)field;
    if (!config_reader_is_mapping(reader, node,
                                  "a mapping such as {key: .order_id, dedupe: 24h}") ||
        !config_reader_mapping(reader, node, &config_idempotency_table, out))
        return false;
    bool key = config_tree_find(node, "key"), header = config_tree_find(node, "header");
    if (key == header)
        config_mistake_add(&reader->mistakes, node->key_at,
                           "idempotency: expected one of key (a path into the body) and header");
    return true;
}

void config_order_check(struct config_reader *reader, const struct config_node *node,
                        const struct config_queue *queue) {
    static const char *const keys[] = {"on_dead", "blocked_limit"};
    for (size_t i = 0; queue->order == ORDER_NONE && i < 2; i++) {
        const struct config_node *child = config_tree_find(node, keys[i]);
        if (child)
            config_mistake_add(&reader->mistakes, child->key_at,
                               "%s: it is for queues with order: key", keys[i]);
    }
}
