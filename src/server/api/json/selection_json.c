#include "server/api/json/selection_json.h"

#include "base/memory.h"

enum { WORD_MAX = 64 * 1024, ID_MAX = 255 };

void selection_json_init(struct selection_json *choice, struct selection *selection,
                         struct request *request) {
    *choice = (struct selection_json){selection, request_now(request)};
    selection_init(selection);
}

void selection_json_may_leave(struct selection_json *choice, const struct request *request) {
    choice->selection->query.gone = request_gone;
    choice->selection->query.asker = request;
}

/* 5.0 is read as 5, as everywhere else. */
static struct bytes whole(struct json number, struct arena *arena) {
    char memory[32];
    struct buf text;
    int64_t value;
    if (!json_i64(number, &value))
        return number.text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "%lld", (long long)value);
    return arena_dup(arena, buf_view(&text));
}

/* Values are texts in a URL; in JSON they may also be a number or true. */
static enum status word_text(struct json value, struct arena *arena, struct bytes *out,
                             struct err *err) {
    switch (value.type) {
    case JSON_STRING:
        return member_text(value, 0, WORD_MAX, arena, out, err);
    case JSON_NUMBER:
        *out = whole(value, arena);
        return STATUS_OK;
    case JSON_TRUE:
    case JSON_FALSE:
        *out = value.text;
        return STATUS_OK;
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return err_set(err, STATUS_INVALID, "must be a text, not %s", json_type_name(value.type));
}

static enum status set_word(struct selection_json *choice, const struct json_walk *walk,
                            struct arena *arena, struct err *err) {
    struct bytes name, text;
    struct err why;
    if (!json_unescape(walk->key, arena, &name))
        return err_set(err, STATUS_INVALID, "has a name that is no text");
    if (word_text(walk->value, arena, &text, &why) != STATUS_OK)
        return err_set(err, STATUS_INVALID, "→ \"%.*s\" %s", BYTES_ARG(bytes_clip(name, ID_MAX)),
                       why.text);
    if (selection_set(choice->selection, name, text, choice->now, arena, &why) != STATUS_OK)
        return err_set(err, STATUS_INVALID, "→ %s", why.text);
    return STATUS_OK;
}

enum status selection_json_filter(void *into, struct json value, struct arena *arena,
                                  struct err *err) {
    struct selection_json *choice = into;
    if (value.type != JSON_OBJECT)
        return err_set(err, STATUS_INVALID, "must be an object such as {\"reason\":\"timeout\"}");
    for (struct json_walk walk = json_walk(value); json_step(&walk);)
        if (set_word(choice, &walk, arena, err) != STATUS_OK)
            return STATUS_INVALID;
    choice->selection->as_json = value.text;
    return STATUS_OK;
}

/* {"name":value} */
static struct bytes wrap(const char *name, struct bytes value, struct arena *arena) {
    size_t size = value.len + 64;
    struct buf text;
    buf_init_fixed(&text, arena_alloc(arena, size), size);
    buf_printf(&text, "{\"%s\":", name);
    buf_bytes(&text, value);
    buf_char(&text, '}');
    return buf_view(&text);
}

static size_t count_items(struct json array) {
    size_t count = 0;
    for (struct json_walk walk = json_walk(array); json_step(&walk);)
        count++;
    return count;
}

enum status selection_json_ids(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    struct selection *selection = ((struct selection_json *)into)->selection;
    size_t count = count_items(value);
    if (value.type != JSON_ARRAY || count == 0 || count > SELECTION_IDS_MAX)
        return err_set(err, STATUS_INVALID, "must be an array of 1 to %d ids", SELECTION_IDS_MAX);
    struct bytes *ids = arena_alloc(arena, count * sizeof *ids);
    for (struct json_walk walk = json_walk(value); json_step(&walk);)
        if (member_text(walk.value, 1, ID_MAX, arena, &ids[selection->id_count++], err) !=
            STATUS_OK)
            return STATUS_INVALID;
    selection->ids = ids;
    selection->as_json = wrap("ids", value.text, arena);
    return STATUS_OK;
}

enum status selection_json_group(void *into, struct json value, struct arena *arena,
                                 struct err *err) {
    struct selection_json *choice = into;
    struct bytes text;
    struct err why;
    if (member_text(value, 1, ID_MAX, arena, &text, err) != STATUS_OK)
        return STATUS_INVALID;
    if (selection_set(choice->selection, BYTES("fingerprint"), text, choice->now, arena, &why) !=
        STATUS_OK)
        return err_set(err, STATUS_INVALID, "→ %s", why.text);
    if (choice->selection->as_json.len == 0)
        choice->selection->as_json = wrap("fingerprint", value.text, arena);
    return STATUS_OK;
}

enum status selection_json_all(void *into, struct json value, struct arena *arena,
                               struct err *err) {
    struct selection *selection = ((struct selection_json *)into)->selection;
    if (!json_bool(value, &selection->all))
        return err_set(err, STATUS_INVALID, "must be true or false");
    if (selection->all)
        selection->as_json = wrap("all", value.text, arena);
    return STATUS_OK;
}

enum status selection_json_limit(void *into, struct json value, struct arena *arena,
                                 struct err *err) {
    (void)arena;
    int64_t number;
    ((struct selection_json *)into)->selection->has_limit = true;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (!json_i64(value, &number) || number < 1)
        return err_set(err, STATUS_INVALID, "must be a number of letters, at least 1");
    ((struct selection_json *)into)->selection->limit = (uint64_t)number;
    return STATUS_OK;
}

enum status selection_json_order(void *into, struct json value, struct arena *arena,
                                 struct err *err) {
    struct selection *selection = ((struct selection_json *)into)->selection;
    struct bytes text;
    if (!json_string(value, arena, &text) ||
        (!bytes_is(text, "oldest") && !bytes_is(text, "newest")))
        return err_set(err, STATUS_INVALID, "must be \"oldest\" or \"newest\"");
    selection->has_order = true;
    selection->newest = bytes_is(text, "newest");
    return STATUS_OK;
}

enum status selection_json_cursor(void *into, struct json value, struct arena *arena,
                                  struct err *err) {
    struct bytes cursor;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    if (member_text(value, 0, WORD_MAX, arena, &cursor, err) != STATUS_OK)
        return STATUS_INVALID;
    selection_set_cursor(((struct selection_json *)into)->selection, cursor);
    return STATUS_OK;
}
