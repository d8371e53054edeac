/* json: the reading half of json.h. */
#include "base/json/json.h"

#include <assert.h>
#include <string.h>

#include "base/text/ascii.h"

struct json_scan {
    const char *at;
    const char *end;
    const char *wrong; /* the first error */
};

static bool fail(struct json_scan *s, const char *why) {
    if (!s->wrong)
        s->wrong = why;
    return false;
}

static void skip_space(struct json_scan *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool scan_escape(struct json_scan *s) {
    if (s->at == s->end)
        return fail(s, "a string does not end");
    char c = *s->at++;
    if (c != 'u')
        return c != '\0' && strchr("\"\\/bfnrt", c) ? true
                                                    : fail(s, "an escape that JSON does not have");
    for (int i = 0; i < 4; i++, s->at++)
        if (s->at == s->end || !ascii_is_hex(*s->at))
            return fail(s, "\\u needs four hex digits");
    return true;
}

enum { PLAIN_WORD = 16, PLAIN_STRIDE = 4 * PLAIN_WORD };
typedef signed char plain_word __attribute__((vector_size(PLAIN_WORD)));

/* Nonzero where a byte is not plain ASCII text: a quote, an escape, a control character, or a byte
 * of a multi-byte character (negative as a signed char). */
static plain_word odd_in_word(const char *at) {
    plain_word word;
    memcpy(&word, at, sizeof word);
    return (plain_word)((word < 0x20) | (word == '"') | (word == '\\'));
}

static bool is_odd(char c) {
    return (signed char)c < 0x20 || c == '"' || c == '\\';
}

/* Unrolled by hand: compilers do not unroll this loop. */
static plain_word odd_in_stride(const char *at) {
    return (odd_in_word(at) | odd_in_word(at + PLAIN_WORD)) |
           (odd_in_word(at + 2 * PLAIN_WORD) | odd_in_word(at + 3 * PLAIN_WORD));
}

static bool is_plain(plain_word odd) {
    uint64_t halves[sizeof odd / sizeof(uint64_t)];
    memcpy(halves, &odd, sizeof odd);
    return (halves[0] | halves[1]) == 0;
}

static void skip_plain(struct json_scan *s) {
    while (s->end - s->at >= PLAIN_STRIDE && is_plain(odd_in_stride(s->at)))
        s->at += PLAIN_STRIDE;
    while (s->end - s->at >= PLAIN_WORD && is_plain(odd_in_word(s->at)))
        s->at += PLAIN_WORD;
    while (s->at < s->end && !is_odd(*s->at))
        s->at++;
}

static bool scan_string(struct json_scan *s) {
    const char *start = ++s->at;
    bool ascii = true;
    for (skip_plain(s); s->at < s->end && *s->at != '"'; skip_plain(s)) {
        if ((unsigned char)*s->at < 0x20)
            return fail(s, "a control character inside a string (write it as an escape)");
        ascii &= (unsigned char)*s->at < 0x80;
        if (*s->at++ == '\\' && !scan_escape(s))
            return false;
    }
    if (s->at == s->end)
        return fail(s, "a string does not end");
    if (!ascii && !bytes_is_utf8((struct bytes){start, (size_t)(s->at - start)})) {
        s->at = start;
        return fail(s, "a string that is not UTF-8");
    }
    s->at++;
    return true;
}

static bool scan_digits(struct json_scan *s) {
    const char *start = s->at;
    while (s->at < s->end && ascii_is_digit(*s->at))
        s->at++;
    return s->at > start ? true : fail(s, "a digit is missing in a number");
}

static bool scan_number(struct json_scan *s) {
    if (*s->at == '-')
        s->at++;
    if (s->at < s->end && *s->at == '0')
        s->at++;
    else if (!scan_digits(s))
        return false;
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!scan_digits(s))
            return false;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        return scan_digits(s);
    }
    return true;
}

static bool scan_word(struct json_scan *s, struct bytes word) {
    if (!bytes_starts((struct bytes){s->at, (size_t)(s->end - s->at)}, word))
        return fail(s, "a value was expected here");
    s->at += word.len;
    return true;
}

