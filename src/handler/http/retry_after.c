/* retry_after: parsers of delays. See the header. */
#include "handler/http/retry_after.h"

#include "base/text/ascii.h"

enum {
    FRACTION_DIGITS_MAX = 9,        /* further digits are dropped */
    RESET_NAME_MAX = 128,           /* longer header names are ignored */
    UNIX_SECONDS_FROM = 1000000000, /* larger numbers are Unix times … */
};
#define WHOLE_MAX    INT64_C(1000000000000000) /* of a number */
#define UNIX_MS_FROM INT64_C(100000000000)     /* … and from here on in milliseconds */

/* ---- numbers and durations ---- */

struct seconds_text {
    int64_t whole; /* at most WHOLE_MAX */
    int64_t nanos;
};

static bool take_digit(struct bytes *rest, int *digit) {
    if (rest->len == 0 || !ascii_is_digit(rest->ptr[0]))
        return false;
    *digit = rest->ptr[0] - '0';
    *rest = bytes_cut(*rest, 1, rest->len);
    return true;
}

/* "34", "34.07"; false when `rest` does not begin with a digit. */
static bool take_decimal(struct bytes *rest, struct seconds_text *out) {
    int digit;
    *out = (struct seconds_text){0};
    if (!take_digit(rest, &digit))
        return false;
    do {
        out->whole = out->whole * 10 + digit;
        if (out->whole > WHOLE_MAX)
            out->whole = WHOLE_MAX;
    } while (take_digit(rest, &digit));
    if (rest->len < 2 || rest->ptr[0] != '.' || !ascii_is_digit(rest->ptr[1]))
        return true;
    *rest = bytes_cut(*rest, 1, rest->len);
    int64_t place = 100000000;
    for (int i = 0; take_digit(rest, &digit); i++) {
        out->nanos += i < FRACTION_DIGITS_MAX ? digit * place : 0;
        place /= 10;
    }
    return true;
}

static int64_t plus(int64_t a, int64_t b) {
    return a < INT64_MAX - b ? a + b : INT64_MAX;
}

/* In units of `unit_ns`; rounded up to a millisecond. */
static int64_t decimal_ms(struct seconds_text number, int64_t unit_ns) {
    double ns = ((double)number.whole + (double)number.nanos / 1e9) * (double)unit_ns;
    if (ns >= 9e18) /* more than an int64_t holds */
        return INT64_MAX;
    int64_t whole_ns = (int64_t)(ns + 0.5);
    return whole_ns / 1000000 + (whole_ns % 1000000 > 0);
}

#define SECOND_NS INT64_C(1000000000)

/* Longer names first, where one begins with another. */
static const struct {
    struct bytes name;
    int64_t ns;
} units[] = {
    {BYTES("milliseconds"), 1000000},
    {BYTES("millisecond"), 1000000},
    {BYTES("minutes"), 60 * SECOND_NS},
    {BYTES("minute"), 60 * SECOND_NS},
    {BYTES("mins"), 60 * SECOND_NS},
    {BYTES("min"), 60 * SECOND_NS},
    {BYTES("ms"), 1000000},
    {BYTES("m"), 60 * SECOND_NS},
    {BYTES("seconds"), SECOND_NS},
    {BYTES("second"), SECOND_NS},
    {BYTES("secs"), SECOND_NS},
    {BYTES("sec"), SECOND_NS},
    {BYTES("s"), SECOND_NS},
    {BYTES("hours"), 3600 * SECOND_NS},
    {BYTES("hour"), 3600 * SECOND_NS},
    {BYTES("h"), 3600 * SECOND_NS},
    {BYTES("days"), 86400 * SECOND_NS},
    {BYTES("day"), 86400 * SECOND_NS},
    {BYTES("d"), 86400 * SECOND_NS},
    {BYTES("us"), 1000},
    {BYTES("\xc2\xb5s"), 1000},
    {BYTES("ns"), 1},
};

/* A unit must be a whole word: "m" is not the start of "maybe". */
static bool take_unit(struct bytes *rest, int64_t *ns) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct bytes name = units[i].name, after = bytes_cut(*rest, name.len, rest->len);
        bool ends =
            after.len == 0 || (!ascii_is_alnum(after.ptr[0]) || ascii_is_digit(after.ptr[0]));
        if (!ends || !bytes_eq_nocase(bytes_cut(*rest, 0, name.len), name))
            continue;
        *ns = units[i].ns;
        *rest = after;
        return true;
    }
    return false;
}

static struct bytes skip_spaces(struct bytes text) {
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = bytes_cut(text, 1, text.len);
    return text;
}

/* "1h2m3.5s", "26 seconds", "1 minute 5 seconds" at the beginning of *rest. */
static bool take_duration(struct bytes *rest, int64_t *ms) {
    bool any = false;
    *ms = 0;
    for (;;) {
        struct bytes at = skip_spaces(*rest);
        struct seconds_text number;
        int64_t unit_ns;
        if (!take_decimal(&at, &number))
            return any;
        at = skip_spaces(at);
        if (!take_unit(&at, &unit_ns))
            return any;
        *ms = plus(*ms, decimal_ms(number, unit_ns));
        *rest = at;
        any = true;
    }
}

bool retry_after_duration(struct bytes text, int64_t *ms) {
    return take_duration(&text, ms) && text.len == 0;
}

