/* replay_part: see the header. */
#include "triage/replay/replay_part.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/memory.h"

enum { PART_TEXT_MAX = 16 << 20, PART_ARENA_CHUNK = 64 * 1024, NAME_SIZE = 64 };

struct replay_part *replay_part_new(uint32_t number) {
    struct replay_part *part = memory_new(sizeof *part);
    part->number = number;
    list_init(&part->link);
    arena_init_heap(&part->arena, PART_ARENA_CHUNK);
    memset(part->outcomes, replay_outcome_char(REPLAYED_WAITING), sizeof part->outcomes);
    return part;
}

void replay_part_free(struct replay_part *part) {
    if (!part)
        return;
    list_remove(&part->link);
    arena_free(&part->arena);
    free(part);
}

void replay_part_add(struct replay_part *part, struct bytes queue, struct bytes id) {
    assert(part->count < REPLAY_PART_LETTERS);
    part->letters[part->count++] =
        (struct replay_letter){arena_dup(&part->arena, queue), arena_dup(&part->arena, id)};
}

void replay_part_note(struct replay_part *part, uint32_t at, enum replay_outcome outcome,
                      struct bytes why) {
    assert(at < part->count && outcome < REPLAY_OUTCOME_COUNT);
    part->outcomes[at] = replay_outcome_char(outcome);
    part->dirty = true;
    if (why.len == 0)
        return;
    struct replay_note *note = arena_alloc(&part->arena, sizeof *note);
    *note = (struct replay_note){part->notes, at,
                                 arena_dup(&part->arena, bytes_clip(why, REPLAY_WHY_MAX))};
    part->notes = note;
}

enum replay_outcome replay_part_outcome(const struct replay_part *part, uint32_t at) {
    assert(at < part->count);
    enum replay_outcome outcome = REPLAYED_WAITING;
    replay_outcome_of_char(part->outcomes[at], &outcome);
    return outcome;
}

struct bytes replay_part_why(const struct replay_part *part, uint32_t at) {
    for (const struct replay_note *note = part->notes; note; note = note->next)
        if (note->at == at)
            return note->why;
    return BYTES_NONE;
}

void replay_part_count(const struct replay_part *part, struct replay_counts *into) {
    for (uint32_t i = 0; i < part->count; i++)
        into->by[replay_part_outcome(part, i)]++;
}

/* ---- writing ---- */

static struct bytes name_of(char kind, const char *id, uint32_t number, struct arena *arena) {
    char text[NAME_SIZE];
    snprintf(text, sizeof text, "%c/%s/%08u", kind, id, (unsigned)number);
    return arena_dup(arena, bytes_of(text));
}

static struct store_op keep_op(struct bytes name, struct buf *value, struct wall now,
                               struct arena *arena) {
    struct store_op op = {.kind = STORE_KEEP,
                          .keep = {.space = SPACE_REPLAY,
                                   .name = name,
                                   .value = arena_dup(arena, buf_view(value)),
                                   .expires = {now.ms + REPLAY_KEPT_MS}}};
    buf_free(value);
    return op;
}

struct store_op replay_part_letters_op(const struct replay_part *part, const char *id,
                                       struct wall now, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, PART_TEXT_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '[');
    for (uint32_t i = 0; i < part->count; i++) {
        json_open(&json, '[');
        json_put(&json, part->letters[i].queue);
        json_put(&json, part->letters[i].id);
        json_close(&json, ']');
    }
    json_close(&json, ']');
    return keep_op(name_of('l', id, part->number, arena), &text, now, arena);
}

static void put_notes(const struct replay_part *part, struct json_out *json) {
    json_key(json, "why");
    json_open(json, '{');
    for (const struct replay_note *note = part->notes; note; note = note->next) {
        char at[16];
        snprintf(at, sizeof at, "%u", (unsigned)note->at);
        json_key(json, at);
        json_put(json, note->why);
    }
    json_close(json, '}');
}