static bool scan_scalar(struct json_scan *s) {
    switch (*s->at) {
    case '"':
        return scan_string(s);
    case 't':
        return scan_word(s, BYTES("true"));
    case 'f':
        return scan_word(s, BYTES("false"));
    case 'n':
        return scan_word(s, BYTES("null"));
    default:
        if (*s->at == '-' || ascii_is_digit(*s->at))
            return scan_number(s);
        return fail(s, "a value was expected here");
    }
}

static bool scan_key(struct json_scan *s) {
    skip_space(s);
    if (s->at == s->end || *s->at != '"')
        return fail(s, "a member name in double quotes was expected here");
    if (!scan_string(s))
        return false;
    skip_space(s);
    if (s->at == s->end || *s->at != ':')
        return fail(s, "a colon was expected here");
    s->at++;
    return true;
}

/* One pass with the open brackets on a small explicit stack, so that hostile nesting uses no
 * machine stack. */
static bool scan_value(struct json_scan *s) {
    char open[JSON_DEPTH_MAX];
    size_t depth = 0;
    for (;;) {
        skip_space(s);
        if (s->at == s->end)
            return fail(s, "a value was expected, but the text ends");
        if (*s->at == '{' || *s->at == '[') {
            if (depth == JSON_DEPTH_MAX)
                return fail(s, "brackets nested deeper than 256");
            char bracket = *s->at++;
            open[depth++] = bracket;
            skip_space(s);
            if (s->at == s->end || *s->at != (bracket == '{' ? '}' : ']')) {
                if (bracket == '{' && !scan_key(s))
                    return false;
                continue;
            }
        } else if (!scan_scalar(s)) {
            return false;
        }
        for (;;) { /* a value has just ended, or an empty bracket may end */
            if (depth == 0)
                return true;
            skip_space(s);
            if (s->at == s->end)
                return fail(s, "a bracket is not closed");
            if (*s->at == ',') {
                s->at++;
                if (open[depth - 1] == '{' && !scan_key(s))
                    return false;
                break;
            }
            if (*s->at != (open[depth - 1] == '{' ? '}' : ']'))
                return fail(s, "a comma or a closing bracket was expected here");
            s->at++;
            depth--;
        }
    }
}

static enum json_type type_of(char first) {
    switch (first) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
        return JSON_TRUE;
    case 'f':
        return JSON_FALSE;
    case 'n':
        return JSON_NULL;
    default:
        return JSON_NUMBER;
    }
}

