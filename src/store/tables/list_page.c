#include "store/tables/list_page.h"

#include <stdio.h>
#include <string.h>

enum { CURSOR_MAX = 64 };

bool list_page_by_death(const struct letters_query *query) {
    return query->letters || query->dlq.len > 0;
}

/* "d<dead_ms>.<seq>" or "s<seq>" */
static bool parse(struct bytes cursor, bool by_death, struct list_page_key *out) {
    uint64_t dead_ms = 0;
    if (cursor.len < 2 || cursor.ptr[0] != (by_death ? 'd' : 's'))
        return false;
    struct bytes rest = bytes_cut(cursor, 1, cursor.len);
    if (by_death) {
        size_t dot = bytes_find(rest, BYTES("."));
        if (!bytes_u64(bytes_cut(rest, 0, dot), &dead_ms) || dead_ms > INT64_MAX)
            return false;
        rest = bytes_cut(rest, dot + 1, rest.len);
    }
    out->dead_ms = (int64_t)dead_ms;
    return bytes_u64(rest, &out->seq) && out->seq <= INT64_MAX;
}

enum status list_page_cursor_parse(const struct letters_query *query, bool *has,
                                   struct list_page_key *out, struct err *err) {
    *has = query->cursor.len > 0;
    if (*has && !parse(query->cursor, list_page_by_death(query), out))
        return err_set(err, STATUS_INVALID, "the cursor is not one of this list");
    return STATUS_OK;
}

struct bytes list_page_cursor(const struct letters_query *query, struct list_page_key last,
                              struct arena *arena) {
    char text[CURSOR_MAX];
    if (list_page_by_death(query))
        snprintf(text, sizeof text, "d%lld.%llu", (long long)last.dead_ms,
                 (unsigned long long)last.seq);
    else
        snprintf(text, sizeof text, "s%llu", (unsigned long long)last.seq);
    return arena_dup(arena, bytes_of(text));
}

static bool is_word_byte(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

enum status list_page_words(struct bytes text, struct bytes words[LIST_PAGE_WORDS_MAX],
                            size_t *count, struct err *err) {
    *count = 0;
    for (size_t i = 0; i < text.len && *count < LIST_PAGE_WORDS_MAX;) {
        size_t from = i;
        while (i < text.len && is_word_byte(text.ptr[i]))
            i++;
        if (i > from)
            words[(*count)++] = bytes_cut(text, from, i);
        else
            i++;
    }
    if (*count == 0)
        return err_set(err, STATUS_INVALID, "there is no word to search for in \"%.*s\"",
                       BYTES_ARG(text));
    return STATUS_OK;
}
