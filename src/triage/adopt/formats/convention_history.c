/* convention_history: see the header. */
#include "triage/adopt/formats/convention_history.h"

#include "triage/adopt/formats/convention_facts.h"
#include "triage/adopt/formats/convention_reason.h"

static struct bytes text_of(struct json line, const char *name, struct arena *arena) {
    struct json member;
    struct bytes text;
    return json_get(line, name, &member) && json_string(member, arena, &text) ? text : BYTES_NONE;
}

static uint32_t number_of(struct json line, uint32_t otherwise) {
    struct json member;
    uint64_t number;
    if (!json_get(line, "attempt", &member) || member.type != JSON_NUMBER ||
        !bytes_u64(member.text, &number) || number > UINT32_MAX)
        return otherwise;
    return (uint32_t)number;
}

static struct bytes category_of(const struct convention_letter *letter,
                                const struct envelope_note *note, struct arena *arena) {
    struct convention_facts facts = {.letter = letter, .arena = arena};
    struct bytes reason, category;
    convention_facts_text(&facts, FACT_TYPE, note->error_type);
    convention_facts_text(&facts, FACT_MESSAGE, note->error_message);
    convention_reason_find(&facts, &reason, &category);
    return category;
}

void convention_history_read(const struct convention_letter *letter, struct envelope *envelope,
                             struct arena *arena) {
    struct json history;
    uint32_t place = 0;
    if (!json_get(letter->body, "history", &history) || history.type != JSON_ARRAY)
        return;
    for (struct json_walk walk = json_walk(history); json_step(&walk);) {
        if (walk.value.type != JSON_OBJECT)
            continue;
        place++;
        struct envelope_note note = {.attempt = number_of(walk.value, place),
                                     .at = WALL_NEVER,
                                     .counted = true,
                                     .verdict = VERDICT_DLQ,
                                     .error_type = text_of(walk.value, "err", arena),
                                     .error_message = text_of(walk.value, "msg", arena),
                                     .delay_ms = -1};
        if (bytes_is(text_of(walk.value, "class", arena), "transient"))
            note.verdict = VERDICT_RETRY;
        note.category = category_of(letter, &note, arena);
        envelope_note(envelope, arena, &note);
    }
}
