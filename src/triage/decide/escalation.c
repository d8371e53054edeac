/* escalation: builds, stores and reads escalation records. */
#include "triage/decide/escalation.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json/json.h"
#include "base/memory.h"

static struct bytes heap_dup(struct bytes text) {
    return (struct bytes){bytes_dup(text), text.len};
}

static void free_text(struct bytes text) {
    free((void *)(uintptr_t)text.ptr);
}

/* ---- building ---- */

struct escalation *escalation_new(struct triage *triage, struct bytes id, struct bytes dlq,
                                  struct bytes words, bool of_rule) {
    assert(id.len > 0 && dlq.len > 0);
    struct escalation *escalation = memory_new(sizeof *escalation);
    escalation->triage = triage;
    escalation->dlq = heap_dup(dlq);
    escalation->words = heap_dup(bytes_clip(words, ESCALATION_WORDS_MAX));
    escalation->of_rule = of_rule;
    snprintf(escalation->id, sizeof escalation->id, "%.*s", BYTES_ARG(id));
    buf_init_heap(&escalation->letters, ESCALATION_TEXT_MAX);
    return escalation;
}

void escalation_free(struct escalation *escalation) {
    if (!escalation)
        return;
    free_text(escalation->dlq);
    free_text(escalation->words);
    buf_free(&escalation->letters);
    free(escalation);
}

static void put_error(struct json_out *json, const struct envelope *letter) {
    char memory[2 * ESCALATION_ERROR_MAX];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_bytes(&text, bytes_clip(letter->error_type, ESCALATION_ERROR_MAX / 2));
    if (letter->error_type.len > 0 && letter->error_message.len > 0)
        buf_str(&text, ": ");
    buf_bytes(&text, bytes_clip(letter->error_message, ESCALATION_ERROR_MAX));
    json_key(json, "error");
    json_put(json, bytes_clip(buf_view(&text), ESCALATION_ERROR_MAX));
}

/* Link to the letter's page in the dashboard. */
static void put_url(struct json_out *json, const struct triage *triage, struct bytes id) {
    char memory[512];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "%.*s/#/letters/%.*s", BYTES_ARG(triage->url), BYTES_ARG(id));
    json_key(json, "url");
    json_put(json, buf_view(&text));
}

static void put_letter(struct escalation *escalation, const struct envelope *letter) {
    struct json_out json = json_out(&escalation->letters);
    if (escalation->listed > 0)
        buf_char(&escalation->letters, ',');
    json_open(&json, '{');
    json_key(&json, "id");
    json_put(&json, letter->letter_id);
    json_key(&json, "message_id");
    json_put(&json, letter->id);
    json_key(&json, "queue");
    json_put(&json, letter->queue);
    json_key(&json, "reason");
    json_put(&json, bytes_clip(letter->reason, ESCALATION_REASON_MAX));
    put_error(&json, letter);
    put_url(&json, escalation->triage, letter->letter_id);
    json_close(&json, '}');
}

void escalation_add(struct escalation *escalation, const struct envelope *letter) {
    assert(escalation->listed <= ESCALATION_LETTERS_MAX && escalation->listed <= escalation->count);
    escalation->count++;
    if (escalation->listed == ESCALATION_LETTERS_MAX)
        return;
    put_letter(escalation, letter);
    escalation->listed++;
}

/* ---- storing ---- */

static struct bytes name_of(const struct escalation *escalation, struct arena *arena) {
    char memory[STORE_NAME_MAX];
    struct buf name;
    buf_init_fixed(&name, memory, sizeof memory);
    buf_printf(&name, "%s:%.*s", escalation->id, BYTES_ARG(escalation->dlq));
    return arena_dup(arena, buf_view(&name));
}

