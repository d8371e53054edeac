#include "table.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"

enum { FILE_MAX = 1 << 20, ANSWER_MAX = 4096 };

void table_bad(const char *what, struct bytes text) {
    fprintf(stderr, "not %s: '%.*s'\n", what, BYTES_ARG(text));
    exit(2);
}

int64_t table_number(struct bytes text) {
    uint64_t number;
    if (!bytes_u64(text, &number) || number > INT64_MAX)
        table_bad("a number", text);
    return (int64_t)number;
}

int64_t table_duration(struct bytes text) {
    int64_t ms;
    if (!duration_parse(text, &ms))
        table_bad("a duration", text);
    return ms;
}

bool table_split(struct bytes text, char at, struct bytes *left, struct bytes *right) {
    size_t place = bytes_find(text, (struct bytes){&at, 1});
    *left = bytes_cut(text, 0, place);
    *right = bytes_cut(text, place + 1, text.len);
    return place < text.len;
}

bool table_word(struct bytes *rest, struct bytes *key, struct bytes *value) {
    *rest = bytes_trim(*rest);
    if (rest->len == 0)
        return false;
    size_t end = 0;
    bool quoted = false;
    for (; end < rest->len && (quoted || rest->ptr[end] != ' '); end++)
        if (rest->ptr[end] == '"')
            quoted = !quoted;
    table_split(bytes_cut(*rest, 0, end), '=', key, value);
    if (value->len >= 2 && value->ptr[0] == '"')
        *value = bytes_cut(*value, 1, value->len - 1);
    *rest = bytes_cut(*rest, end, rest->len);
    return true;
}

static bool next_line(struct bytes *rest, struct bytes *line) {
    while (bytes_line(rest, line)) {
        *line = bytes_trim(*line);
        if (line->len && line->ptr[0] != '#')
            return true;
    }
    return false;
}

static bool passes(const struct table_case *c, table_answer *answer) {
    char memory[ANSWER_MAX];
    struct buf actual;
    buf_init_fixed(&actual, memory, sizeof memory);
    answer(c, &actual);
    if (bytes_eq(buf_view(&actual), c->wanted))
        return true;
    fprintf(stderr, "FAILED  %.*s\n  given:  %.*s\n  wanted: %.*s\n  actual: %.*s\n",
            BYTES_ARG(c->title), BYTES_ARG(c->given), BYTES_ARG(c->wanted),
            BYTES_ARG(buf_view(&actual)));
    return false;
}

static struct bytes read_all(const char *path) {
    static char memory[FILE_MAX];
    FILE *file = fopen(path, "r");
    if (!file)
        table_bad("a file", bytes_of(path));
    size_t len = fread(memory, 1, sizeof memory, file);
    fclose(file);
    return (struct bytes){memory, len};
}

int table_run(const char *path, size_t at_least, table_answer *answer) {
    struct bytes rest = read_all(path);
    struct table_case c;
    size_t count = 0, failed = 0;
    while (next_line(&rest, &c.title)) {
        if (!next_line(&rest, &c.given) || !next_line(&rest, &c.wanted))
            table_bad("a case of three lines", c.title);
        count++;
        failed += !passes(&c, answer);
    }
    printf("%zu cases, %zu failed\n", count, failed);
    return failed || count < at_least;
}
