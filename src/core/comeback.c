/* comeback: see the header. */
#include "core/comeback.h"

#include <assert.h>

static bool is_own(struct bytes name) {
    return bytes_eq_nocase(name, BYTES(COMEBACK_LETTER)) ||
           bytes_eq_nocase(name, BYTES(COMEBACK_REPLAYS)) ||
           bytes_eq_nocase(name, BYTES(COMEBACK_SOURCE_ID));
}

bool comeback_read(const struct rule_header *headers, size_t count, struct comeback *out) {
    uint64_t replays = 0;
    *out = (struct comeback){.letter = BYTES_NONE};
    for (size_t i = 0; i < count; i++) {
        if (bytes_eq_nocase(headers[i].name, BYTES(COMEBACK_LETTER)))
            out->letter = headers[i].value;
        else if (bytes_eq_nocase(headers[i].name, BYTES(COMEBACK_REPLAYS)) &&
                 !bytes_u64(headers[i].value, &replays))
            replays = 0;
    }
    out->replays = replays <= UINT32_MAX ? (uint32_t)replays : 0;
    return out->letter.len > 0 && out->replays > 0;
}

enum comeback_is comeback_judge(const struct comeback *comeback, const struct envelope *letter,
                                struct bytes queue, bool same_body) {
    if (!bytes_eq(letter->letter_id, comeback->letter) || !bytes_eq(letter->queue, queue) ||
        letter->replays < comeback->replays || !same_body)
        return COMEBACK_STRANGER;
    if (letter->replays > comeback->replays || !letter->to_origin)
        return COMEBACK_HELD;
    if (letter->state == STATE_REPLAYING)
        return COMEBACK_EARLY;
    bool sent = letter->state == STATE_RESOLVED && letter->resolution == RESOLUTION_REPLAYED;
    return sent ? COMEBACK_SAME : COMEBACK_HELD;
}

static size_t add_others(const struct rule_header *headers, size_t count, struct rule_header *out) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_own(headers[i].name))
            out[kept++] = headers[i];
    return kept;
}

static struct rule_header *new_headers(const struct envelope *envelope, struct arena *arena) {
    return arena_alloc(arena,
                       (envelope->header_count + COMEBACK_HEADERS) * sizeof(struct rule_header));
}

void comeback_join(struct envelope *letter, const struct envelope *came, struct arena *arena) {
    assert(letter != came);
    struct rule_header *headers = new_headers(came, arena);
    size_t count = add_others(came->headers, came->header_count, headers);
    for (size_t i = 0; i < letter->header_count; i++)
        if (bytes_eq_nocase(letter->headers[i].name, BYTES(COMEBACK_SOURCE_ID))) {
            headers[count++] = letter->headers[i];
            break;
        }
    letter->header_count = count;
    letter->headers = headers;
    letter->source = came->source;
    letter->key = came->key;
    letter->content_type = came->content_type;
    letter->to_origin = false;
}

size_t comeback_headers(const struct envelope *letter, struct arena *arena,
                        const struct rule_header **out) {
    assert(letter->letter_id.len > 0);
    struct rule_header *headers = new_headers(letter, arena);
    char number[COMEBACK_NUMBER_SIZE];
    struct buf text;
    size_t count = add_others(letter->headers, letter->header_count, headers);
    buf_init_fixed(&text, number, sizeof number);
    buf_printf(&text, "%u", (unsigned)letter->replays);
    headers[count++] = (struct rule_header){BYTES(COMEBACK_LETTER), letter->letter_id};
    headers[count++] =
        (struct rule_header){BYTES(COMEBACK_REPLAYS), arena_dup(arena, buf_view(&text))};
    *out = headers;
    return count;
}