struct store_op replay_part_outcomes_op(const struct replay_part *part, const char *id,
                                        struct wall now, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, PART_TEXT_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "outcomes");
    json_put(&json, (struct bytes){part->outcomes, part->count});
    put_notes(part, &json);
    json_close(&json, '}');
    return keep_op(name_of('o', id, part->number, arena), &text, now, arena);
}

/* ---- reading ---- */

static bool read_letter(struct json pair, struct replay_part *part) {
    struct json_walk walk = json_walk(pair);
    struct bytes queue, id;
    if (!json_step(&walk) || !json_string(walk.value, &part->arena, &queue) || !json_step(&walk) ||
        !json_string(walk.value, &part->arena, &id) || json_step(&walk))
        return false;
    if (part->count == REPLAY_PART_LETTERS)
        return false;
    replay_part_add(part, queue, id);
    return true;
}

static bool read_letters(struct bytes text, struct replay_part *part) {
    struct json array;
    if (json_parse(text, &array, NULL) != STATUS_OK || array.type != JSON_ARRAY)
        return false;
    for (struct json_walk walk = json_walk(array); json_step(&walk);)
        if (!read_letter(walk.value, part))
            return false;
    return true;
}

static bool read_chars(struct json object, struct replay_part *part) {
    struct json value;
    struct bytes text;
    enum replay_outcome outcome;
    if (!json_get(object, "outcomes", &value) || !json_string(value, &part->arena, &text) ||
        text.len != part->count)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!replay_outcome_of_char(text.ptr[i], &outcome))
            return false;
    memcpy(part->outcomes, text.ptr, text.len);
    return true;
}

static bool read_notes(struct json object, struct replay_part *part) {
    struct json notes;
    if (!json_get(object, "why", &notes))
        return true;
    for (struct json_walk walk = json_walk(notes); json_step(&walk);) {
        uint64_t at;
        struct bytes why;
        if (!bytes_u64(walk.key, &at) || at >= part->count ||
            !json_string(walk.value, &part->arena, &why))
            return false;
        replay_part_note(part, (uint32_t)at, replay_part_outcome(part, (uint32_t)at), why);
    }
    return true;
}

enum status replay_part_decode(struct bytes letters, struct bytes outcomes,
                               struct replay_part *into, struct err *err) {
    struct json object;
    bool good = read_letters(letters, into);
    if (good && outcomes.ptr)
        good = json_parse(outcomes, &object, NULL) == STATUS_OK && object.type == JSON_OBJECT &&
               read_chars(object, into) && read_notes(object, into);
    into->dirty = false;
    return good
               ? STATUS_OK
               : err_set(err, STATUS_CORRUPT, "a part of the replay's stored selection is damaged");
}

static enum status kept(struct triage *triage, struct bytes name, struct arena *arena,
                        struct bytes *out, struct err *err) {
    struct store *store = triage->store;
    return letters_note(store->letters, 0, SPACE_REPLAY, name, triage_now(triage).wall, arena, out,
                        err);
}

enum status replay_part_load(struct triage *triage, const char *id, uint32_t number,
                             struct replay_part **out, struct err *err) {
    struct replay_part *part = replay_part_new(number);
    struct bytes letters = BYTES_NONE, outcomes = BYTES_NONE;
    struct arena *arena = &part->arena;
    enum status status = kept(triage, name_of('l', id, number, arena), arena, &letters, err);
    if (status == STATUS_OK) {
        status = kept(triage, name_of('o', id, number, arena), arena, &outcomes, err);
        if (status == STATUS_NOT_FOUND)
            status = STATUS_OK;
    }
    if (status == STATUS_OK)
        status = replay_part_decode(letters, outcomes, part, err);
    if (status != STATUS_OK) {
        replay_part_free(part);
        return status;
    }
    *out = part;
    return STATUS_OK;
}
