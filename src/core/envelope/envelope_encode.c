/* envelope_encode: writes an envelope's JSON by the table of envelope_fields.c. */
#include "core/envelope/envelope.h"

#include <assert.h>

#include "core/envelope/envelope_fields.h"
#include "core/fingerprint.h"
#include "core/lifecycle.h"

/* The latest time of RFC 3339: the last millisecond of the year 9999. */
static const struct wall last_wall = {253402300799999};

struct encoding {
    struct json_out out;
    enum envelope_part part;
    struct bytes body;
};

/* `at` is the member, or the whole struct for the forms that say so. */
typedef void put_fn(struct encoding *e, const void *at, const struct envelope_field *field);

static void put_section(struct encoding *e, const void *base, const struct envelope_field *field);

static void put_text(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    const struct bytes *text = at;
    json_put(&e->out, text->len ? *text : BYTES_NONE);
}

static bool is_text(struct bytes value) {
    return bytes_find(value, (struct bytes){"", 1}) == value.len && bytes_is_utf8(value);
}

void envelope_put_any(struct json_out *out, struct bytes value) {
    if (is_text(value)) {
        json_put(out, value);
        return;
    }
    json_open(out, '{');
    json_key(out, "base64");
    json_put_base64(out, value);
    json_close(out, '}');
}

static void put_maybe_text(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    envelope_put_any(&e->out, *(const struct bytes *)at);
}

static void put_object(struct encoding *e, const void *at, const struct envelope_field *field) {
    const struct bytes *object = at;
    struct bytes none = field->form == FORM_CONTEXT ? BYTES("{}") : BYTES("null");
    json_put_raw(&e->out, object->len ? *object : none);
}

static void put_time(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    struct wall when = *(const struct wall *)at;
    char text[INSTANT_TEXT_SIZE];
    if (when.ms <= WALL_NEVER.ms)
        json_put_null(&e->out);
    else
        json_put_str(&e->out, wall_text(when.ms < last_wall.ms ? when : last_wall, text));
}

static void put_u32(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    json_put_i64(&e->out, *(const uint32_t *)at);
}

static void put_size(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    uint64_t size = *(const uint64_t *)at;
    assert(size <= INT64_MAX);
    json_put_i64(&e->out, (int64_t)size);
}

static void put_i64(struct encoding *e, const void *at, const struct envelope_field *field) {
    int64_t value = *(const int64_t *)at;
    if (field->form == FORM_MAYBE_I64 && value == -1)
        json_put_null(&e->out);
    else
        json_put_i64(&e->out, value);
}

static void put_maybe_int(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    int value = *(const int *)at;
    if (value)
        json_put_i64(&e->out, value);
    else
        json_put_null(&e->out);
}

static void put_bool(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    json_put_bool(&e->out, *(const bool *)at);
}

static void put_hash(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    const char *hex = at;
    char text[sizeof "sha256:" + 64];
    if (!hex[0]) {
        json_put_null(&e->out);
        return;
    }
    struct buf buf;
    buf_init_fixed(&buf, text, sizeof text);
    buf_str(&buf, "sha256:");
    buf_str(&buf, hex);
    json_put(&e->out, buf_view(&buf));
}

static void put_fingerprint(struct encoding *e, const void *at,
                            const struct envelope_field *field) {
    (void)field;
    char text[FINGERPRINT_TEXT_SIZE];
    json_put_str(&e->out, fingerprint_text(*(const uint64_t *)at, text));
}

static void put_state(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    json_put_str(&e->out, state_text(*(const enum state *)at));
}

static void put_kind(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    json_put_str(&e->out, kind_text(*(const enum kind *)at));
}

static void put_resolution(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    enum resolution resolution = *(const enum resolution *)at;
    json_put_str(&e->out, resolution == RESOLUTION_NONE ? NULL : resolution_text(resolution));
}

static void put_id(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    const struct envelope *envelope = at;
    json_put(&e->out, envelope->letter_id.len ? envelope->letter_id : envelope->id);
}

static void put_cause(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    const struct envelope *envelope = at;
    bool judged = lifecycle_is_letter(envelope->state) || envelope_awaits_room(envelope);
    json_put_str(&e->out, judged ? cause_text(envelope->cause) : NULL);
}

static void put_header_value(struct json_out *out, const struct rule_header *header) {
    envelope_put_any(out, header->value.ptr ? header->value : BYTES(""));
}

static bool is_repeated(const struct rule_header *headers, size_t count, size_t place) {
    for (size_t i = place + 1; i < count; i++)
        if (bytes_eq(headers[i].name, headers[place].name))
            return true;
    return false;
}

static void put_header_pairs(struct json_out *out, const struct rule_header *headers,
                             size_t count) {
    json_key(out, "header_pairs");
    json_open(out, '[');
    for (size_t i = 0; i < count; i++) {
        json_open(out, '[');
        json_put(out, headers[i].name.ptr ? headers[i].name : BYTES(""));
        put_header_value(out, &headers[i]);
        json_close(out, ']');
    }
    json_close(out, ']');
}

void envelope_put_headers(struct json_out *out, const struct rule_header *headers, size_t count) {
    bool repeated = false;
    json_key(out, "headers");
    json_open(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (is_repeated(headers, count, i)) {
            repeated = true;
            continue;
        }
        json_key_bytes(out, headers[i].name);
        put_header_value(out, &headers[i]);
    }
    json_close(out, '}');
    if (repeated)
        put_header_pairs(out, headers, count);
}

static void put_members(struct encoding *e, const void *base,
                        const struct envelope_section *section);

