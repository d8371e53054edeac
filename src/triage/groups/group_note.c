/* group_note: the stored form of a group's note (SPACE_GROUP, by fingerprint). */
#include <assert.h>

#include "base/json/json.h"
#include "core/fingerprint.h"
#include "triage/groups/group.h"

enum { NOTE_TEXT_MAX = 64 * 1024 };

#define GROUP_TEXT(code, text) text,
static const char *const state_words[] = {GROUP_STATE_LIST(GROUP_TEXT)};
#undef GROUP_TEXT

const char *group_state_text(enum group_state state) {
    assert(state < GROUP_STATE_COUNT);
    return state_words[state];
}

bool group_state_parse(struct bytes text, enum group_state *out) {
    for (int i = 0; i < GROUP_STATE_COUNT; i++)
        if (bytes_is(text, state_words[i])) {
            *out = (enum group_state)i;
            return true;
        }
    return false;
}

bool group_states_parse(struct bytes text, uint32_t *out) {
    *out = 0;
    for (size_t comma; text.len > 0; text = bytes_cut(text, comma + 1, text.len)) {
        enum group_state state;
        comma = bytes_find(text, BYTES(","));
        if (!group_state_parse(bytes_trim(bytes_cut(text, 0, comma)), &state))
            return false;
        *out |= 1u << state;
    }
    return *out != 0;
}

/* ---- writing ---- */

static void put_text(struct json_out *json, const char *key, struct bytes text) {
    if (text.len == 0)
        return;
    json_key(json, key);
    json_put(json, text);
}

static void put_time(struct json_out *json, const char *key, struct wall at) {
    char text[INSTANT_TEXT_SIZE];
    if (at.ms != WALL_NEVER.ms)
        put_text(json, key, bytes_of(wall_text(at, text)));
}

static void put_note(const struct group_note *note, struct buf *out) {
    assert(note->version_count <= GROUP_VERSIONS_MAX);
    struct json_out json = json_out(out);
    json_open(&json, '{');
    put_text(&json, "note", note->note);
    put_text(&json, "owner", note->owner);
    put_text(&json, "why", note->why);
    put_text(&json, "who", note->who);
    put_text(&json, "state", bytes_of(group_state_text(note->state)));
    put_time(&json, "changed_at", note->changed_at);
    put_time(&json, "returned_at", note->returned_at);
    json_key(&json, "versions");
    json_open(&json, '[');
    for (size_t i = 0; i < note->version_count; i++)
        json_put(&json, note->versions[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

struct store_op group_note_op(uint64_t fingerprint, const struct group_note *note,
                              struct arena *arena) {
    char name[FINGERPRINT_TEXT_SIZE];
    struct buf text;
    buf_init_heap(&text, NOTE_TEXT_MAX);
    put_note(note, &text);
    struct store_op op = {
        .kind = STORE_KEEP,
        .keep = {.space = SPACE_GROUP,
                 .name = arena_dup(arena, bytes_of(fingerprint_text(fingerprint, name))),
                 .value = arena_dup(arena, buf_view(&text)),
                 .expires = WALL_NEVER}};
    buf_free(&text);
    return op;
}

/* ---- reading ---- */

static struct bytes read_text(struct json object, const char *key, struct arena *arena) {
    struct json value;
    struct bytes text;
    return json_get(object, key, &value) && json_string(value, arena, &text) ? text : BYTES_NONE;
}

static struct wall read_time(struct json object, const char *key, struct arena *arena) {
    struct wall at;
    return wall_parse(read_text(object, key, arena), &at) ? at : WALL_NEVER;
}

static void read_versions(struct json object, struct arena *arena, struct group_note *out) {
    struct json versions;
    if (!json_get(object, "versions", &versions))
        return;
    for (struct json_walk walk = json_walk(versions);
         json_step(&walk) && out->version_count < GROUP_VERSIONS_MAX;)
        out->version_count += json_string(walk.value, arena, &out->versions[out->version_count]);
}

static void read_note(struct json object, struct arena *arena, struct group_note *out) {
    out->note = read_text(object, "note", arena);
    out->owner = read_text(object, "owner", arena);
    out->why = read_text(object, "why", arena);
    out->who = read_text(object, "who", arena);
    out->changed_at = read_time(object, "changed_at", arena);
    out->returned_at = read_time(object, "returned_at", arena);
    group_state_parse(read_text(object, "state", arena), &out->state);
    read_versions(object, arena, out);
}

enum status group_note_get(struct store *store, uint64_t fingerprint, struct arena *arena,
                           struct group_note *out, struct err *err) {
    char name[FINGERPRINT_TEXT_SIZE];
    struct bytes text;
    struct json object;
    *out = (struct group_note){.state = GROUP_OPEN};
    enum status status =
        letters_note(store->letters, 0, SPACE_GROUP, bytes_of(fingerprint_text(fingerprint, name)),
                     WALL_NEVER, arena, &text, err);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status == STATUS_OK)
        status = json_parse(text, &object, err) == STATUS_OK ? STATUS_OK : STATUS_CORRUPT;
    if (status == STATUS_OK)
        read_note(object, arena, out);
    return status;
}

bool group_note_heed(struct group_note *note, struct wall last_seen) {
    if (note->state != GROUP_RESOLVED || last_seen.ms <= note->changed_at.ms)
        return false;
    note->state = GROUP_OPEN;
    note->returned_at = last_seen;
    return true;
}
