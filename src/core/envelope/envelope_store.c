/* envelope_store: writes the stored form (envelope_stored.h) by the table of envelope_fields.c. */
#include <assert.h>
#include <string.h>

#include "core/envelope/envelope_stored.h"
#include "core/lifecycle.h"

enum { NUMBER_BYTES_MAX = 10 };

/* ---- values ---- */

/* Room is reserved once per member, for the most that it may need; the rest is given back. */

static char *put_groups(char *at, uint64_t value) {
    for (; value >= STORED_MORE; value >>= STORED_GROUP_BITS)
        *at++ = (char)(value | STORED_MORE);
    *at++ = (char)value;
    return at;
}

static char *put_counted(char *at, struct bytes text) {
    at = put_groups(at, text.len);
    if (text.len > 0)
        memcpy(at, text.ptr, text.len);
    return at + text.len;
}

static char tag_of(const struct envelope_field *field, enum stored_kind kind) {
    return (char)(field->number << STORED_KIND_BITS | kind);
}

static void end_at(struct buf *out, const char *end) {
    out->len = (size_t)(end - out->ptr);
}

static void put_tag(struct buf *out, const struct envelope_field *field, enum stored_kind kind) {
    buf_char(out, tag_of(field, kind));
}

static void put_number(struct buf *out, const struct envelope_field *field, int64_t value) {
    char *at = buf_room(out, 1 + NUMBER_BYTES_MAX);
    if (!at)
        return;
    *at++ = tag_of(field, STORED_NUMBER);
    end_at(out, put_groups(at, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0)));
}

static void put_bytes(struct buf *out, struct bytes text) {
    char *at = buf_room(out, NUMBER_BYTES_MAX + text.len);
    if (at)
        end_at(out, put_counted(at, text));
}

static void put_text(struct buf *out, const struct envelope_field *field, struct bytes text) {
    char *at = buf_room(out, 1 + NUMBER_BYTES_MAX + text.len);
    if (!at)
        return;
    *at++ = tag_of(field, STORED_TEXT);
    end_at(out, put_counted(at, text));
}

/* The length is written by close_part. */
static size_t open_part(struct buf *out) {
    buf_room(out, STORED_PART_LENGTH);
    return out->len;
}

static void close_part(struct buf *out, size_t start) {
    assert(out->overflow || (start >= STORED_PART_LENGTH && start <= out->len));
    if (out->overflow)
        return;
    size_t len = out->len - start;
    for (size_t i = 0; i < STORED_PART_LENGTH; i++)
        out->ptr[start - STORED_PART_LENGTH + i] = (char)(len >> 8 * i & 0xff);
}

/* ---- forms ---- */

/* `at` is the member, or the whole struct for the forms that say so. Default values are not
 * written. */
typedef void store_fn(struct buf *out, const void *at, const struct envelope_field *field);

static void store_members(struct buf *out, const void *base,
                          const struct envelope_section *section);

static void store_text(struct buf *out, const void *at, const struct envelope_field *field) {
    const struct bytes *text = at;
    if (text->len > 0 || (field->form == FORM_MAYBE_TEXT && text->ptr))
        put_text(out, field, *text);
}

static void store_time(struct buf *out, const void *at, const struct envelope_field *field) {
    const struct wall *when = at;
    if (when->ms > WALL_NEVER.ms)
        put_number(out, field, when->ms);
}

static void store_u32(struct buf *out, const void *at, const struct envelope_field *field) {
    uint32_t value = *(const uint32_t *)at;
    if (value != 0)
        put_number(out, field, value);
}

static void store_wide(struct buf *out, const void *at, const struct envelope_field *field) {
    int64_t value, assumed = field->form == FORM_MAYBE_I64 ? -1 : 0;
    memcpy(&value, at, sizeof value);
    if (value != assumed)
        put_number(out, field, value);
}

static void store_int(struct buf *out, const void *at, const struct envelope_field *field) {
    int value = *(const int *)at;
    if (value != 0)
        put_number(out, field, value);
}

static void store_bool(struct buf *out, const void *at, const struct envelope_field *field) {
    bool value = *(const bool *)at;
    if (value || field->form == FORM_BOOL)
        put_number(out, field, value);
}

static void store_hash(struct buf *out, const void *at, const struct envelope_field *field) {
    const char *hex = at;
    if (hex[0])
        put_text(out, field, bytes_of(hex));
}

