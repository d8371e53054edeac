/* envelope_decode: reads an envelope's JSON by the table of envelope_fields.c. */
#include "core/envelope/envelope.h"

#include <string.h>

#include "base/text/base64.h"
#include "core/envelope/envelope_fields.h"
#include "core/fingerprint.h"

struct decoding {
    struct arena *arena;
    enum status status; /* the error for an unreadable member */
    const char *wrong;  /* the innermost unreadable member */
};

/* `at` is the member, or the whole struct for the forms that say so. False: the value does not have
 * this form. */
typedef bool get_fn(struct decoding *d, struct json value, void *at,
                    const struct envelope_field *field);

static bool get_members(struct decoding *d, struct json object, void *base,
                        const struct envelope_section *section);

static bool is_null(struct json value) {
    return value.type == JSON_NULL;
}

static bool get_text(struct decoding *d, struct json value, void *at,
                     const struct envelope_field *field) {
    (void)field;
    struct bytes *text = at;
    *text = BYTES_NONE;
    if (is_null(value))
        return true;
    if (value.type != JSON_STRING)
        return false;
    if (!json_string(value, d->arena, text)) {
        d->status = STATUS_TOO_LARGE;
        return false;
    }
    return true;
}

/* {"base64":…}: binary data. */
static bool get_base64(struct decoding *d, struct json value, struct bytes *out) {
    struct json member;
    struct bytes text;
    struct buf decoded;
    if (!json_get(value, "base64", &member) || member.type != JSON_STRING)
        return false;
    char *room = arena_alloc(d->arena, member.text.len);
    if (!room || !json_string(member, d->arena, &text)) {
        d->status = STATUS_TOO_LARGE;
        return false;
    }
    buf_init_fixed(&decoded, room, member.text.len);
    *out = (struct bytes){room, 0};
    if (!base64_decode(text, &decoded))
        return false;
    out->len = decoded.len;
    return true;
}

static bool get_any(struct decoding *d, struct json value, void *at,
                    const struct envelope_field *field) {
    return value.type == JSON_OBJECT ? get_base64(d, value, at) : get_text(d, value, at, field);
}

static bool get_object(struct decoding *d, struct json value, void *at,
                       const struct envelope_field *field) {
    (void)d, (void)field;
    *(struct bytes *)at = is_null(value) ? BYTES_NONE : value.text;
    return is_null(value) || value.type == JSON_OBJECT;
}

/* The words and times below have no escapes, so the bytes between the quotes are the text. */
static struct bytes plain(struct json value) {
    return value.type == JSON_STRING ? bytes_cut(value.text, 1, value.text.len - 1) : BYTES_NONE;
}

static bool get_time(struct decoding *d, struct json value, void *at,
                     const struct envelope_field *field) {
    (void)d, (void)field;
    struct wall *when = at;
    *when = WALL_NEVER;
    return is_null(value) || wall_parse(plain(value), when);
}

static bool get_u32(struct decoding *d, struct json value, void *at,
                    const struct envelope_field *field) {
    (void)d, (void)field;
    int64_t number;
    if (!json_i64(value, &number) || number < 0 || number > UINT32_MAX)
        return false;
    *(uint32_t *)at = (uint32_t)number;
    return true;
}

static bool get_size(struct decoding *d, struct json value, void *at,
                     const struct envelope_field *field) {
    (void)d, (void)field;
    int64_t number;
    if (!json_i64(value, &number) || number < 0)
        return false;
    *(uint64_t *)at = (uint64_t)number;
    return true;
}

static bool get_i64(struct decoding *d, struct json value, void *at,
                    const struct envelope_field *field) {
    (void)d;
    if (field->form == FORM_MAYBE_I64 && is_null(value)) {
        *(int64_t *)at = -1;
        return true;
    }
    return json_i64(value, at);
}

static bool get_maybe_int(struct decoding *d, struct json value, void *at,
                          const struct envelope_field *field) {
    (void)d, (void)field;
    int64_t number = 0;
    if (!is_null(value) && (!json_i64(value, &number) || number < INT32_MIN || number > INT32_MAX))
        return false;
    *(int *)at = (int)number;
    return true;
}

static bool get_bool(struct decoding *d, struct json value, void *at,
                     const struct envelope_field *field) {
    (void)d, (void)field;
    return json_bool(value, at);
}

static bool is_hex(struct bytes text) {
    for (size_t i = 0; i < text.len; i++)
        if (!((text.ptr[i] >= '0' && text.ptr[i] <= '9') ||
              (text.ptr[i] >= 'a' && text.ptr[i] <= 'f')))
            return false;
    return true;
}

