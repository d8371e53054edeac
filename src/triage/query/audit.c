/* audit: entries of the audit log in the store (SPACE_AUDIT), by UUIDv7, so that name order is time
 * order. */
#include "triage/query/audit.h"

#include <assert.h>

#include "base/json/json_member.h"

enum { ENTRY_MAX = 1 << 20, FILTER_MAX = 64 * 1024, LIST_ARENA_CHUNK = 64 * 1024 };

void audit_begin(struct triage *triage, struct audit_entry *entry) {
    entry->at = triage_now(triage).wall;
    triage_new_id(triage, entry->at, entry->id);
}

/* A list of ids may be as large as a request: of one beyond FILTER_MAX only the size is stored. */
static void put_json(struct json_out *json, const char *key, struct bytes text) {
    json_key(json, key);
    if (text.len > FILTER_MAX) {
        json_open(json, '{');
        json_key(json, "bytes");
        json_put_i64(json, (int64_t)text.len);
        json_close(json, '}');
    } else if (text.len > 0) {
        json_put_raw(json, text);
    } else {
        json_put_null(json);
    }
}

static void put_entry(const struct audit_entry *entry, struct buf *out) {
    assert(entry->what && entry->id[0]);
    char at[INSTANT_TEXT_SIZE];
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_member_text(&json, "id", bytes_of(entry->id));
    json_member_text(&json, "at", bytes_of(wall_text(entry->at, at)));
    json_member_text(&json, "who", entry->who);
    json_member_text(&json, "what", bytes_of(entry->what));
    json_member_text(&json, "why", entry->why);
    json_member_text(&json, "subject", entry->subject);
    put_json(&json, "filter", entry->filter);
    json_key(&json, "count");
    json_put_i64(&json, (int64_t)entry->count);
    put_json(&json, "before", entry->before);
    put_json(&json, "after", entry->after);
    json_close(&json, '}');
}

static struct store_op keep_op(const struct audit_entry *entry, struct arena *arena,
                               struct bytes value) {
    return (struct store_op){.kind = STORE_KEEP,
                             .keep = {.space = SPACE_AUDIT,
                                      .name = arena_dup(arena, bytes_of(entry->id)),
                                      .value = value,
                                      .expires = {entry->at.ms + AUDIT_KEPT_MS}}};
}

struct store_op audit_op(const struct audit_entry *entry, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, ENTRY_MAX);
    put_entry(entry, &text);
    struct store_op op = keep_op(entry, arena, arena_dup(arena, buf_view(&text)));
    buf_free(&text);
    return op;
}

struct store_op audit_drop(const struct audit_entry *entry, struct arena *arena) {
    return keep_op(entry, arena, BYTES_NONE);
}

static void put_list(const struct letters_note *kept, size_t count, bool more, struct buf *out) {
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_key(&json, "audit");
    json_open(&json, '[');
    for (size_t i = 0; i < count; i++)
        json_put_raw(&json, kept[i].value);
    json_close(&json, ']');
    json_member_text(&json, "cursor", more ? kept[count - 1].name : BYTES_NONE);
    json_close(&json, '}');
}

enum status audit_list(struct triage *triage, struct bytes cursor, size_t limit, struct buf *out,
                       struct err *err) {
    struct store *store = triage->store;
    struct arena arena;
    size_t count = 0;
    arena_init_heap(&arena, LIST_ARENA_CHUNK);
    struct letters_note *kept = arena_alloc(&arena, (limit + 1) * sizeof *kept);
    enum status status = letters_notes(store->letters, SPACE_AUDIT, BYTES_NONE, cursor, true,
                                       limit + 1, &arena, kept, &count, err);
    if (status == STATUS_OK)
        put_list(kept, count > limit ? limit : count, count > limit, out);
    arena_free(&arena);
    return status;
}
