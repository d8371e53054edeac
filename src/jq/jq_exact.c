#include "jq/jq_exact.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/ascii.h"
#include "base/json.h"
#include "jq/jq_number.h"

enum {
    MARK_TELLTALE = 8, /* jq clips values in its errors: so much of a mark is always left */
    PATH_MAX_BYTES = 200,
    NUMBER_SHOWN_MAX = 80,
};

/* Functions of text, with 0 to 3 arguments: a number is no text to them, nor is it a pattern. */
#define OF_TEXT_0(f) "def _im_" f ": " f "; def " f ": _im_text | _im_" f ";"
#define OF_TEXT_1(f)                                                                               \
    "def _im_" f "(a): " f "(a); def " f "(a): (a | _im_text) as $a | _im_text | _im_" f "($a);"
#define OF_TEXT_2(f)                                                                               \
    "def _im_" f "(a; b): " f "(a; b);"                                                            \
    "def " f "(a; b): (a | _im_text) as $a | _im_text | _im_" f "($a; b);"
#define OF_TEXT_3(f)                                                                               \
    "def _im_" f "(a; b; c): " f "(a; b; c);"                                                      \
    "def " f "(a; b; c): (a | _im_text) as $a | _im_text | _im_" f "($a; b; c);"

/* '~' stands for the mark. Operators are calls of _plus and so on, so a definition of that name
 * takes their place. `b` before `a` is the order in which jq itself runs the two sides. */
