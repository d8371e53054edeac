#include "config/table/config_tree.h"

#include <assert.h>
#include <libfyaml.h>
#include <stdio.h>
#include <string.h>

#include "broker/common/url.h"

enum { DEPTH_MAX = 32, SHOWN_MAX = 80, LIST_NAME_MAX = 200 };

struct anchor {
    struct bytes name;
    struct config_node *node;
    struct anchor *next;
};

struct builder {
    struct fy_parser *parser;
    struct fy_event *event; /* the current event */
    struct arena *arena;
    struct config_mistakes *mistakes;
    struct anchor *anchors;
    bool failed; /* the rest cannot be read … */
    bool told;   /* … and a mistake has the reason */
};

static void step(struct builder *b) {
    fy_parser_event_free(b->parser, b->event);
    b->event = fy_parser_parse(b->parser);
}

static enum fy_event_type event_type(const struct builder *b) {
    return b->event ? b->event->type : FYET_NONE;
}

/* The parser's mark is behind the character that begins a quoted text or an alias. */
static bool has_sign(const struct builder *b) {
    if (b->event->type != FYET_SCALAR)
        return b->event->type == FYET_ALIAS;
    enum fy_scalar_style style = fy_token_scalar_style(b->event->scalar.value);
    return style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
}

static struct config_place event_place(const struct builder *b) {
    const struct fy_mark *mark = fy_event_start_mark(b->event);
    if (!mark)
        return (struct config_place){1, 1};
    size_t column = (size_t)mark->column + 1;
    if (column > 1 && has_sign(b))
        column--;
    return (struct config_place){(size_t)mark->line + 1, column};
}

static struct bytes token_text(struct builder *b, struct fy_token *token) {
    size_t len = 0;
    const char *text = token ? fy_token_get_text(token, &len) : NULL;
    return text ? arena_dup(b->arena, (struct bytes){text, len}) : BYTES_NONE;
}

static void fail(struct builder *b, struct config_place at, const char *why) {
    if (!b->told)
        config_mistake_add(b->mistakes, at, "%s", why);
    b->failed = b->told = true;
}

static struct config_node *node_new(struct builder *b, enum config_node_kind kind) {
    struct config_node *node = arena_alloc(b->arena, sizeof *node);
    node->kind = kind;
    node->at = node->key_at = event_place(b);
    return node;
}

static void remember_anchor(struct builder *b, struct bytes name, struct config_node *node) {
    if (name.len == 0)
        return;
    struct anchor *anchor = arena_alloc(b->arena, sizeof *anchor);
    *anchor = (struct anchor){name, node, b->anchors};
    b->anchors = anchor;
}

static bool means_nothing(struct bytes text) {
    return text.len == 0 || bytes_is(text, "~") || bytes_is(text, "null");
}

static struct config_node *take_scalar(struct builder *b) {
    struct fy_token *value = b->event->scalar.value;
    struct config_node *node = node_new(b, CONFIG_SCALAR);
    node->text = token_text(b, value);
    node->plain = fy_token_scalar_style(value) == FYSS_PLAIN;
    if (node->plain && means_nothing(node->text))
        node->kind = CONFIG_NOTHING;
    remember_anchor(b, token_text(b, b->event->scalar.anchor), node);
    step(b);
    return node;
}

static struct config_node *take_alias(struct builder *b) {
    struct config_node *node = node_new(b, CONFIG_NOTHING);
    struct bytes name = token_text(b, b->event->alias.anchor);
    const struct anchor *anchor = b->anchors;
    while (anchor && !bytes_eq(anchor->name, name))
        anchor = anchor->next;
    if (!anchor) {
        config_mistake_add(b->mistakes, node->at, "no anchor \"%.*s\" stands before this alias",
                           BYTES_ARG(name));
        b->failed = b->told = true;
        return NULL;
    }
    struct config_place at = node->at;
    *node = *anchor->node;
    node->at = node->key_at = at;
    node->next = NULL;
    step(b);
    return node;
}

