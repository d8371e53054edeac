/* replay_view: replays as the API shows them: active ones from memory, ended ones from the store.
 */
#include <stdio.h>

#include "triage/replay/replay_state.h"

enum { VIEW_ARENA_CHUNK = 16 * 1024, DOC_MAX = 16 << 20, CURSOR_SIZE = 32 };

/* Appends the replay's object. NOT_FOUND. */
static enum status put_replay(struct replays *replays, struct bytes id, struct buf *out,
                              struct err *err) {
    struct store *store = replays->triage->store;
    struct arena arena;
    struct bytes doc;
    pthread_mutex_lock(&replays->mutex);
    const struct replay *replay = replays_find(replays, id);
    if (replay)
        replay_doc_put(replay, out);
    pthread_mutex_unlock(&replays->mutex);
    if (replay)
        return STATUS_OK;
    arena_init_heap(&arena, VIEW_ARENA_CHUNK);
    enum status status = letters_note(store->letters, 0, SPACE_REPLAY, replay_doc_name(id, &arena),
                                      triage_now(replays->triage).wall, &arena, &doc, err);
    if (status == STATUS_OK)
        buf_bytes(out, doc);
    else if (status == STATUS_NOT_FOUND)
        err_set(err, status, "replay \"%.*s\" does not exist",
                BYTES_ARG(bytes_clip(id, UUID_TEXT_SIZE)));
    arena_free(&arena);
    return status;
}

/* ---- its letters ---- */

static void put_letter(struct json_out *json, const struct replay_part *part, uint32_t at) {
    struct bytes why = replay_part_why(part, at);
    json_open(json, '{');
    json_key(json, "id");
    json_put(json, part->letters[at].id);
    json_key(json, "queue");
    json_put(json, part->letters[at].queue);
    json_key(json, "outcome");
    json_put_str(json, replay_outcome_text(replay_part_outcome(part, at)));
    if (why.len > 0) {
        json_key(json, "why");
        json_put(json, why);
    }
    json_close(json, '}');
}

/* The part in the replay's memory; NULL: not loaded. */
static const struct replay_part *live_part(const struct replay *replay, uint32_t number) {
    if (!replay)
        return NULL;
    LIST_EACH(node, &replay->parts) {
        const struct replay_part *part = CONTAINER_OF(node, struct replay_part, link);
        if (part->number == number)
            return part;
    }
    return NULL;
}

struct letters_shown {
    struct replays *replays;
    const struct replay *replay; /* NULL: ended */
    const char *id;
    uint64_t selected;
    bool oldest_first;          /* order of the frozen list */
    struct replay_part *loaded; /* last part read from the store */
};

static const struct replay_part *part_at(struct letters_shown *letters, uint32_t number,
                                         struct err *err) {
    const struct replay_part *live = live_part(letters->replay, number);
    if (live || (letters->loaded && letters->loaded->number == number))
        return live ? live : letters->loaded;
    replay_part_free(letters->loaded);
    letters->loaded = NULL;
    replay_part_load(letters->replays->triage, letters->id, number, &letters->loaded, err);
    return letters->loaded;
}

/* Without parts, which expire, there are no letters to show. */
static uint64_t put_letters(struct letters_shown *letters, uint64_t from, size_t limit,
                            struct json_out *json, struct err *err) {
    uint64_t place = from;
    for (; place < letters->selected && place - from < limit; place++) {
        uint64_t frozen = letters->oldest_first ? place : letters->selected - 1 - place;
        const struct replay_part *part =
            part_at(letters, (uint32_t)(frozen / REPLAY_PART_LETTERS), err);
        if (!part)
            return letters->selected;
        put_letter(json, part, (uint32_t)(frozen % REPLAY_PART_LETTERS));
    }
    return place;
}

static uint64_t number_in(struct json object, const char *name) {
    struct json value;
    int64_t number;
    return json_get(object, name, &value) && json_i64(value, &number) && number > 0
               ? (uint64_t)number
               : 0;
}

static bool is_oldest_first(struct json object) {
    struct json value;
    return json_get(object, "order", &value) && bytes_is(value.text, "\"oldest\"");
}

static void put_page(struct replays *replays, struct bytes id, uint64_t from, size_t limit,
                     struct json_out *json, struct bytes doc) {
    char text[UUID_TEXT_SIZE], cursor[CURSOR_SIZE];
    struct json object;
    struct err err;
    bool good = json_parse(doc, &object, NULL) == STATUS_OK;
    uint64_t selected = good ? number_in(object, "selected") : 0;
    bool oldest_first = good && is_oldest_first(object);
    snprintf(text, sizeof text, "%.*s", BYTES_ARG(bytes_clip(id, sizeof text - 1)));
    json_key(json, "letters");
    json_open(json, '[');
    pthread_mutex_lock(&replays->mutex);
    struct letters_shown letters = {
        replays, replays_find(replays, id), text, selected, oldest_first, NULL};
    uint64_t next = put_letters(&letters, from, limit, json, &err);
    pthread_mutex_unlock(&replays->mutex);
    replay_part_free(letters.loaded);
    json_close(json, ']');
    json_key(json, "cursor");
    snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)next);
    json_put(json, next < selected ? bytes_of(cursor) : BYTES_NONE);
}

