/* envelope_restore: reads the stored form (envelope_stored.h) by the table of envelope_fields.c.
 * The bytes may be damaged: every length is checked. */
#include <string.h>

#include "core/envelope/envelope_stored.h"

struct restoring {
    struct arena *arena;
    enum status status; /* the error for an unreadable member */
    const char *wrong;  /* the innermost unreadable member */
    bool facts;         /* long members are skipped */
};

/* A member's value; `text` holds the bytes of a part, too. */
struct stored_value {
    enum stored_kind kind;
    int64_t number;
    struct bytes text;
};

/* ---- values, removed from the front of `rest`; false: the bytes end too early ---- */

/* Inline, because every member is read with it: the fold reads each envelope. */
static inline struct bytes cut_front(struct bytes *rest, size_t len) {
    struct bytes front = {rest->ptr, len};
    rest->ptr += len;
    rest->len -= len;
    return front;
}

static bool take_groups(struct bytes *rest, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < rest->len && i * STORED_GROUP_BITS < 64; i++) {
        uint64_t byte = (unsigned char)rest->ptr[i];
        *out |= (byte & ~(uint64_t)STORED_MORE) << (i * STORED_GROUP_BITS);
        if (!(byte & STORED_MORE)) {
            cut_front(rest, i + 1);
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct bytes *rest, uint64_t len, struct bytes *out) {
    if (len > rest->len)
        return false;
    *out = cut_front(rest, (size_t)len);
    return true;
}

static bool take_text(struct bytes *rest, struct bytes *out) {
    uint64_t len;
    return take_groups(rest, &len) && take_bytes(rest, len, out);
}

static bool take_part(struct bytes *rest, struct bytes *out) {
    struct bytes length;
    if (!take_bytes(rest, STORED_PART_LENGTH, &length))
        return false;
    uint64_t len = 0;
    for (size_t i = 0; i < STORED_PART_LENGTH; i++)
        len |= (uint64_t)(unsigned char)length.ptr[i] << 8 * i;
    return take_bytes(rest, len, out);
}

static bool take_value(struct bytes *rest, enum stored_kind kind, struct stored_value *out) {
    uint64_t zigzag;
    *out = (struct stored_value){.kind = kind};
    switch (kind) {
    case STORED_NUMBER:
        if (!take_groups(rest, &zigzag))
            return false;
        out->number = (int64_t)(zigzag >> 1 ^ (zigzag & 1 ? UINT64_MAX : 0));
        return true;
    case STORED_TEXT:
        return take_text(rest, &out->text);
    case STORED_PART:
        return take_part(rest, &out->text);
    }
    return false;
}

/* ---- forms ---- */

/* `at` is the member, or the whole struct for the forms that say so. False: refused. */
typedef bool restore_fn(struct restoring *r, const struct stored_value *value, void *at,
                        const struct envelope_field *field);

static bool restore_members(struct restoring *r, struct bytes members, void *base,
                            const struct envelope_section *section);

static bool restore_text(struct restoring *r, const struct stored_value *value, void *at,
                         const struct envelope_field *field) {
    (void)r, (void)field;
    *(struct bytes *)at = value->text;
    return true;
}

static bool restore_object(struct restoring *r, const struct stored_value *value, void *at,
                           const struct envelope_field *field) {
    struct json object;
    return json_parse(value->text, &object, NULL) == STATUS_OK && object.type == JSON_OBJECT &&
           restore_text(r, value, at, field);
}

static bool restore_time(struct restoring *r, const struct stored_value *value, void *at,
                         const struct envelope_field *field) {
    (void)r, (void)field;
    ((struct wall *)at)->ms = value->number;
    return true;
}

static bool restore_u32(struct restoring *r, const struct stored_value *value, void *at,
                        const struct envelope_field *field) {
    (void)r, (void)field;
    *(uint32_t *)at = (uint32_t)value->number;
    return value->number >= 0 && value->number <= UINT32_MAX;
}

static bool restore_wide(struct restoring *r, const struct stored_value *value, void *at,
                         const struct envelope_field *field) {
    (void)r, (void)field;
    memcpy(at, &value->number, sizeof value->number);
    return true;
}

static bool restore_int(struct restoring *r, const struct stored_value *value, void *at,
                        const struct envelope_field *field) {
    (void)r, (void)field;
    *(int *)at = (int)value->number;
    return value->number >= INT32_MIN && value->number <= INT32_MAX;
}

static bool restore_bool(struct restoring *r, const struct stored_value *value, void *at,
                         const struct envelope_field *field) {
    (void)r, (void)field;
    *(bool *)at = value->number != 0;
    return true;
}

static bool restore_hash(struct restoring *r, const struct stored_value *value, void *at,
                         const struct envelope_field *field) {
    (void)r, (void)field;
    char *hash = at;
    if (value->text.len != sizeof((struct envelope *)0)->content_hash - 1)
        return false;
    memcpy(hash, value->text.ptr, value->text.len);
    hash[value->text.len] = '\0';
    return true;
}

static bool restore_state(struct restoring *r, const struct stored_value *value, void *at,
                          const struct envelope_field *field) {
    (void)r, (void)field;
    return state_parse(value->text, at);
}

static bool restore_kind(struct restoring *r, const struct stored_value *value, void *at,
                         const struct envelope_field *field) {
    (void)r, (void)field;
    return kind_parse(value->text, at);
}

static bool restore_resolution(struct restoring *r, const struct stored_value *value, void *at,
                               const struct envelope_field *field) {
    (void)r, (void)field;
    return resolution_parse(value->text, at);
}

static bool restore_cause(struct restoring *r, const struct stored_value *value, void *at,
                          const struct envelope_field *field) {
    (void)r, (void)field;
    return cause_parse(value->text, &((struct envelope *)at)->cause);
}

static bool restore_verdict(struct restoring *r, const struct stored_value *value, void *at,
                            const struct envelope_field *field) {
    (void)r, (void)field;
    struct envelope_note *note = at;
    note->ok = bytes_is(value->text, "ok");
    note->interrupted = bytes_is(value->text, "interrupted");
    return note->ok || note->interrupted || verdict_parse(value->text, &note->verdict);
}

static void *room_for(struct restoring *r, size_t count, size_t size) {
    void *room = arena_alloc(r->arena, count * size);
    if (!room)
        r->status = STATUS_TOO_LARGE;
    return room;
}

static bool restore_headers(struct restoring *r, const struct stored_value *value, void *at,
                            const struct envelope_field *field) {
    (void)field;
    struct envelope *envelope = at;
    struct bytes rest = value->text, text;
    size_t count = 0;
    for (; rest.len > 0; count++) {
        if (!take_text(&rest, &text))
            return false;
    }
    if (count % 2 != 0)
        return false;
    count /= 2;
    struct rule_header *headers = room_for(r, count, sizeof *headers);
    if (!headers)
        return false;
    rest = value->text;
    for (size_t i = 0; i < count; i++) {
        take_text(&rest, &headers[i].name);
        take_text(&rest, &headers[i].value);
    }
    envelope->headers = headers;
    envelope->header_count = count;
    return true;
}

static bool restore_note(struct restoring *r, struct bytes members, struct envelope_note *note) {
    *note = (struct envelope_note){.delay_ms = -1, .counted = true};
    return restore_members(r, members, note, &envelope_fields_note);
}

static bool restore_history(struct restoring *r, const struct stored_value *value, void *at,
                            const struct envelope_field *field) {
    (void)field;
    struct envelope *envelope = at;
    struct bytes rest = value->text, line;
    size_t count = 0;
    for (; rest.len > 0; count++) {
        if (!take_part(&rest, &line))
            return false;
    }
    struct envelope_note *notes = room_for(r, count, sizeof *notes);
    if (!notes || count > ENVELOPE_HISTORY_MAX)
        return false;
    rest = value->text;
    for (size_t i = 0; i < count; i++) {
        take_part(&rest, &line);
        if (!restore_note(r, line, &notes[i]))
            return false;
    }
    envelope->history = notes;
    envelope->history_count = count;
    return true;
}

static bool restore_section(struct restoring *r, const struct stored_value *value, void *at,
                            const struct envelope_field *field) {
    if (field->form == FORM_FAILURE)
        ((struct envelope *)at)->failed = true;
    return restore_members(r, value->text, at, field->section);
}

static const struct form {
    enum stored_kind kind;
    restore_fn *restore; /* NULL: never stored */
    bool is_long;
} forms[FORM_COUNT] = {
    [FORM_TEXT] = {STORED_TEXT, restore_text, false},
    [FORM_OPTIONAL_TEXT] = {STORED_TEXT, restore_text, false},
    [FORM_MAYBE_TEXT] = {STORED_TEXT, restore_text, false},
    [FORM_OBJECT] = {STORED_TEXT, restore_object, true},
    [FORM_CONTEXT] = {STORED_TEXT, restore_object, true},
    [FORM_TIME] = {STORED_NUMBER, restore_time, false},
    [FORM_U32] = {STORED_NUMBER, restore_u32, false},
    [FORM_SIZE] = {STORED_NUMBER, restore_wide, false},
    [FORM_I64] = {STORED_NUMBER, restore_wide, false},
    [FORM_MAYBE_I64] = {STORED_NUMBER, restore_wide, false},
    [FORM_MAYBE_INT] = {STORED_NUMBER, restore_int, false},
    [FORM_BOOL] = {STORED_NUMBER, restore_bool, false},
    [FORM_FLAG] = {STORED_NUMBER, restore_bool, false},
    [FORM_HASH] = {STORED_TEXT, restore_hash, false},
    [FORM_FINGERPRINT] = {STORED_NUMBER, restore_wide, false},
    [FORM_STATE] = {STORED_TEXT, restore_state, false},
    [FORM_KIND] = {STORED_TEXT, restore_kind, false},
    [FORM_RESOLUTION] = {STORED_TEXT, restore_resolution, false},
    [FORM_CAUSE] = {STORED_TEXT, restore_cause, false},
    [FORM_HEADERS] = {STORED_PART, restore_headers, true},
    [FORM_HISTORY] = {STORED_PART, restore_history, true},
    [FORM_VERDICT] = {STORED_TEXT, restore_verdict, false},
    [FORM_SECTION] = {STORED_PART, restore_section, false},
    [FORM_MAYBE_SECTION] = {STORED_PART, restore_section, false},
    [FORM_FAILURE] = {STORED_PART, restore_section, false},
};

/* Members are in the table's order, so the search continues after the last one found. */
static const struct envelope_field *field_numbered(const struct envelope_section *section,
                                                   unsigned number, size_t *from) {
    for (size_t i = 0; i < section->count; i++) {
        size_t at = *from + i < section->count ? *from + i : *from + i - section->count;
        if (section->fields[at].number == number) {
            *from = at + 1;
            return &section->fields[at];
        }
    }
    return NULL;
}

static bool restore_member(struct restoring *r, const struct stored_value *value, void *base,
                           const struct envelope_field *field) {
    const struct form *form = &forms[field->form];
    if (r->facts && form->is_long)
        return true;
    if (form->restore && form->kind == value->kind &&
        form->restore(r, value, (char *)base + field->offset, field))
        return true;
    r->wrong = r->wrong ? r->wrong : field->name;
    return false;
}

static bool restore_members(struct restoring *r, struct bytes members, void *base,
                            const struct envelope_section *section) {
    size_t from = 0;
    while (members.len > 0) {
        unsigned tag = (unsigned char)*cut_front(&members, 1).ptr;
        struct stored_value value;
        if (!take_value(&members, (enum stored_kind)(tag & ((1u << STORED_KIND_BITS) - 1)), &value))
            return false;
        const struct envelope_field *field =
            field_numbered(section, tag >> STORED_KIND_BITS, &from);
        if (field && !restore_member(r, &value, base, field))
            return false;
    }
    return true;
}

static enum status restore(struct bytes stored, bool facts, struct arena *arena,
                           struct envelope *out, struct err *err) {
    if (stored.len == 0 || stored.ptr[0] != STORED_VERSION)
        return envelope_decode(stored, arena, out, err);
    struct restoring r = {arena, STATUS_CORRUPT, NULL, facts};
    *out = (struct envelope){.state = STATE_COUNT, .retry_after_ms = -1};
    if (!restore_members(&r, bytes_cut(stored, 1, stored.len), out, &envelope_fields))
        return err_set(err, r.status, "damaged envelope: %s",
                       r.wrong ? r.wrong : "it ends too early");
    if (out->state == STATE_COUNT || out->id.len == 0 || out->queue.len == 0)
        return err_set(err, STATUS_CORRUPT, "damaged envelope: state, id or queue is missing");
    return STATUS_OK;
}

enum status envelope_restore(struct bytes stored, struct arena *arena, struct envelope *out,
                             struct err *err) {
    return restore(stored, false, arena, out, err);
}

enum status envelope_restore_facts(struct bytes stored, struct arena *arena, struct envelope *out,
                                   struct err *err) {
    return restore(stored, true, arena, out, err);
}