static void append(struct config_node *parent, struct config_node *child) {
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

static struct bytes item_key(struct builder *b, struct bytes list, size_t place) {
    char text[256];
    snprintf(text, sizeof text, "%.*s[%zu]", BYTES_ARG(bytes_clip(list, LIST_NAME_MAX)), place);
    return arena_dup(b->arena, bytes_of(text));
}

static struct config_node *take_value(struct builder *b, struct bytes key, size_t depth);

static void take_items(struct builder *b, struct config_node *list, size_t depth) {
    while (!b->failed && event_type(b) != FYET_SEQUENCE_END) {
        struct bytes key = item_key(b, list->key, list->count);
        struct config_node *item = take_value(b, key, depth + 1);
        if (item)
            append(list, item);
    }
}

static const struct config_node *find_in(const struct map *seen, struct bytes key) {
    for (struct map_node *at = map_first(seen, bytes_hash(key)); at; at = map_next(at)) {
        const struct config_node *node =
            (const void *)((const char *)at - offsetof(struct config_node, by_key));
        if (bytes_eq(node->key, key))
            return node;
    }
    return NULL;
}

/* A key that occurs twice is reported, and its later values are ignored. */
static void add_unless_twin(struct builder *b, struct config_node *mapping, struct map *seen,
                            struct config_node *child) {
    const struct config_node *twin = find_in(seen, child->key);
    if (twin) {
        config_mistake_add(b->mistakes, child->key_at,
                           "duplicate key \"%.*s\": it stands already at line %zu",
                           BYTES_ARG(child->key), twin->key_at.line);
        return;
    }
    map_insert(seen, &child->by_key, bytes_hash(child->key));
    append(mapping, child);
}

static void take_pairs(struct builder *b, struct config_node *mapping, size_t depth) {
    struct map seen = {0};
    while (!b->failed && event_type(b) != FYET_MAPPING_END) {
        if (event_type(b) != FYET_SCALAR) {
            if (b->event)
                fail(b, event_place(b), "a key must be a plain word");
            b->failed = true;
            break;
        }
        struct config_place key_at = event_place(b);
        struct bytes key = token_text(b, b->event->scalar.value);
        step(b);
        struct config_node *child = take_value(b, key, depth + 1);
        if (!child)
            break;
        child->key_at = key_at;
        if (child->kind == CONFIG_NOTHING && child->text.len == 0)
            child->at = key_at; /* an omitted value has no position of its own */
        add_unless_twin(b, mapping, &seen, child);
    }
    map_free(&seen);
}

static struct config_node *take_container(struct builder *b, struct bytes key, size_t depth) {
    bool mapping = event_type(b) == FYET_MAPPING_START;
    struct config_node *node = node_new(b, mapping ? CONFIG_MAPPING : CONFIG_LIST);
    struct bytes anchor =
        token_text(b, mapping ? b->event->mapping_start.anchor : b->event->sequence_start.anchor);
    node->key = key;
    if (depth > DEPTH_MAX) {
        fail(b, node->at, "this is nested too deeply");
        return NULL;
    }
    step(b);
    if (mapping)
        take_pairs(b, node, depth);
    else
        take_items(b, node, depth);
    if (b->failed)
        return NULL;
    step(b);
    remember_anchor(b, anchor, node);
    return node;
}

/* NULL: the parser failed, or this reader did. */
static struct config_node *take_value(struct builder *b, struct bytes key, size_t depth) {
    struct config_node *node = NULL;
    enum fy_event_type type = event_type(b);
    if (type == FYET_SCALAR)
        node = take_scalar(b);
    else if (type == FYET_ALIAS)
        node = take_alias(b);
    else if (type == FYET_MAPPING_START || type == FYET_SEQUENCE_START)
        node = take_container(b, key, depth);
    else
        b->failed = true;
    if (node)
        node->key = key;
    return node;
}

/* STREAM_START DOCUMENT_START value DOCUMENT_END STREAM_END */
static struct config_node *take_document(struct builder *b) {
    step(b);
    if (event_type(b) == FYET_STREAM_START)
        step(b);
    if (event_type(b) == FYET_STREAM_END) {
        fail(b, (struct config_place){1, 1},
             "the file is empty: expected a mapping with \"queues\"");
        return NULL;
    }
    if (event_type(b) == FYET_DOCUMENT_START)
        step(b);
    struct config_node *root = take_value(b, BYTES_NONE, 0);
    if (event_type(b) == FYET_DOCUMENT_END)
        step(b);
    if (root && event_type(b) == FYET_DOCUMENT_START)
        fail(b, event_place(b), "a second document begins here: expected one");
    if (root && root->kind != CONFIG_MAPPING)
        fail(b, root->at, "expected a mapping with \"queues\" at the top");
    return root;
}

static void say_nothing(struct fy_diag *diag, void *user, const char *text, size_t len) {
    (void)diag, (void)user, (void)text, (void)len;
}

static struct fy_diag *silent_diag(void) {
    struct fy_diag_cfg cfg;
    fy_diag_cfg_default(&cfg);
    cfg.fp = NULL;
    cfg.output_fn = say_nothing;
    cfg.colorize = false;
    struct fy_diag *diag = fy_diag_create(&cfg);
    assert(diag);
    fy_diag_set_collect_errors(diag, true);
    return diag;
}

/* Only the first is reported: errors after a syntax error mostly follow from it. */
static void add_syntax_error(struct builder *b, struct fy_diag *diag) {
    void *walk = NULL;
    const struct fy_diag_error *error = fy_diag_errors_iterate(diag, &walk);
    if (!error) {
        fail(b, (struct config_place){1, 1}, "this is not YAML");
        return;
    }
    struct config_place at = {(size_t)(error->line > 0 ? error->line : 1),
                              (size_t)(error->column > 0 ? error->column : 1)};
    config_mistake_add(b->mistakes, at, "this is not YAML: %s", error->msg);
}

/* The parser accepts invalid characters, and reads a NUL as the end. */
static bool is_text(struct bytes yaml, struct config_mistakes *mistakes) {
    struct bytes line;
    for (size_t row = 1; bytes_line(&yaml, &line); row++) {
        bool nul = line.len > 0 && memchr(line.ptr, '\0', line.len);
        if (!nul && bytes_is_utf8(line))
            continue;
        config_mistake_add(mistakes, (struct config_place){row, 1}, "this line %s",
                           nul ? "has a NUL byte: expected text" : "is not UTF-8");
        return false;
    }
    return true;
}

struct config_node *config_tree_parse(struct bytes yaml, struct config_mistakes *mistakes) {
    if (!is_text(yaml, mistakes))
        return NULL;
    struct fy_diag *diag = silent_diag();
    struct fy_parse_cfg cfg = {.search_path = "", .flags = FYPCF_JSON_NONE, .diag = diag};
    struct builder b = {
        .parser = fy_parser_create(&cfg), .arena = mistakes->arena, .mistakes = mistakes};
    assert(b.parser);
    fy_parser_set_string(b.parser, yaml.ptr ? yaml.ptr : "", yaml.len);
    struct config_node *root = take_document(&b);
    bool good = root && !b.failed && !fy_diag_got_error(diag);
    if (!good && !b.told)
        add_syntax_error(&b, diag);
    fy_parser_event_free(b.parser, b.event);
    fy_parser_destroy(b.parser);
    fy_diag_destroy(diag);
    return good ? root : NULL;
}

const struct config_node *config_tree_find(const struct config_node *mapping, const char *key) {
    for (const struct config_node *child = mapping->first; child; child = child->next)
        if (bytes_is(child->key, key))
            return child;
    return NULL;
}

struct bytes config_tree_shown(struct arena *arena, const struct config_node *node) {
    static const char *const names[] = {
        [CONFIG_NOTHING] = "nothing", [CONFIG_LIST] = "a list", [CONFIG_MAPPING] = "a mapping"};
    static const char *const empty[] = {[CONFIG_NOTHING] = "nothing",
                                        [CONFIG_LIST] = "an empty list",
                                        [CONFIG_MAPPING] = "an empty mapping"};
    if (node->kind != CONFIG_SCALAR)
        return bytes_of((node->count ? names : empty)[node->kind]);
    char text[SHOWN_MAX + 8];
    struct buf shown;
    buf_init_heap(&shown, node->text.len + sizeof text);
    url_show(node->text, &shown); /* the URL may contain a password */
    struct bytes clipped = bytes_clip(buf_view(&shown), SHOWN_MAX);
    snprintf(text, sizeof text, "\"%.*s%s\"", BYTES_ARG(clipped),
             clipped.len < shown.len ? "…" : "");
    buf_free(&shown);
    return arena_dup(arena, bytes_of(text));
}
