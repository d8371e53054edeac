/* suggest: edit distance with swaps. */
#include "base/text/suggest.h"

/* A swap of neighbours needs the row before the last, so three rows are kept in rotation. */
enum { ROWS = 3, NEAR_SHARE = 3 };

static char fold(char c) {
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap neighbours) from one text to the other. */
static size_t distance(struct bytes a, struct bytes b) {
    size_t rows[ROWS][SUGGEST_WORD_MAX + 1];
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % ROWS], *above = rows[(i - 1) % ROWS];
        const size_t *two_above = rows[(i + 1) % ROWS];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = fold(a.ptr[i - 1]), y = fold(b.ptr[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold(b.ptr[j - 2]) && y == fold(a.ptr[i - 2]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a.len % ROWS][b.len];
}

static size_t allowed(struct bytes candidate) {
    size_t share = candidate.len / NEAR_SHARE;
    return share ? share : 1;
}

struct suggest suggest_for(struct bytes word) {
    return (struct suggest){.word = word, .distance = SIZE_MAX};
}

void suggest_try(struct suggest *suggest, struct bytes candidate) {
    struct bytes word = suggest->word;
    if (word.len == 0 || word.len > SUGGEST_WORD_MAX || candidate.len > SUGGEST_WORD_MAX)
        return;
    size_t away = distance(word, candidate);
    if (away <= allowed(candidate) && away < suggest->distance) {
        suggest->best = candidate;
        suggest->distance = away;
    }
}

const char *suggest_nearest(struct bytes word, const char *const *candidates, size_t count) {
    struct suggest suggest = suggest_for(word);
    for (size_t i = 0; i < count; i++)
        suggest_try(&suggest, bytes_of(candidates[i]));
    return suggest.best.ptr;
}
