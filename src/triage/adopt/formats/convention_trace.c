/* convention_trace: see the header. */
#include "triage/adopt/formats/convention_trace.h"

#include <zlib.h>

#include "base/text/base64.h"

static struct bytes lines_of(struct json list, struct arena *arena) {
    struct buf text;
    struct bytes line;
    buf_init_heap(&text, CONVENTION_TRACE_MAX);
    for (struct json_walk walk = json_walk(list); json_step(&walk);) {
        if (!json_string(walk.value, arena, &line))
            continue;
        if (text.len > 0)
            buf_char(&text, '\n');
        buf_bytes(&text, line);
    }
    struct bytes lines = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return lines;
}

/* All of it or nothing; longer lists than CONVENTION_TRACE_MAX are not inflated. */
static bool inflate_into(struct bytes packed, struct buf *out) {
    uLongf size = CONVENTION_TRACE_MAX;
    char *room = buf_room(out, CONVENTION_TRACE_MAX);
    if (!room || uncompress((Bytef *)room, &size, (const Bytef *)packed.ptr, packed.len) != Z_OK)
        return false;
    out->len = size;
    return true;
}

/* Ruby's base64 has line breaks. */
static void join_lines(struct bytes text, struct buf *out) {
    for (struct bytes line; bytes_line(&text, &line);)
        buf_bytes(out, line);
}

static bool unpack(struct bytes text, struct buf *out) {
    struct buf joined, packed;
    buf_init_heap(&joined, text.len + 1);
    buf_init_heap(&packed, text.len + 1);
    join_lines(text, &joined);
    bool done = base64_decode(buf_view(&joined), &packed) && inflate_into(buf_view(&packed), out);
    buf_free(&joined);
    buf_free(&packed);
    return done;
}

struct bytes convention_trace(struct json value, struct arena *arena) {
    struct bytes text;
    struct json list;
    if (value.type == JSON_ARRAY)
        return lines_of(value, arena);
    if (!json_string(value, arena, &text))
        return BYTES_NONE;
    struct buf unpacked;
    buf_init_heap(&unpacked, CONVENTION_TRACE_MAX);
    if (unpack(text, &unpacked) && json_parse(buf_view(&unpacked), &list, NULL) == STATUS_OK &&
        list.type == JSON_ARRAY)
        text = lines_of(list, arena);
    buf_free(&unpacked);
    return text;
}
