/* json_path: see the header. */
#include "base/json/json_path.h"

#include <assert.h>

#include "base/text/ascii.h"

/* One step: a member's name, or an element's index. */
struct step {
    struct bytes name; /* plain, or a JSON string with its quotes */
    uint64_t place;    /* when name.ptr is NULL */
};

static bool is_name(char c, size_t place) {
    return ascii_is_letter(c) || c == '_' || (place > 0 && ascii_is_digit(c));
}

/* Length of the JSON string at the front, with its quotes; 0: none. */
static size_t quoted_len(struct bytes text) {
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] == '\\')
            i++;
        else if (text.ptr[i] == '"')
            return i + 1;
    }
    return 0;
}

static bool read_quoted(struct bytes *rest, struct step *out) {
    struct json string;
    size_t len = quoted_len(*rest);
    out->name = bytes_cut(*rest, 0, len);
    *rest = bytes_cut(*rest, len, rest->len);
    return len > 0 && json_parse(out->name, &string, NULL) == STATUS_OK;
}

static bool read_name(struct bytes *rest, struct step *out) {
    if (rest->len > 0 && rest->ptr[0] == '"')
        return read_quoted(rest, out);
    size_t len = 0;
    while (len < rest->len && is_name(rest->ptr[len], len))
        len++;
    out->name = bytes_cut(*rest, 0, len);
    *rest = bytes_cut(*rest, len, rest->len);
    return len > 0;
}

static bool read_place(struct bytes *rest, struct step *out) {
    size_t end = bytes_find(*rest, BYTES("]"));
    struct bytes digits = bytes_cut(*rest, 1, end);
    *out = (struct step){.name = BYTES_NONE};
    if (end == rest->len || !bytes_u64(digits, &out->place) || out->place > JSON_PATH_INDEX_MAX)
        return false;
    *rest = bytes_cut(*rest, end + 1, rest->len);
    return true;
}

/* Removes the next step from *rest, which is not empty. */
static bool read_step(struct bytes *rest, struct step *out) {
    bool dot = rest->ptr[0] == '.';
    if (dot)
        *rest = bytes_cut(*rest, 1, rest->len);
    if (rest->len > 0 && rest->ptr[0] == '[')
        return read_place(rest, out);
    return dot && read_name(rest, out);
}

enum status json_path_check(struct bytes path, struct err *err) {
    struct bytes rest = path;
    struct step step;
    if (path.len == 0 || path.len > JSON_PATH_MAX)
        return err_set(err, STATUS_INVALID, "a path has 1 to %d characters", JSON_PATH_MAX);
    if (bytes_is(path, "."))
        return STATUS_OK;
    while (rest.len > 0) {
        size_t at = path.len - rest.len;
        if (!read_step(&rest, &step))
            return err_set(err, STATUS_INVALID,
                           "it is no path from character %zu on; a path is like .order_id, "
                           ".\"x y\".id or .lines[0].sku",
                           at + 1);
    }
    return STATUS_OK;
}

/* ---- walking ---- */

static bool same_name(struct bytes raw_key, struct bytes name, struct arena *arena) {
    struct bytes key;
    return json_unescape(raw_key, arena, &key) && bytes_eq(key, name);
}

static bool go_to_member(struct json *value, struct bytes name) {
    bool found = false;
    struct json member = *value;
    struct arena arena;
    arena_init_heap(&arena, 256);
    struct bytes wanted = name;
    if (name.ptr[0] == '"')
        json_string((struct json){JSON_STRING, name}, &arena, &wanted);
    for (struct json_walk walk = json_walk(*value); json_step(&walk);) {
        if (!same_name(walk.key, wanted, &arena))
            continue;
        member = walk.value;
        found = true;
    }
    arena_free(&arena);
    *value = member;
    return found;
}

static bool go_to_place(struct json *value, uint64_t place) {
    for (struct json_walk walk = json_walk(*value); json_step(&walk);) {
        if (place-- > 0)
            continue;
        *value = walk.value;
        return true;
    }
    return false;
}

static bool take_step(struct json *value, const struct step *step) {
    if (step->name.ptr)
        return value->type == JSON_OBJECT && go_to_member(value, step->name);
    return value->type == JSON_ARRAY && go_to_place(value, step->place);
}

bool json_path_get(struct json value, struct bytes path, struct json *out) {
    struct bytes rest = path;
    struct step step;
    *out = value;
    if (bytes_is(path, "."))
        return true;
    while (rest.len > 0) {
        bool known = read_step(&rest, &step);
        assert(known);
        if (!take_step(out, &step))
            return false;
    }
    return true;
}