static bool get_hash(struct decoding *d, struct json value, void *at,
                     const struct envelope_field *field) {
    (void)d, (void)field;
    char *hash = at;
    hash[0] = '\0';
    if (is_null(value))
        return true;
    struct bytes text = plain(value);
    if (!bytes_starts(text, BYTES("sha256:")))
        return false;
    struct bytes hex = bytes_cut(text, sizeof "sha256:" - 1, text.len);
    if (hex.len != 64 || !is_hex(hex))
        return false;
    memcpy(hash, hex.ptr, hex.len);
    hash[hex.len] = '\0';
    return true;
}

static bool get_fingerprint(struct decoding *d, struct json value, void *at,
                            const struct envelope_field *field) {
    (void)d, (void)field;
    return fingerprint_parse(plain(value), at);
}

static bool get_state(struct decoding *d, struct json value, void *at,
                      const struct envelope_field *field) {
    (void)d, (void)field;
    return state_parse(plain(value), at);
}

static bool get_kind(struct decoding *d, struct json value, void *at,
                     const struct envelope_field *field) {
    (void)d, (void)field;
    return kind_parse(plain(value), at);
}

static bool get_resolution(struct decoding *d, struct json value, void *at,
                           const struct envelope_field *field) {
    (void)d, (void)field;
    *(enum resolution *)at = RESOLUTION_NONE;
    return is_null(value) || resolution_parse(plain(value), at);
}

static bool get_id(struct decoding *d, struct json value, void *at,
                   const struct envelope_field *field) {
    (void)d, (void)at, (void)field;
    return is_null(value) || value.type == JSON_STRING;
}

static bool get_cause(struct decoding *d, struct json value, void *at,
                      const struct envelope_field *field) {
    (void)d, (void)field;
    struct envelope *envelope = at;
    return is_null(value) || cause_parse(plain(value), &envelope->cause);
}

static size_t count_of(struct json container) {
    size_t count = 0;
    for (struct json_walk walk = json_walk(container); json_step(&walk);)
        count++;
    return count;
}

static void *room_for(struct decoding *d, size_t count, size_t size) {
    void *room = arena_alloc(d->arena, count * size);
    if (!room)
        d->status = STATUS_TOO_LARGE;
    return room;
}

static bool get_headers(struct decoding *d, struct json value, void *at,
                        const struct envelope_field *field) {
    struct envelope *envelope = at;
    size_t count = count_of(value), i = 0;
    if (value.type != JSON_OBJECT)
        return false;
    if (envelope->header_count > 0) /* header_pairs came first, and is more complete */
        return true;
    struct rule_header *headers = room_for(d, count, sizeof *headers);
    if (!headers)
        return false;
    for (struct json_walk walk = json_walk(value); json_step(&walk); i++) {
        if (!json_unescape(walk.key, d->arena, &headers[i].name)) {
            d->status = STATUS_TOO_LARGE;
            return false;
        }
        if (is_null(walk.value) || !get_any(d, walk.value, &headers[i].value, field))
            return false;
    }
    envelope->headers = headers;
    envelope->header_count = count;
    return true;
}

/* [name, value] */
static bool get_pair(struct decoding *d, struct json pair, struct rule_header *header,
                     const struct envelope_field *field) {
    struct json_walk walk = json_walk(pair);
    if (pair.type != JSON_ARRAY || !json_step(&walk) || walk.value.type != JSON_STRING ||
        !get_text(d, walk.value, &header->name, field))
        return false;
    return json_step(&walk) && !is_null(walk.value) &&
           get_any(d, walk.value, &header->value, field) && !json_step(&walk);
}

static bool get_header_pairs(struct decoding *d, struct json value, void *at,
                             const struct envelope_field *field) {
    struct envelope *envelope = at;
    size_t count = count_of(value), i = 0;
    if (value.type != JSON_ARRAY)
        return false;
    struct rule_header *headers = room_for(d, count, sizeof *headers);
    if (!headers)
        return false;
    for (struct json_walk walk = json_walk(value); json_step(&walk); i++)
        if (!get_pair(d, walk.value, &headers[i], field))
            return false;
    envelope->headers = headers;
    envelope->header_count = count;
    return true;
}

static bool get_note(struct decoding *d, struct json value, struct envelope_note *note) {
    *note = (struct envelope_note){.delay_ms = -1, .counted = true};
    return get_members(d, value, note, &envelope_fields_note);
}

static bool get_history(struct decoding *d, struct json value, void *at,
                        const struct envelope_field *field) {
    (void)field;
    struct envelope *envelope = at;
    if (value.type != JSON_ARRAY)
        return false;
    size_t count = count_of(value);
    size_t skip = count > ENVELOPE_HISTORY_MAX ? count - ENVELOPE_HISTORY_MAX : 0;
    struct envelope_note *notes = room_for(d, count - skip, sizeof *notes);
    if (!notes)
        return false;
    size_t i = 0;
    for (struct json_walk walk = json_walk(value); json_step(&walk); i++)
        if (i >= skip && !get_note(d, walk.value, &notes[i - skip]))
            return false;
    envelope->history = notes;
    envelope->history_count = count - skip;
    return true;
}