static void put_history(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    const struct envelope *envelope = at;
    json_open(&e->out, '[');
    for (size_t i = 0; i < envelope->history_count; i++)
        put_members(e, &envelope->history[i], &envelope_fields_note);
    json_close(&e->out, ']');
}

static void put_verdict(struct encoding *e, const void *at, const struct envelope_field *field) {
    (void)field;
    const struct envelope_note *note = at;
    json_put_str(&e->out, note->ok            ? "ok"
                          : note->interrupted ? "interrupted"
                                              : verdict_text(note->verdict));
}

static bool says_json(struct bytes content_type) {
    struct bytes media =
        bytes_trim(bytes_cut(content_type, 0, bytes_find(content_type, BYTES(";"))));
    struct bytes suffix = BYTES("+json");
    return bytes_eq_nocase(media, BYTES("application/json")) ||
           bytes_eq_nocase(media, BYTES("text/json")) ||
           (media.len > suffix.len &&
            bytes_eq_nocase(bytes_cut(media, media.len - suffix.len, media.len), suffix));
}

bool envelope_is_json(struct bytes content_type, struct bytes body) {
    struct json value;
    return says_json(content_type) && json_parse(body, &value, NULL) == STATUS_OK;
}

void envelope_put_body(struct json_out *out, struct bytes content_type, struct bytes body) {
    bool text = bytes_is_utf8(body);
    json_key(out, text ? "body" : "body_base64");
    if (!text)
        json_put_base64(out, body);
    else if (envelope_is_json(content_type, body))
        json_put_raw(out, bytes_trim(body));
    else
        json_put(out, body.ptr ? body : BYTES(""));
}

static bool is_one_line(struct bytes text) {
    return bytes_find(text, BYTES("\n")) == text.len && bytes_find(text, BYTES("\r")) == text.len;
}

/* A reader of the line distinguishes JSON from text by the content type alone. */
static bool fits_a_line(struct bytes content_type, struct bytes body) {
    if (!says_json(content_type))
        return true;
    return envelope_is_json(content_type, body) && bytes_trim(body).len == body.len &&
           is_one_line(body);
}

static void put_body(struct encoding *e, const struct envelope *envelope) {
    if (e->part != ENVELOPE_LINE || fits_a_line(envelope->content_type, e->body)) {
        envelope_put_body(&e->out, envelope->content_type, e->body);
        return;
    }
    json_key(&e->out, "body_base64");
    json_put_base64(&e->out, e->body);
}

static void put_maybe_section(struct encoding *e, const void *base,
                              const struct envelope_field *field) {
    for (size_t i = 0; i < field->section->count; i++) {
        const struct bytes *text =
            (const void *)((const char *)base + field->section->fields[i].offset);
        if (text->len) {
            put_section(e, base, field);
            return;
        }
    }
    json_put_null(&e->out);
}

static void put_failure(struct encoding *e, const void *base, const struct envelope_field *field) {
    if (((const struct envelope *)base)->failed)
        put_section(e, base, field);
    else
        json_put_null(&e->out);
}

static put_fn *const put_form[FORM_COUNT] = {
    [FORM_TEXT] = put_text,
    [FORM_OPTIONAL_TEXT] = put_text,
    [FORM_MAYBE_TEXT] = put_maybe_text,
    [FORM_OBJECT] = put_object,
    [FORM_CONTEXT] = put_object,
    [FORM_TIME] = put_time,
    [FORM_U32] = put_u32,
    [FORM_SIZE] = put_size,
    [FORM_I64] = put_i64,
    [FORM_MAYBE_I64] = put_i64,
    [FORM_MAYBE_INT] = put_maybe_int,
    [FORM_BOOL] = put_bool,
    [FORM_FLAG] = put_bool,
    [FORM_HASH] = put_hash,
    [FORM_FINGERPRINT] = put_fingerprint,
    [FORM_STATE] = put_state,
    [FORM_KIND] = put_kind,
    [FORM_RESOLUTION] = put_resolution,
    [FORM_ID] = put_id,
    [FORM_CAUSE] = put_cause,
    [FORM_HISTORY] = put_history,
    [FORM_VERDICT] = put_verdict,
    [FORM_SECTION] = put_section,
    [FORM_MAYBE_SECTION] = put_maybe_section,
    [FORM_FAILURE] = put_failure,
};

static bool is_written(const struct encoding *e, const void *at,
                       const struct envelope_field *field) {
    if (!(field->parts & 1u << e->part))
        return false;
    if (field->form == FORM_OPTIONAL_TEXT)
        return ((const struct bytes *)at)->len > 0;
    return field->form != FORM_FLAG || *(const bool *)at;
}

static void put_members(struct encoding *e, const void *base,
                        const struct envelope_section *section) {
    json_open(&e->out, '{');
    for (size_t i = 0; i < section->count; i++) {
        const struct envelope_field *field = &section->fields[i];
        const void *at = (const char *)base + field->offset;
        if (!is_written(e, at, field))
            continue;
        if (field->form == FORM_BODY) {
            put_body(e, base);
            continue;
        }
        if (field->form == FORM_HEADERS) {
            const struct envelope *envelope = base;
            envelope_put_headers(&e->out, envelope->headers, envelope->header_count);
            continue;
        }
        json_key(&e->out, field->name);
        put_form[field->form](e, at, field);
    }
    json_close(&e->out, '}');
}

static void put_section(struct encoding *e, const void *base, const struct envelope_field *field) {
    put_members(e, base, field->section);
}

void envelope_encode(const struct envelope *envelope, enum envelope_part part, struct bytes body,
                     struct buf *out) {
    assert(part <= ENVELOPE_LINE && envelope->state < STATE_COUNT);
    struct encoding e = {json_out(out), part, body};
    put_members(&e, envelope, &envelope_fields);
}