static const char prelude[] =
    "def _im_type: type; def _im_json: tojson; def _im_format(f): format(f);"
    "def _im_length: length; def _im_tonumber: tonumber; def _im_sort: sort;"
    "def _im_sort_by(f): sort_by(f); def _im_min: min; def _im_max: max;"
    "def _im_min_by(f): min_by(f); def _im_max_by(f): max_by(f);"
    "def _im_big: (_im_type == \"string\") and startswith(\"~\") and endswith(\"~\");"
    "def _im_any: any(..; _im_big);"
    "def _im_strip: if _im_big then .[16:-16] else . end;"
    "def _im_refuse: error(\"computes with \" + .);"
    "def _im_refuse_any: if _im_any then (first(.. | select(_im_big)) | _im_refuse) else . end;"
    "def _im_literal(f): f;"
    "def _im_pair(a; b): b as $b | a as $a | ([$a, $b][] | select(_im_big) | _im_refuse), [$a, $b];"
    "def _im_unquote: split(\"\\\"~\") | .[0] + ([.[1:][] | split(\"~\\\"\") | .[0] + (.[1:] | "
    "join(\"~\\\"\"))] | add // \"\");"
    "def _im_plus(a; b): b as $b | a as $a | if $a == null then $b elif $b == null then $a "
    "else (_im_pair($a; $b) | .[0] + .[1]) end;"
    "def _im_minus(a; b): _im_pair(a; b) | .[0] - .[1];"
    "def _im_multiply(a; b): _im_pair(a; b) | .[0] * .[1];"
    "def _im_divide(a; b): _im_pair(a; b) | .[0] / .[1];"
    "def _im_mod(a; b): _im_pair(a; b) | .[0] % .[1];"
    "def _im_less(a; b): _im_pair(a; b) | .[0] < .[1];"
    "def _im_lesseq(a; b): _im_pair(a; b) | .[0] <= .[1];"
    "def _im_greater(a; b): _im_pair(a; b) | .[0] > .[1];"
    "def _im_greatereq(a; b): _im_pair(a; b) | .[0] >= .[1];"
    "def _im_negate: if _im_big then (_im_strip | if startswith(\"-\") then .[1:] "
    "else \"-\" + . end | \"~\" + . + \"~\") else -. end;"
    "def _plus(a; b): _im_plus(a; b); def _minus(a; b): _im_minus(a; b);"
    "def _multiply(a; b): _im_multiply(a; b); def _divide(a; b): _im_divide(a; b);"
    "def _mod(a; b): _im_mod(a; b); def _less(a; b): _im_less(a; b);"
    "def _lesseq(a; b): _im_lesseq(a; b); def _greater(a; b): _im_greater(a; b);"
    "def _greatereq(a; b): _im_greatereq(a; b); def _negate: _im_negate;"
    "def type: if _im_big then \"number\" else _im_type end;"
    "def numbers: select(type == \"number\"); def strings: select(type == \"string\");"
    "def tojson: _im_json | _im_unquote;"
    "def tostring: if type == \"string\" then . else tojson end;"
    "def format(f): f as $f | if $f == \"text\" then tostring elif $f == \"json\" then tojson "
    "elif _im_big then (_im_strip | _im_format($f)) else (_im_refuse_any | _im_format($f)) end;"
    "def tonumber: if _im_big then . else _im_tonumber end;"
    "def length: if _im_big then _im_refuse else _im_length end;"
    "def add: reduce .[] as $x (null; . + $x);"
    "def join($x): reduce .[] as $i (null; (if . == null then \"\" else . + $x end) + "
    "($i | if . == null then \"\" elif type == \"string\" then . else tojson end)) // \"\";"
    "def sort: _im_refuse_any | _im_sort; def sort_by(f): (map(f) | _im_refuse_any) as $k | "
    "_im_sort_by(f); def min: _im_refuse_any | _im_min; def max: _im_refuse_any | _im_max;"
    "def min_by(f): (map(f) | _im_refuse_any) as $k | _im_min_by(f);"
    "def max_by(f): (map(f) | _im_refuse_any) as $k | _im_max_by(f);"
    "def _im_text: if _im_big then _im_refuse else . end;" /* clang-format off */
    OF_TEXT_0("ascii_downcase") OF_TEXT_0("ascii_upcase") OF_TEXT_0("explode")
    OF_TEXT_0("fromjson") OF_TEXT_0("utf8bytelength")
    OF_TEXT_1("startswith") OF_TEXT_1("endswith") OF_TEXT_1("split") OF_TEXT_1("splits")
    OF_TEXT_1("test") OF_TEXT_1("match") OF_TEXT_1("capture") OF_TEXT_1("scan")
    "def _im_index(a): index(a); def index(a): _im_text | _im_index(a);" /* of lists too */
    "def _im_rindex(a): rindex(a); def rindex(a): _im_text | _im_rindex(a);"
    OF_TEXT_2("test") OF_TEXT_2("match") OF_TEXT_2("capture") OF_TEXT_2("split")
    OF_TEXT_2("splits") OF_TEXT_2("sub") OF_TEXT_2("gsub")
    OF_TEXT_3("sub") OF_TEXT_3("gsub"); /* clang-format on */

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
    buf_printf(out, "\"%s", exact->mark);
    jq_number_put(number, out);
    buf_printf(out, "%s\"", exact->mark);
}

/* From `at`, the next number that is not plain; its length is 0 when there is none. */
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
    bool marked;
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

static void copy_word(struct lexer *lexer) {
    size_t end = lexer->at + 1;
    while (end < lexer->text.len && is_word(lexer->text.ptr[end]))
        end++;
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
    /* A call, because jq folds operators on literals before any definition is looked at. */
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

/* To the end, or behind the parenthesis that closes. */
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
    for (const char *at = prelude; *at; at++)
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

/* ---- what comes out ---- */

/* Whether the mark at the end of *out opens a string that is a value or a member's name. */
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
    struct bytes number; /* in its one spelling */
    struct buf path;
};

static bool is_number(struct json value, struct bytes number) {
    char text[NUMBER_SHOWN_MAX];
    struct buf spelled;
    buf_init_fixed(&spelled, text, sizeof text);
    if (value.type == JSON_NUMBER)
        jq_number_put(value.text, &spelled);
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

/* The number that the error shows whole, else the first one of the input. */
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
