/* field: see the header. */
#include "cli/view/field.h"

#include <stdlib.h>
#include <string.h>

#include "base/instant.h"

enum { NAME_MAX_LEN = 64, NUMBER_MAX = 32 };

struct json field_at(struct json object, const char *path) {
    char name[NAME_MAX_LEN];
    while (path) {
        const char *dot = strchr(path, '.');
        size_t len = dot ? (size_t)(dot - path) : strlen(path);
        struct buf text;
        buf_init_fixed(&text, name, sizeof name);
        buf_put(&text, path, len);
        if (!json_get(object, buf_cstr(&text), &object))
            return (struct json){JSON_NULL, BYTES("null")};
        path = dot ? dot + 1 : NULL;
    }
    return object;
}

static struct bytes scalar_text(struct json value, struct arena *arena) {
    struct bytes text = BYTES("");
    if (value.type == JSON_STRING)
        json_string(value, arena, &text);
    else if (value.type == JSON_NUMBER || value.type == JSON_TRUE || value.type == JSON_FALSE)
        text = value.text;
    return text;
}

struct bytes field_any(struct json object, const char *path, struct arena *arena) {
    struct json value = field_at(object, path);
    return value.type == JSON_OBJECT ? value.text : scalar_text(value, arena);
}

struct bytes field_text(struct json object, const char *path, struct arena *arena) {
    return scalar_text(field_at(object, path), arena);
}

struct bytes field_duration(struct json object, const char *path, struct arena *arena) {
    int64_t ms;
    if (!json_i64(field_at(object, path), &ms))
        return BYTES("");
    char memory[NUMBER_MAX];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    duration_put(&text, ms);
    return arena_dup(arena, buf_view(&text));
}

/* A whole number with its unit. */
static struct bytes rounded(double value, const char *unit, struct arena *arena) {
    char memory[NUMBER_MAX];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "%.0f%s", value, unit);
    return arena_dup(arena, buf_view(&text));
}

struct bytes field_percent(struct json object, const char *path, struct arena *arena) {
    struct json value = field_at(object, path);
    if (value.type != JSON_NUMBER)
        return BYTES("");
    return rounded(strtod(arena_cstr(arena, value.text), NULL) * 100, "%", arena);
}

struct bytes field_age(struct json object, const char *path, struct arena *arena) {
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}};
    struct json value = field_at(object, path);
    if (value.type != JSON_NUMBER)
        return BYTES("");
    double seconds = strtod(arena_cstr(arena, value.text), NULL);
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof *units && seconds < units[i].seconds * 2)
        i++;
    return rounded(seconds / units[i].seconds, units[i].unit, arena);
}

struct bytes field_time(struct json object, const char *path, struct arena *arena) {
    struct bytes text = field_text(object, path, arena);
    char exact[INSTANT_TEXT_SIZE];
    struct wall at;
    if (!wall_parse(text, &at))
        return text;
    struct bytes seconds =
        bytes_cut(bytes_of(wall_text(at, exact)), 0, strlen("2026-11-15T04:49:41Z"));
    char *copy = arena_cstr(arena, seconds);
    copy[strlen("2026-11-15")] = ' ';
    copy[seconds.len - 1] = 'Z';
    return bytes_of(copy);
}