/* A bare number, in units of `unit_ns`. */
static bool parse_number(struct bytes text, int64_t unit_ns, int64_t *ms) {
    struct seconds_text number;
    if (!take_decimal(&text, &number) || text.len != 0)
        return false;
    *ms = decimal_ms(number, unit_ns);
    return true;
}

static int64_t until(struct wall at, struct wall now) {
    return at.ms > now.ms ? at.ms - now.ms : 0;
}

static bool parse_date(struct bytes text, struct wall now, int64_t *ms) {
    struct wall at;
    if (!wall_parse(text, &at) && !wall_parse_http(text, &at))
        return false;
    *ms = until(at, now);
    return true;
}

/* ---- headers ---- */

static struct bytes find(const struct rule_header *headers, size_t count, struct bytes name) {
    for (size_t i = 0; i < count; i++)
        if (bytes_eq_nocase(headers[i].name, name))
            return bytes_trim(headers[i].value);
    return BYTES_NONE;
}

int64_t retry_after_headers(const struct rule_header *headers, size_t count, struct wall now) {
    static const char *const fine[] = {"retry-after-ms", "x-ms-retry-after-ms"};
    int64_t ms;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (parse_number(find(headers, count, bytes_of(fine[i])), 1000000, &ms))
            return ms;
    struct bytes text = find(headers, count, BYTES("Retry-After"));
    if (parse_number(text, SECOND_NS, &ms) || retry_after_duration(text, &ms) ||
        parse_date(text, now, &ms))
        return ms;
    return -1;
}

/* A number may be seconds from now, a Unix time, or that in milliseconds. */
static bool parse_reset(struct bytes text, struct wall now, int64_t *ms) {
    struct bytes rest = text;
    struct seconds_text number;
    if (retry_after_duration(text, ms) || parse_date(text, now, ms))
        return true;
    if (!take_decimal(&rest, &number) || rest.len != 0)
        return false;
    if (number.whole >= UNIX_MS_FROM)
        *ms = until((struct wall){number.whole}, now);
    else if (number.whole >= UNIX_SECONDS_FROM)
        *ms = until((struct wall){number.whole * 1000}, now);
    else
        *ms = decimal_ms(number, SECOND_NS);
    return true;
}

/* Position of "reset" as a part of a rate-limit header's name; name.len: none. */
static size_t find_reset(struct bytes name) {
    struct bytes word = BYTES("reset");
    if (name.len > RESET_NAME_MAX || (!bytes_has_nocase(name, BYTES("ratelimit")) &&
                                      !bytes_has_nocase(name, BYTES("rate-limit"))))
        return name.len;
    for (size_t at = 1; at + word.len <= name.len; at++) {
        size_t end = at + word.len;
        if (bytes_eq_nocase(bytes_cut(name, at, end), word) && name.ptr[at - 1] == '-' &&
            (end == name.len || name.ptr[end] == '-'))
            return at;
    }
    return name.len;
}

enum rest { REST_LEFT, REST_UNKNOWN, REST_NONE };

/* The remaining quota of the limit that `name` resets: the header with "remaining" in place of
 * "reset". */
static enum rest rest_of(const struct rule_header *headers, size_t count, struct bytes name,
                         size_t at) {
    char memory[RESET_NAME_MAX + 16];
    struct buf other;
    struct seconds_text left;
    buf_init_fixed(&other, memory, sizeof memory);
    buf_bytes(&other, bytes_cut(name, 0, at));
    buf_str(&other, "remaining");
    buf_bytes(&other, bytes_cut(name, at + sizeof "reset" - 1, name.len));
    struct bytes value = find(headers, count, buf_view(&other));
    if (!take_decimal(&value, &left))
        return value.len > 0 && value.ptr[0] == '-' ? REST_NONE : REST_UNKNOWN;
    return left.whole == 0 && left.nanos == 0 ? REST_NONE : REST_LEFT;
}

int64_t retry_after_resets(const struct rule_header *headers, size_t count, struct wall now) {
    int64_t latest = -1;
    enum rest least = REST_LEFT;
    for (size_t i = 0; i < count; i++) {
        int64_t ms;
        struct bytes name = headers[i].name;
        size_t at = find_reset(name);
        if (at == name.len || !parse_reset(bytes_trim(headers[i].value), now, &ms))
            continue;
        enum rest rest = rest_of(headers, count, name, at);
        if (rest < least)
            continue;
        if (rest > least || ms > latest)
            latest = ms;
        least = rest;
    }
    return latest;
}

/* ---- text ---- */

static size_t find_nocase(struct bytes text, struct bytes what) {
    for (size_t at = 0; at + what.len <= text.len; at++)
        if (bytes_eq_nocase(bytes_cut(text, at, at + what.len), what))
            return at;
    return text.len;
}

int64_t retry_after_text(struct bytes message) {
    static const char *const phrases[] = {"try again in ", "try again after ", "retry in ",
                                          "retry after "};
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        struct bytes phrase = bytes_of(phrases[i]);
        size_t at = find_nocase(message, phrase);
        struct bytes rest = bytes_cut(message, at + phrase.len, message.len);
        int64_t ms;
        if (at < message.len && take_duration(&rest, &ms))
            return ms;
    }
    return -1;
}