static void store_state(struct buf *out, const void *at, const struct envelope_field *field) {
    put_text(out, field, bytes_of(state_text(*(const enum state *)at)));
}

static void store_kind(struct buf *out, const void *at, const struct envelope_field *field) {
    put_text(out, field, bytes_of(kind_text(*(const enum kind *)at)));
}

static void store_resolution(struct buf *out, const void *at, const struct envelope_field *field) {
    enum resolution resolution = *(const enum resolution *)at;
    if (resolution != RESOLUTION_NONE)
        put_text(out, field, bytes_of(resolution_text(resolution)));
}

static void store_cause(struct buf *out, const void *at, const struct envelope_field *field) {
    const struct envelope *envelope = at;
    if (lifecycle_is_letter(envelope->state) || envelope_awaits_room(envelope))
        put_text(out, field, bytes_of(cause_text(envelope->cause)));
}

static void store_verdict(struct buf *out, const void *at, const struct envelope_field *field) {
    const struct envelope_note *note = at;
    const char *word = note->ok            ? "ok"
                       : note->interrupted ? "interrupted"
                                           : verdict_text(note->verdict);
    put_text(out, field, bytes_of(word));
}

static void store_headers(struct buf *out, const void *at, const struct envelope_field *field) {
    const struct envelope *envelope = at;
    if (envelope->header_count == 0)
        return;
    put_tag(out, field, STORED_PART);
    size_t start = open_part(out);
    for (size_t i = 0; i < envelope->header_count; i++) {
        put_bytes(out, envelope->headers[i].name);
        put_bytes(out, envelope->headers[i].value);
    }
    close_part(out, start);
}

static void store_history(struct buf *out, const void *at, const struct envelope_field *field) {
    const struct envelope *envelope = at;
    if (envelope->history_count == 0)
        return;
    put_tag(out, field, STORED_PART);
    size_t start = open_part(out);
    for (size_t i = 0; i < envelope->history_count; i++) {
        size_t line = open_part(out);
        store_members(out, &envelope->history[i], &envelope_fields_note);
        close_part(out, line);
    }
    close_part(out, start);
}

static void store_section(struct buf *out, const void *at, const struct envelope_field *field) {
    if (field->form == FORM_FAILURE && !((const struct envelope *)at)->failed)
        return;
    put_tag(out, field, STORED_PART);
    size_t start = open_part(out);
    store_members(out, at, field->section);
    close_part(out, start);
}

static store_fn *const store_form[FORM_COUNT] = {
    [FORM_TEXT] = store_text,        [FORM_OPTIONAL_TEXT] = store_text,
    [FORM_MAYBE_TEXT] = store_text,  [FORM_OBJECT] = store_text,
    [FORM_CONTEXT] = store_text,     [FORM_TIME] = store_time,
    [FORM_U32] = store_u32,          [FORM_SIZE] = store_wide,
    [FORM_I64] = store_wide,         [FORM_MAYBE_I64] = store_wide,
    [FORM_MAYBE_INT] = store_int,    [FORM_BOOL] = store_bool,
    [FORM_FLAG] = store_bool,        [FORM_HASH] = store_hash,
    [FORM_FINGERPRINT] = store_wide, [FORM_STATE] = store_state,
    [FORM_KIND] = store_kind,        [FORM_RESOLUTION] = store_resolution,
    [FORM_CAUSE] = store_cause,      [FORM_HEADERS] = store_headers,
    [FORM_HISTORY] = store_history,  [FORM_VERDICT] = store_verdict,
    [FORM_SECTION] = store_section,  [FORM_MAYBE_SECTION] = store_section,
    [FORM_FAILURE] = store_section,
};

static void store_members(struct buf *out, const void *base,
                          const struct envelope_section *section) {
    for (size_t i = 0; i < section->count; i++) {
        const struct envelope_field *field = &section->fields[i];
        if (!(field->parts & IN_STORED))
            continue;
        assert(field->number > 0 && field->number <= ENVELOPE_NUMBER_MAX);
        store_form[field->form](out, (const char *)base + field->offset, field);
    }
}

void envelope_store(const struct envelope *envelope, struct buf *out) {
    assert(envelope->state < STATE_COUNT && envelope->history_count <= ENVELOPE_HISTORY_MAX);
    buf_char(out, STORED_VERSION);
    store_members(out, envelope, &envelope_fields);
}
