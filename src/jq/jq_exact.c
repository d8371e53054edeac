/* jq_exact: marks numbers on the way into jq, and removes the marks on the way out. */
#include "jq/jq_exact.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/text/ascii.h"
#include "base/json/json.h"
#include "jq/jq_number.h"
#include "jq/jq_prelude.h"

enum {
    MARK_TELLTALE = 8, /* jq truncates values in its errors; this much of a mark always remains */
    PATH_MAX_BYTES = 200,
    NUMBER_SHOWN_MAX = 80,
};

void jq_exact_init(struct jq_exact *exact) {
    unsigned char random[JQ_EXACT_MARK / 2];
    ssize_t got = getrandom(random, sizeof random, 0);
    assert(got == (ssize_t)sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(exact->mark + 2 * i, 3, "%02x", random[i]);
}

static struct bytes mark_of(const struct jq_exact *exact) {
    return (struct bytes){exact->mark, JQ_EXACT_MARK};
}

/* ---- the input ---- */

static size_t string_end(struct bytes text, size_t at) {
    for (at++; at < text.len && text.ptr[at] != '"'; at++)
        if (text.ptr[at] == '\\')
            at++;
    return at < text.len ? at + 1 : text.len;
}

static void put_marked(const struct jq_exact *exact, struct bytes number, struct buf *out) {
    assert(number.len > 0);
    buf_printf(out, "\"%s", exact->mark);
    jq_number_put(number, out);
    buf_printf(out, "%s\"", exact->mark);
}

/* The next number from `at` on that is not plain; length 0: none. */
static struct bytes next_inexact(struct bytes text, size_t at) {
    while (at < text.len) {
        char c = text.ptr[at];
        if (c == '"') {
            at = string_end(text, at);
        } else if (c == '-' || ascii_is_digit(c)) {
            struct bytes rest = bytes_cut(text, at, text.len);
            struct bytes number = bytes_cut(rest, 0, jq_number_scan(rest));
            if (number.len > 0 && !jq_number_is_plain(number))
                return number;
            at += number.len ? number.len : 1;
        } else {
            at++;
        }
    }
    return BYTES_NONE;
}

bool jq_exact_input(const struct jq_exact *exact, struct bytes input, struct buf *out) {
    size_t done = 0;
    for (struct bytes number = next_inexact(input, 0); number.len > 0;
         number = next_inexact(input, done)) {
        size_t at = (size_t)(number.ptr - input.ptr);
        buf_bytes(out, bytes_cut(input, done, at));
        put_marked(exact, number, out);
        done = at + number.len;
    }
    if (done == 0)
        return false;
    buf_bytes(out, bytes_cut(input, done, input.len));
    return true;
}

/* ---- the program ---- */

struct lexer {
    const struct jq_exact *exact;
    struct bytes text;
    size_t at;
    struct buf *out;
    bool marked; /* there may be marked numbers, even if the input has none */
};

static bool is_word(char c) {
    return ascii_is_alnum(c) || c == '_';
}

static void copy_to(struct lexer *lexer, size_t end) {
    buf_bytes(lexer->out, bytes_cut(lexer->text, lexer->at, end));
    lexer->at = end < lexer->text.len ? end : lexer->text.len;
}

static void copy_expression(struct lexer *lexer, bool to_paren);

/* A string with its interpolations, "a\(.b)c". */
static void copy_string(struct lexer *lexer) {
    copy_to(lexer, lexer->at + 1);
    while (lexer->at < lexer->text.len) {
        char c = lexer->text.ptr[lexer->at];
        bool escape = c == '\\' && lexer->at + 1 < lexer->text.len;
        bool opens = escape && lexer->text.ptr[lexer->at + 1] == '(';
        copy_to(lexer, lexer->at + (escape ? 2 : 1));
        if (opens)
            copy_expression(lexer, true);
        if (c == '"')
            return;
    }
}

/* Two of jq's functions make numbers from text, which may need marks. */
static void copy_word(struct lexer *lexer) {
    size_t end = lexer->at + 1;
    while (end < lexer->text.len && is_word(lexer->text.ptr[end]))
        end++;
    struct bytes word = bytes_cut(lexer->text, lexer->at, end);
    lexer->marked = lexer->marked || bytes_is(word, "tonumber") || bytes_is(word, "fromjson");
    copy_to(lexer, end);
}

static void copy_comment(struct lexer *lexer) {
    struct bytes rest = bytes_cut(lexer->text, lexer->at, lexer->text.len);
    copy_to(lexer, lexer->at + bytes_find(rest, BYTES("\n")));
}

static void copy_number(struct lexer *lexer) {
    struct bytes rest = bytes_cut(lexer->text, lexer->at, lexer->text.len);
    struct bytes number = bytes_cut(rest, 0, jq_number_scan(rest));
    if (jq_number_is_plain(number)) {
        copy_to(lexer, lexer->at + number.len);
        return;
    }
    /* A call, because jq folds operators on literals before it resolves definitions. */
    buf_str(lexer->out, "_im_literal(");
    put_marked(lexer->exact, number, lexer->out);
    buf_str(lexer->out, ")");
    lexer->at += number.len;
    lexer->marked = true;
}

static bool number_starts(const struct lexer *lexer) {
    struct bytes rest = bytes_cut(lexer->text, lexer->at, lexer->text.len);
    return rest.ptr[0] != '-' && jq_number_scan(rest) > 0;
}

/* Copies up to the end, or to the closing parenthesis. */
static void copy_expression(struct lexer *lexer, bool to_paren) {
    while (lexer->at < lexer->text.len) {
        char c = lexer->text.ptr[lexer->at];
        if (c == '"') {
            copy_string(lexer);
        } else if (c == '#') {
            copy_comment(lexer);
        } else if (c == '(') {
            copy_to(lexer, lexer->at + 1);
            copy_expression(lexer, true);
        } else if (number_starts(lexer)) {
            copy_number(lexer);
        } else if (is_word(c) || c == '.' || c == '$' || c == '@') {
            copy_word(lexer);
        } else {
            copy_to(lexer, lexer->at + 1);
            if (c == ')' && to_paren)
                return;
        }
    }
}

static void put_prelude(const struct jq_exact *exact, struct buf *out) {
    assert(strlen(exact->mark) == JQ_EXACT_MARK);
    for (const char *at = jq_prelude; *at; at++)
        if (*at == '~')
            buf_bytes(out, mark_of(exact));
        else
            buf_char(out, *at);
}

void jq_exact_program(const struct jq_exact *exact, struct bytes program, bool input_marked,
                      struct buf *out) {
    struct buf copy;
    buf_init_heap(&copy, out->max);
    struct lexer lexer = {.exact = exact, .text = program, .out = &copy};
    copy_expression(&lexer, false);
    if (lexer.marked || input_marked)
        put_prelude(exact, out);
    buf_bytes(out, buf_view(&copy));
    out->overflow = out->overflow || copy.overflow;
    buf_free(&copy);
}

/* ---- the output ---- */

/* Whether the mark at the end of *out starts a string that is a value or a member's name. */
static bool opens_string(const struct buf *out) {
    if (out->len == 0 || out->ptr[out->len - 1] != '"')
        return false;
    return out->len == 1 || strchr("[,:{", out->ptr[out->len - 2]) != NULL;
}

void jq_exact_output(const struct jq_exact *exact, struct bytes printed, struct buf *out) {
    struct bytes mark = mark_of(exact), rest = printed;
    for (size_t at; (at = bytes_find(rest, mark)) < rest.len;) {
        buf_bytes(out, bytes_cut(rest, 0, at));
        rest = bytes_cut(rest, at + mark.len, rest.len);
        struct bytes number = bytes_cut(rest, 0, bytes_find(rest, mark));
        struct bytes behind = bytes_cut(rest, number.len + mark.len, rest.len);
        bool closes = behind.len > 0 && behind.ptr[0] == '"';
        bool name = behind.len > 1 && behind.ptr[1] == ':';
        if (opens_string(out) && closes && !name) {
            out->len--;
            behind = bytes_cut(behind, 1, behind.len);
        }
        buf_bytes(out, number);
        rest = behind;
    }
    buf_bytes(out, rest);
}

/* ---- errors ---- */

struct search {
    struct bytes number; /* in canonical form */
    struct buf path;
};

/* Also true for a string, since tonumber makes a number of it. */
static bool is_number(struct json value, struct bytes number) {
    char text[NUMBER_SHOWN_MAX];
    struct buf spelled;
    struct bytes digits = value.text;
    buf_init_fixed(&spelled, text, sizeof text);
    if (value.type == JSON_STRING)
        digits = bytes_cut(digits, 1, digits.len - 1);
    if (digits.len > 0 && jq_number_scan(digits) == digits.len)
        jq_number_put(digits, &spelled);
    return spelled.len > 0 && bytes_eq(buf_view(&spelled), number);
}

static void put_step(struct buf *path, const struct json_walk *walk, size_t index) {
    bool simple = walk->key.len > 0;
    for (size_t i = 0; i < walk->key.len; i++)
        simple = simple && is_word(walk->key.ptr[i]);
    if (!walk->object)
        buf_printf(path, "[%zu]", index);
    else if (simple)
        buf_printf(path, ".%.*s", BYTES_ARG(walk->key));
    else
        buf_printf(path, "[\"%.*s\"]", BYTES_ARG(walk->key));
}

static bool find_path(struct search *search, struct json value) {
    if (is_number(value, search->number))
        return true;
    size_t index = 0, before = search->path.len;
    for (struct json_walk walk = json_walk(value); json_step(&walk); index++) {
        put_step(&search->path, &walk, index);
        if (find_path(search, walk.value))
            return true;
        search->path.len = before;
    }
    return false;
}

static void put_place(struct bytes number, struct bytes input, struct buf *out) {
    char memory[PATH_MAX_BYTES];
    struct search search = {.number = number};
    buf_init_fixed(&search.path, memory, sizeof memory);
    struct json value;
    if (json_parse(input, &value, NULL) == STATUS_OK && find_path(&search, value))
        buf_printf(out, " (at %.*s)", search.path.len ? (int)search.path.len : 1,
                   search.path.len ? search.path.ptr : ".");
}

/* The number that the error shows in full, otherwise the first one of the input. */
static struct bytes number_meant(const struct jq_exact *exact, struct bytes error,
                                 struct bytes input, struct buf *memory) {
    struct bytes mark = mark_of(exact);
    struct bytes rest = bytes_cut(error, bytes_find(error, mark) + mark.len, error.len);
    size_t end = bytes_find(rest, mark);
    if (end < rest.len)
        return bytes_cut(rest, 0, end);
    jq_number_put(next_inexact(input, 0), memory);
    return buf_view(memory);
}

void jq_exact_error(const struct jq_exact *exact, struct bytes error, struct bytes input,
                    struct buf *out) {
    struct bytes telltale = bytes_cut(mark_of(exact), 0, MARK_TELLTALE);
    if (bytes_find(error, telltale) == error.len) {
        buf_bytes(out, error);
        return;
    }
    char memory[NUMBER_SHOWN_MAX];
    struct buf spelled;
    buf_init_fixed(&spelled, memory, sizeof memory);
    struct bytes number = number_meant(exact, error, input, &spelled);
    buf_printf(out, "the program computes with %.*s, which a double cannot hold exactly",
               BYTES_ARG(bytes_clip(number, NUMBER_SHOWN_MAX)));
    put_place(number, input, out);
}
