/* diff: walks two JSON values in parallel and writes the differences. */
#include "triage/query/diff.h"

enum { PATH_SIZE = 512 };

struct diff_walk {
    struct json_out *out;
    size_t changes;
    char memory[PATH_SIZE];
    struct buf path;
};

static void put_change(struct diff_walk *walk, const struct json *before,
                       const struct json *after) {
    struct json_out *out = walk->out;
    if (walk->changes++ >= DIFF_CHANGES_MAX)
        return;
    json_open(out, '{');
    json_key(out, "path");
    json_put(out, walk->path.len ? buf_view(&walk->path) : BYTES("."));
    if (before) {
        json_key(out, "before");
        json_put_raw(out, before->text);
    }
    if (after) {
        json_key(out, "after");
        json_put_raw(out, after->text);
    }
    json_close(out, '}');
}

static void compare(struct diff_walk *walk, struct json before, struct json after);

/* Compares one member or element, present on one side or both. A path too long for its buffer is
 * truncated. */
static void step(struct diff_walk *walk, struct bytes key, size_t place, const struct json *before,
                 const struct json *after) {
    size_t len = walk->path.len;
    if (key.ptr)
        buf_printf(&walk->path, ".%.*s", BYTES_ARG(bytes_clip(key, PATH_SIZE / 4)));
    else
        buf_printf(&walk->path, "[%zu]", place);
    if (before && after)
        compare(walk, *before, *after);
    else
        put_change(walk, before, after);
    walk->path.len = len;
    walk->path.overflow = false;
}

static bool find_key(struct json object, struct bytes key, struct json *out) {
    for (struct json_walk walk = json_walk(object); json_step(&walk);)
        if (bytes_eq(walk.key, key)) {
            *out = walk.value;
            return true;
        }
    return false;
}

static void compare_objects(struct diff_walk *walk, struct json before, struct json after) {
    struct json other;
    for (struct json_walk w = json_walk(before); json_step(&w);) {
        bool both = find_key(after, w.key, &other);
        step(walk, w.key, 0, &w.value, both ? &other : NULL);
    }
    for (struct json_walk w = json_walk(after); json_step(&w);)
        if (!find_key(before, w.key, &other))
            step(walk, w.key, 0, NULL, &w.value);
}

static void compare_arrays(struct diff_walk *walk, struct json before, struct json after) {
    struct json_walk left = json_walk(before), right = json_walk(after);
    bool has_left = json_step(&left), has_right = json_step(&right);
    for (size_t place = 0; has_left || has_right; place++) {
        step(walk, BYTES_NONE, place, has_left ? &left.value : NULL,
             has_right ? &right.value : NULL);
        has_left = has_left && json_step(&left);
        has_right = has_right && json_step(&right);
    }
}

static void compare(struct diff_walk *walk, struct json before, struct json after) {
    if (bytes_eq(before.text, after.text) || walk->changes >= DIFF_CHANGES_MAX)
        return;
    if (before.type == JSON_OBJECT && after.type == JSON_OBJECT)
        compare_objects(walk, before, after);
    else if (before.type == JSON_ARRAY && after.type == JSON_ARRAY)
        compare_arrays(walk, before, after);
    else
        put_change(walk, &before, &after);
}

void diff_put(struct json before, struct json after, struct json_out *out) {
    struct diff_walk walk = {.out = out};
    buf_init_fixed(&walk.path, walk.memory, sizeof walk.memory);
    json_open(out, '[');
    compare(&walk, before, after);
    json_close(out, ']');
}