struct store_op escalation_op(const struct escalation *escalation, struct wall now,
                              struct arena *arena) {
    assert(escalation->count > 0);
    struct buf text;
    buf_init_heap(&text, 2 * ESCALATION_TEXT_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "dlq");
    json_put(&json, escalation->dlq);
    json_key(&json, "words");
    json_put(&json, escalation->words);
    json_key(&json, "count");
    json_put_i64(&json, (int64_t)escalation->count);
    json_key(&json, "at");
    json_put_i64(&json, now.ms);
    json_key(&json, "rule");
    json_put_bool(&json, escalation->of_rule);
    json_key(&json, "letters");
    json_open(&json, '[');
    json_put_raw(&json, buf_view(&escalation->letters));
    json_close(&json, ']');
    json_close(&json, '}');
    struct store_op op = {.kind = STORE_KEEP,
                          .keep = {.space = SPACE_ESCALATION,
                                   .name = name_of(escalation, arena),
                                   .value = arena_dup(arena, buf_view(&text)),
                                   .expires = WALL_NEVER}};
    buf_free(&text);
    return op;
}

struct store_op escalation_drop_op(struct bytes name) {
    return (struct store_op){.kind = STORE_KEEP, .keep = {.space = SPACE_ESCALATION, .name = name}};
}

/* ---- reading ---- */

static bool get_text(struct json object, const char *key, struct arena *arena, struct bytes *out) {
    struct json value;
    return json_get(object, key, &value) && json_string(value, arena, out);
}

static bool get_number(struct json object, const char *key, int64_t *out) {
    struct json value;
    return json_get(object, key, &value) && json_i64(value, out) && *out >= 0;
}

/* False: the record is damaged; it is skipped. */
static bool parse(const struct letters_note *kept, struct arena *arena,
                  struct escalation_record *out) {
    struct json whole, letters, rule;
    int64_t count, at;
    size_t colon = bytes_find(kept->name, BYTES(":"));
    if (json_parse(kept->value, &whole, NULL) != STATUS_OK ||
        !get_text(whole, "dlq", arena, &out->dlq) ||
        !get_text(whole, "words", arena, &out->words) || !get_number(whole, "count", &count) ||
        !get_number(whole, "at", &at) || !json_get(whole, "letters", &letters) ||
        letters.type != JSON_ARRAY)
        return false;
    out->name = kept->name;
    out->id = bytes_cut(kept->name, 0, colon);
    out->letters = letters.text;
    out->of_rule = json_get(whole, "rule", &rule) && rule.type == JSON_TRUE;
    out->count = (uint64_t)count;
    out->at = (struct wall){at};
    return true;
}

enum status escalation_list(struct triage *triage, struct arena *arena,
                            struct escalation_record *out, size_t *count, struct err *err) {
    struct letters_note page[ESCALATION_PAGE];
    size_t found = 0;
    *count = 0;
    enum status status =
        letters_notes(triage->store->letters, SPACE_ESCALATION, BYTES_NONE, BYTES_NONE, false,
                      ESCALATION_PAGE, arena, page, &found, err);
    for (size_t i = 0; status == STATUS_OK && i < found; i++)
        *count += parse(&page[i], arena, &out[*count]);
    return status;
}

struct escalation *escalation_more(struct triage *triage, struct bytes id, struct bytes dlq,
                                   struct bytes words, struct err *err) {
    struct escalation *escalation = escalation_new(triage, id, dlq, words, false);
    struct escalation_record record;
    struct letters_note kept;
    struct arena arena;
    arena_init_heap(&arena, ESCALATION_TEXT_MAX);
    kept.name = name_of(escalation, &arena);
    if (letters_note(triage->store->letters, 0, SPACE_ESCALATION, kept.name,
                     triage_now(triage).wall, &arena, &kept.value, err) == STATUS_OK &&
        parse(&kept, &arena, &record)) {
        struct json letters;
        escalation->count = record.count;
        if (json_parse(record.letters, &letters, NULL) == STATUS_OK)
            for (struct json_walk walk = json_walk(letters); json_step(&walk);)
                escalation->listed++;
        buf_bytes(&escalation->letters, bytes_cut(record.letters, 1, record.letters.len - 1));
    }
    arena_free(&arena);
    return escalation;
}
