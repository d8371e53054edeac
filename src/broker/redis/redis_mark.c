#include "broker/redis/redis_mark.h"

#include <stdio.h>

#include "core/comeback.h"

enum { MARK_SIZE = 128, LETTER_MAX = 64 };

/* A mark is part of names and scripts: nothing but what ids are made of. */
static bool is_plain(struct bytes letter) {
    for (size_t i = 0; i < letter.len; i++)
        if (letter.ptr[i] == '|' || letter.ptr[i] == ',' || letter.ptr[i] == ':')
            return false;
    return letter.len <= LETTER_MAX && bytes_is_printable(letter);
}

struct bytes redis_mark_of(const struct sink_item *item, struct arena *arena) {
    struct comeback comeback;
    char mark[MARK_SIZE];
    if (!comeback_read(item->headers, item->header_count, &comeback) || !is_plain(comeback.letter))
        return BYTES_NONE;
    snprintf(mark, sizeof mark, "%.*s:%u", BYTES_ARG(comeback.letter), (unsigned)comeback.replays);
    return arena_dup(arena, bytes_of(mark));
}

size_t redis_mark_headers(struct bytes *tag, struct arena *arena, const struct rule_header **out) {
    size_t bar = bytes_find(*tag, BYTES("|"));
    if (bar == tag->len)
        return 0;
    struct bytes mark = bytes_cut(*tag, bar + 1, tag->len);
    size_t colon = bytes_find(mark, BYTES(":"));
    struct rule_header *headers = arena_alloc(arena, COMEBACK_HEADERS * sizeof *headers);
    headers[0] =
        (struct rule_header){BYTES(COMEBACK_LETTER), arena_dup(arena, bytes_cut(mark, 0, colon))};
    headers[1] = (struct rule_header){BYTES(COMEBACK_REPLAYS),
                                      arena_dup(arena, bytes_cut(mark, colon + 1, mark.len))};
    *tag = bytes_cut(*tag, 0, bar);
    *out = headers;
    return COMEBACK_HEADERS;
}