enum status replays_show(struct replays *replays, struct bytes id, uint64_t from, size_t limit,
                         struct buf *out, struct err *err) {
    struct buf doc;
    buf_init_heap(&doc, DOC_MAX);
    enum status status = put_replay(replays, id, &doc, err);
    if (status == STATUS_OK) {
        struct bytes text = bytes_trim(buf_view(&doc));
        if (limit == 0) {
            buf_bytes(out, text);
            buf_free(&doc);
            return STATUS_OK;
        }
        buf_bytes(out, bytes_cut(text, 0, text.len - 1)); /* without its closing brace */
        struct json_out json = {out, true};
        put_page(replays, id, from, limit, &json, text);
        json_close(&json, '}');
    }
    buf_free(&doc);
    return status;
}

/* ---- its end ---- */

static enum status read_end(struct bytes doc, struct arena *arena, struct replays_end *out,
                            struct err *err) {
    struct json object, value;
    struct bytes text = BYTES_NONE;
    enum replay_state state;
    if (json_parse(doc, &object, err) != STATUS_OK || !json_get(object, "state", &value) ||
        !json_string(value, arena, &text) || !replay_state_parse(text, &state))
        return err_set(err, STATUS_CORRUPT, "the stored replay is damaged");
    out->over = true;
    out->aborted = state == REPLAY_ABORTED;
    if (json_get(object, "why", &value) && json_string(value, arena, &text))
        snprintf(out->why, sizeof out->why, "%.*s",
                 BYTES_ARG(bytes_clip(text, sizeof out->why - 1)));
    if (json_get(object, "outcomes", &value))
        for (int i = 0; i < REPLAY_OUTCOME_COUNT; i++)
            out->counts.by[i] = number_in(value, replay_outcome_text((enum replay_outcome)i));
    return STATUS_OK;
}

enum status replays_ended(struct replays *replays, struct bytes id, struct replays_end *out,
                          struct err *err) {
    struct arena arena;
    struct buf doc;
    *out = (struct replays_end){.over = false};
    pthread_mutex_lock(&replays->mutex);
    bool active = replays_find(replays, id) != NULL;
    pthread_mutex_unlock(&replays->mutex);
    if (active)
        return STATUS_OK;
    buf_init_heap(&doc, DOC_MAX);
    arena_init_heap(&arena, VIEW_ARENA_CHUNK);
    enum status status = put_replay(replays, id, &doc, err);
    if (status == STATUS_OK)
        status = read_end(buf_view(&doc), &arena, out, err);
    arena_free(&arena);
    buf_free(&doc);
    return status;
}

/* ---- all of them ---- */

static enum status put_rows(struct replays *replays, const struct letters_note *kept, size_t count,
                            struct json_out *json, struct err *err) {
    for (size_t i = 0; i < count; i++) {
        struct buf doc;
        buf_init_heap(&doc, DOC_MAX);
        struct bytes id = bytes_cut(kept[i].name, 2, kept[i].name.len);
        enum status status = put_replay(replays, id, &doc, err);
        if (status == STATUS_OK)
            json_put_raw(json, buf_view(&doc));
        buf_free(&doc);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
    }
    return STATUS_OK;
}

enum status replays_list(struct replays *replays, struct bytes cursor, size_t limit,
                         struct buf *out, struct err *err) {
    struct store *store = replays->triage->store;
    struct arena arena;
    size_t count = 0;
    arena_init_heap(&arena, VIEW_ARENA_CHUNK);
    struct letters_note *kept = arena_alloc(&arena, (limit + 1) * sizeof *kept);
    struct bytes after = cursor.len > 0 ? replay_doc_name(cursor, &arena) : BYTES_NONE;
    enum status status = letters_notes(store->letters, SPACE_REPLAY, BYTES("r/"), after, true,
                                       limit + 1, &arena, kept, &count, err);
    if (status == STATUS_OK) {
        bool more = count > limit;
        struct json_out json = json_out(out);
        json_open(&json, '{');
        json_key(&json, "replays");
        json_open(&json, '[');
        status = put_rows(replays, kept, more ? limit : count, &json, err);
        json_close(&json, ']');
        json_key(&json, "cursor");
        json_put(&json,
                 more ? bytes_cut(kept[limit - 1].name, 2, kept[limit - 1].name.len) : BYTES_NONE);
        json_close(&json, '}');
    }
    arena_free(&arena);
    return status;
}
