#include "store/tables/mark.h"

#include <assert.h>

enum { MARK_MAX = 1 << 20 };

struct mark mark_of(const struct store_mark *decided) {
    struct mark mark = {
        .state = decided->state, .resolution = decided->resolution, .why = decided->why};
    *(decided->escalated ? &mark.escalated_at : &mark.resolved_at) = decided->at;
    return mark;
}

struct mark mark_merge(const struct mark *earlier, const struct mark *later) {
    struct mark both = *later;
    if (both.resolved_at.ms == WALL_NEVER.ms)
        both.resolved_at = earlier->resolved_at;
    if (both.escalated_at.ms == WALL_NEVER.ms)
        both.escalated_at = earlier->escalated_at;
    if (both.why.len == 0)
        both.why = earlier->why;
    return both;
}

/* ---- writing ---- */

static void put_time(struct json_out *out, const char *name, struct wall at) {
    if (at.ms == WALL_NEVER.ms)
        return;
    char text[INSTANT_TEXT_SIZE];
    json_key(out, name);
    json_put_str(out, wall_text(at, text));
}

void mark_put(const struct mark *mark, struct buf *out) {
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_key(&json, "state");
    json_put_str(&json, state_text(mark->state));
    if (mark->resolution != RESOLUTION_NONE) {
        json_key(&json, "resolution");
        json_put_str(&json, resolution_text(mark->resolution));
    }
    put_time(&json, "resolved_at", mark->resolved_at);
    put_time(&json, "escalated_at", mark->escalated_at);
    if (mark->why.len > 0) {
        json_key(&json, "why");
        json_put(&json, mark->why);
    }
    json_close(&json, '}');
}

struct blob *mark_encode(const struct mark *mark) {
    struct buf text;
    buf_init_heap(&text, MARK_MAX);
    mark_put(mark, &text);
    assert(!text.overflow);
    struct blob *blob = blob_of(buf_view(&text));
    buf_free(&text);
    return blob;
}

/* ---- reading ---- */

static bool get_text(struct json object, const char *name, struct arena *arena, struct bytes *out) {
    struct json member;
    *out = BYTES_NONE;
    return !json_get(object, name, &member) || json_string(member, arena, out);
}

static bool get_time(struct json object, const char *name, struct arena *arena, struct wall *out) {
    struct bytes text;
    return get_text(object, name, arena, &text) && (!text.ptr || wall_parse(text, out));
}

bool mark_decode(struct bytes json, struct arena *arena, struct mark *out) {
    struct json object;
    struct bytes state, resolution;
    *out = (struct mark){.resolution = RESOLUTION_NONE};
    return json_parse(json, &object, NULL) == STATUS_OK && object.type == JSON_OBJECT &&
           get_text(object, "state", arena, &state) && state_parse(state, &out->state) &&
           get_text(object, "resolution", arena, &resolution) &&
           (!resolution.ptr || resolution_parse(resolution, &out->resolution)) &&
           get_time(object, "resolved_at", arena, &out->resolved_at) &&
           get_time(object, "escalated_at", arena, &out->escalated_at) &&
           get_text(object, "why", arena, &out->why);
}

const struct mark *mark_recall(struct mark_memo *memo, struct bytes json, struct arena *arena) {
    if (!memo->text.ptr || !bytes_eq(memo->text, json)) {
        memo->text = BYTES_NONE;
        if (!mark_decode(json, arena, &memo->mark))
            return NULL;
        memo->text = json;
    }
    return &memo->mark;
}

void mark_apply(const struct mark *mark, struct envelope *envelope) {
    envelope->state = mark->state;
    envelope->resolution = mark->resolution;
    if (mark->resolved_at.ms != WALL_NEVER.ms)
        envelope->resolved_at = mark->resolved_at;
    if (mark->escalated_at.ms != WALL_NEVER.ms)
        envelope->escalated_at = mark->escalated_at;
    if (mark->why.len > 0)
        envelope->why = mark->why;
}

enum status mark_read(struct bytes json, struct arena *arena, struct envelope *envelope,
                      struct err *err) {
    struct mark mark;
    if (!json.ptr)
        return STATUS_OK;
    if (!mark_decode(json, arena, &mark))
        return err_set(err, STATUS_CORRUPT, "the mark of a letter cannot be read");
    mark_apply(&mark, envelope);
    return STATUS_OK;
}