static bool get_verdict(struct decoding *d, struct json value, void *at,
                        const struct envelope_field *field) {
    (void)d, (void)field;
    struct envelope_note *note = at;
    struct bytes word = plain(value);
    note->ok = bytes_is(word, "ok");
    note->interrupted = bytes_is(word, "interrupted");
    return note->ok || note->interrupted || verdict_parse(word, &note->verdict);
}

static bool get_nothing(struct decoding *d, struct json value, void *at,
                        const struct envelope_field *field) {
    (void)d, (void)value, (void)at, (void)field;
    return true;
}

static bool get_section(struct decoding *d, struct json value, void *base,
                        const struct envelope_field *field) {
    return get_members(d, value, base, field->section);
}

static bool get_maybe_section(struct decoding *d, struct json value, void *base,
                              const struct envelope_field *field) {
    return is_null(value) || get_section(d, value, base, field);
}

static bool get_failure(struct decoding *d, struct json value, void *base,
                        const struct envelope_field *field) {
    ((struct envelope *)base)->failed = !is_null(value);
    return get_maybe_section(d, value, base, field);
}

static get_fn *const get_form[FORM_COUNT] = {
    [FORM_TEXT] = get_text,
    [FORM_OPTIONAL_TEXT] = get_text,
    [FORM_MAYBE_TEXT] = get_any,
    [FORM_OBJECT] = get_object,
    [FORM_CONTEXT] = get_object,
    [FORM_TIME] = get_time,
    [FORM_U32] = get_u32,
    [FORM_SIZE] = get_size,
    [FORM_I64] = get_i64,
    [FORM_MAYBE_I64] = get_i64,
    [FORM_MAYBE_INT] = get_maybe_int,
    [FORM_BOOL] = get_bool,
    [FORM_FLAG] = get_bool,
    [FORM_HASH] = get_hash,
    [FORM_FINGERPRINT] = get_fingerprint,
    [FORM_STATE] = get_state,
    [FORM_KIND] = get_kind,
    [FORM_RESOLUTION] = get_resolution,
    [FORM_ID] = get_id,
    [FORM_CAUSE] = get_cause,
    [FORM_HEADERS] = get_headers,
    [FORM_HEADER_PAIRS] = get_header_pairs,
    [FORM_HISTORY] = get_history,
    [FORM_BODY] = get_nothing,
    [FORM_VERDICT] = get_verdict,
    [FORM_SECTION] = get_section,
    [FORM_MAYBE_SECTION] = get_maybe_section,
    [FORM_FAILURE] = get_failure,
};

/* Members are mostly in the table's order, so the search continues after the last one found. */
static const struct envelope_field *field_named(const struct envelope_section *section,
                                                struct bytes key, size_t *from) {
    for (size_t i = 0; i < section->count; i++) {
        size_t at = (*from + i) % section->count;
        if (json_key_is(key, section->fields[at].name)) {
            *from = at + 1;
            return &section->fields[at];
        }
    }
    return NULL;
}

static bool get_members(struct decoding *d, struct json object, void *base,
                        const struct envelope_section *section) {
    if (object.type != JSON_OBJECT)
        return false;
    size_t from = 0;
    for (struct json_walk walk = json_walk(object); json_step(&walk);) {
        const struct envelope_field *field = field_named(section, walk.key, &from);
        if (field && !get_form[field->form](d, walk.value, (char *)base + field->offset, field)) {
            d->wrong = d->wrong ? d->wrong : field->name;
            return false;
        }
    }
    return true;
}

enum status envelope_decode(struct bytes json, struct arena *arena, struct envelope *out,
                            struct err *err) {
    struct decoding d = {arena, STATUS_CORRUPT, NULL};
    struct json value;
    struct err why;
    *out = (struct envelope){.state = STATE_COUNT, .retry_after_ms = -1};
    if (json_parse(json, &value, &why) != STATUS_OK)
        return err_set(err, STATUS_CORRUPT, "damaged envelope: %s", why.text);
    if (!get_members(&d, value, out, &envelope_fields))
        return err_set(err, d.status, "damaged envelope: %s",
                       d.wrong ? d.wrong : "not a JSON object");
    if (out->state == STATE_COUNT || out->id.len == 0 || out->queue.len == 0)
        return err_set(err, STATUS_CORRUPT, "damaged envelope: state, id or queue is missing");
    return STATUS_OK;
}