static enum status syntax_error(struct bytes text, const struct json_scan *s, struct err *err) {
    size_t line = 1, column = 1;
    for (const char *p = text.ptr; p < s->at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    return err_set(err, STATUS_INVALID, "not JSON: line %zu, column %zu: %s", line, column,
                   s->wrong);
}

enum status json_parse(struct bytes text, struct json *out, struct err *err) {
    if (!text.ptr) /* arithmetic on NULL is undefined */
        text = BYTES("");
    struct json_scan s = {text.ptr, text.ptr + text.len, NULL};
    skip_space(&s);
    const char *start = s.at;
    if (!scan_value(&s))
        return syntax_error(text, &s, err);
    out->text = (struct bytes){start, (size_t)(s.at - start)};
    out->type = type_of(*start);
    skip_space(&s);
    if (s.at == s.end)
        return STATUS_OK;
    fail(&s, "something follows the value");
    return syntax_error(text, &s, err);
}

struct json_walk json_walk(struct json container) {
    struct json_walk walk = {.object = container.type == JSON_OBJECT};
    if (container.type == JSON_OBJECT || container.type == JSON_ARRAY)
        walk.rest = bytes_cut(container.text, 1, container.text.len - 1);
    return walk;
}

bool json_step(struct json_walk *walk) {
    if (walk->rest.len == 0)
        return false;
    struct json_scan s = {walk->rest.ptr, walk->rest.ptr + walk->rest.len, NULL};
    skip_space(&s);
    if (s.at == s.end)
        return false;
    if (walk->object) {
        const char *key = s.at + 1;
        scan_string(&s);
        walk->key = (struct bytes){key, (size_t)(s.at - 1 - key)};
        skip_space(&s);
        s.at++;
        skip_space(&s);
    }
    const char *start = s.at;
    bool ok = scan_value(&s);
    assert(ok);
    walk->value = (struct json){type_of(*start), {start, (size_t)(s.at - start)}};
    skip_space(&s);
    if (s.at < s.end)
        s.at++; /* the comma */
    walk->rest = (struct bytes){s.at, (size_t)(s.end - s.at)};
    return true;
}

static int hex_value(char c) {
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static unsigned four_hex(const char *p) {
    return (unsigned)(hex_value(p[0]) << 12 | hex_value(p[1]) << 8 | hex_value(p[2]) << 4 |
                      hex_value(p[3]));
}

static size_t put_utf8(char *to, unsigned c) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3F));
    to[2] = (char)(0x80 | (c >> 6 & 0x3F));
    to[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

enum { REPLACEMENT = 0xFFFD };

/* The character of the \u escape at p, joining surrogate pairs; a lone surrogate becomes U+FFFD. */
static unsigned unicode_escape(const char **p, const char *end) {
    unsigned c = four_hex(*p);
    *p += 4;
    if (c < 0xD800 || c > 0xDFFF)
        return c;
    if (c < 0xDC00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        unsigned low = four_hex(*p + 2);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            *p += 6;
            return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return REPLACEMENT;
}

bool json_has_lone_surrogate(struct json string) {
    const char *end = string.text.ptr + string.text.len;
    for (const char *p = string.text.ptr; p < end;) {
        if (*p++ != '\\' || *p++ != 'u')
            continue;
        bool replaced = four_hex(p) != REPLACEMENT;
        if (unicode_escape(&p, end) == REPLACEMENT && replaced)
            return true;
    }
    return false;
}

bool json_unescape(struct bytes raw, struct arena *arena, struct bytes *out) {
    if (bytes_find(raw, BYTES("\\")) == raw.len) {
        *out = raw;
        return true;
    }
    char *to = arena_alloc(arena, raw.len + 1);
    if (!to)
        return false;
    size_t n = 0;
    for (const char *p = raw.ptr, *end = raw.ptr + raw.len; p < end;) {
        if (*p != '\\') {
            to[n++] = *p++;
            continue;
        }
        p++;
        char c = *p++;
        static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
        const char *named = c ? strchr(from, c) : NULL;
        if (c == 'u')
            n += put_utf8(to + n, unicode_escape(&p, end));
        else
            to[n++] = named ? into[named - from] : c;
    }
    *out = (struct bytes){to, n};
    return true;
}

bool json_key_is(struct bytes raw_key, const char *name) {
    if (bytes_is(raw_key, name))
        return true;
    if (raw_key.len == 0 || !memchr(raw_key.ptr, '\\', raw_key.len))
        return false;
    char memory[256];
    struct arena arena;
    struct bytes key;
    arena_init_fixed(&arena, memory, sizeof memory);
    return json_unescape(raw_key, &arena, &key) && bytes_is(key, name);
}

bool json_get(struct json object, const char *name, struct json *out) {
    bool found = false;
    if (object.type != JSON_OBJECT)
        return false;
    for (struct json_walk walk = json_walk(object); json_step(&walk);) {
        if (json_key_is(walk.key, name)) {
            *out = walk.value;
            found = true;
        }
    }
    return found;
}

bool json_string(struct json value, struct arena *arena, struct bytes *out) {
    return value.type == JSON_STRING &&
           json_unescape(bytes_cut(value.text, 1, value.text.len - 1), arena, out);
}

/* 5.0 is a whole number, as in JSON Schema: some languages write every number so. */
static struct bytes without_zero_fraction(struct bytes number) {
    size_t dot = bytes_find(number, BYTES("."));
    for (size_t i = dot + 1; i < number.len; i++)
        if (number.ptr[i] != '0')
            return number;
    return bytes_cut(number, 0, dot);
}

bool json_i64(struct json value, int64_t *out) {
    if (value.type != JSON_NUMBER)
        return false;
    bool negative = value.text.ptr[0] == '-';
    struct bytes digits = without_zero_fraction(bytes_cut(value.text, negative, value.text.len));
    uint64_t size;
    if (!bytes_u64(digits, &size))
        return false;
    if (size > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

bool json_bool(struct json value, bool *out) {
    *out = value.type == JSON_TRUE;
    return value.type == JSON_TRUE || value.type == JSON_FALSE;
}

const char *json_type_name(enum json_type type) {
    static const char *const names[] = {"null",     "false",    "true",     "a number",
                                        "a string", "an array", "an object"};
    return names[type];
}
