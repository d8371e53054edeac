/* The printed YAML is parsed instead of being written a second time as JSON, so that the two forms
 * cannot differ. */
#include "config/table/config_json.h"

#include <assert.h>

#include "config/table/config_tree.h"
#include "base/json/json.h"

enum { YAML_MAX = 64 << 20, CHUNK = 64 << 10 };

static void put_scalar(const struct config_node *node, struct json_out *json) {
    struct json value;
    bool number = node->plain && json_parse(node->text, &value, NULL) == STATUS_OK &&
                  value.type == JSON_NUMBER;
    if (number)
        json_put_raw(json, node->text);
    else
        json_put(json, node->text);
}

static void put_node(const struct config_node *node, struct json_out *json) {
    if (node->kind == CONFIG_NOTHING) {
        json_put_null(json);
        return;
    }
    if (node->kind == CONFIG_SCALAR) {
        put_scalar(node, json);
        return;
    }
    bool list = node->kind == CONFIG_LIST;
    json_open(json, list ? '[' : '{');
    for (const struct config_node *child = node->first; child; child = child->next) {
        if (!list)
            json_key_bytes(json, child->key);
        put_node(child, json);
    }
    json_close(json, list ? ']' : '}');
}

void config_json_print(const struct config *config, struct buf *out) {
    struct json_out json = json_out(out);
    struct arena arena;
    struct buf yaml;
    buf_init_heap(&yaml, YAML_MAX);
    arena_init_heap(&arena, CHUNK);
    config_print(config, &yaml);
    struct config_mistakes mistakes = {.path = "", .arena = &arena};
    const struct config_node *root = config_tree_parse(buf_view(&yaml), &mistakes);
    assert(root && mistakes.count == 0);
    put_node(root, &json);
    buf_char(out, '\n');
    arena_free(&arena);
    buf_free(&yaml);
}
