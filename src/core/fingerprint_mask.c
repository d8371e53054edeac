/* fingerprint_mask: one pass over a text; at each position a short table of shapes is tried.
 *
 * Every shape is bounded in length or consumes what it examined, so the work is linear in the text.
 * Changing the masks changes stored fingerprints: raise FINGERPRINT_VERSION. */
#include "base/text/ascii.h"
#include "core/fingerprint.h"

#include <string.h>

enum {
    HEX_MIN = 8,          /* shorter runs of hex digits are words or numbers */
    ID_MIN = 16,          /* letters and digits mixed at least twice */
    LONG_ID_MIN = 32,     /* with any digit */
    EMAIL_LOCAL_MAX = 64, /* RFC 5321, 4.5.3.1 */
    EMAIL_DOMAIN_MAX = 255,
    IPV6_TEXT_MAX = 45,
};

static bool in_local_part(char c) {
    return ascii_is_alnum(c) || (c && strchr("._%+-", c));
}

static bool in_domain(char c) {
    return ascii_is_alnum(c) || c == '.' || c == '-';
}

static bool in_ipv6(char c) {
    return ascii_is_hex(c) || c == ':' || c == '.';
}

static char at(struct bytes text, size_t i) {
    return i < text.len ? text.ptr[i] : '\0';
}

static size_t run(struct bytes text, size_t from, size_t max, bool (*member)(char)) {
    size_t n = 0;
    while (n < max && from + n < text.len && member(text.ptr[from + n]))
        n++;
    return n;
}

/* The length of the start of `text` that has the pattern's shape: d a digit, x a hex digit,
 * anything else itself. 0: it does not. */
static size_t shape(struct bytes text, const char *pattern) {
    size_t i = 0;
    for (; pattern[i]; i++) {
        char c = at(text, i);
        bool fits = pattern[i] == 'd'   ? ascii_is_digit(c)
                    : pattern[i] == 'x' ? ascii_is_hex(c)
                                        : c == pattern[i];
        if (!fits)
            return 0;
    }
    return i;
}

/* Each of these returns the length of its match at the start of `text`, or 0. They are tried where
 * a word may start. */

static size_t match_uuid(struct bytes text) {
    size_t n = shape(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
    return ascii_is_alnum(at(text, n)) ? 0 : n;
}

static size_t fraction(struct bytes text, size_t from) {
    char point = at(text, from);
    if (point != '.' && point != ',')
        return 0;
    size_t n = run(text, from + 1, SIZE_MAX, ascii_is_digit);
    return n ? n + 1 : 0;
}

static size_t match_clock(struct bytes text) {
    size_t n = shape(text, "dd:dd:dd");
    return n ? n + fraction(text, n) : 0;
}

static size_t zone(struct bytes text) {
    static const char *const forms[] = {"Z", "+dd:dd", "-dd:dd", "+dddd", "-dddd", " UTC"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = shape(text, forms[i]);
        if (n)
            return n;
    }
    return 0;
}

static size_t match_timestamp(struct bytes text) {
    size_t n = shape(text, "dddd-dd-dd");
    if (n == 0)
        n = shape(text, "dddd/dd/dd");
    if (n == 0 || ascii_is_digit(at(text, n)))
        return 0;
    if (at(text, n) != 'T' && at(text, n) != ' ')
        return n;
    size_t clock = match_clock(bytes_cut(text, n + 1, text.len));
    if (clock == 0)
        return n;
    n += 1 + clock;
    return n + zone(bytes_cut(text, n, text.len));
}

static size_t match_email(struct bytes text) {
    size_t local = run(text, 0, EMAIL_LOCAL_MAX, in_local_part);
    if (local == 0 || at(text, local) != '@')
        return 0;
    size_t domain = run(text, local + 1, EMAIL_DOMAIN_MAX, in_domain);
    while (domain && !ascii_is_alnum(text.ptr[local + domain]))
        domain--; /* a full stop at the end of a sentence */
    struct bytes name = bytes_cut(text, local + 1, local + 1 + domain);
    return bytes_find(name, BYTES(".")) < name.len ? local + 1 + domain : 0;
}

static size_t match_ipv4(struct bytes text) {
    size_t n = 0;
    for (int octet = 0; octet < 4; octet++) {
        if (octet && at(text, n++) != '.')
            return 0;
        size_t width = run(text, n, 4, ascii_is_digit);
        if (width == 0 || width > 3)
            return 0;
        n += width;
    }
    return at(text, n) == '.' && ascii_is_digit(at(text, n + 1)) ? 0 : n;
}

static size_t match_ipv6(struct bytes text) {
    size_t n = run(text, 0, IPV6_TEXT_MAX + 1, in_ipv6);
    while (n && (text.ptr[n - 1] == '.' || (text.ptr[n - 1] == ':' && at(text, n - 2) != ':')))
        n--;
    if (n > IPV6_TEXT_MAX || ascii_is_alnum(at(text, n)))
        return 0;
    size_t colons = 0, digits = 0;
    for (size_t i = 0; i < n; i++) {
        colons += text.ptr[i] == ':';
        digits += ascii_is_digit(text.ptr[i]);
    }
    bool shortened = bytes_find(bytes_cut(text, 0, n), BYTES("::")) < n;
    return digits && (colons == 7 || (shortened && colons >= 2)) ? n : 0;
}

static size_t match_0x(struct bytes text) {
    if (at(text, 0) != '0' || (at(text, 1) != 'x' && at(text, 1) != 'X'))
        return 0;
    size_t n = run(text, 2, SIZE_MAX, ascii_is_hex);
    return n && !ascii_is_alnum(at(text, 2 + n)) ? 2 + n : 0;
}

struct census {
    size_t digits;
    size_t groups; /* runs of digits */
};

static struct census take_census(struct bytes word) {
    struct census census = {0, 0};
    for (size_t i = 0; i < word.len; i++) {
        if (!ascii_is_digit(word.ptr[i]))
            continue;
        census.digits++;
        census.groups += i == 0 || !ascii_is_digit(word.ptr[i - 1]);
    }
    return census;
}

static size_t match_hex(struct bytes text) {
    size_t n = run(text, 0, SIZE_MAX, ascii_is_alnum);
    struct bytes word = bytes_cut(text, 0, n);
    size_t digits = take_census(word).digits;
    return n >= HEX_MIN && digits > 0 && digits < n && run(word, 0, n, ascii_is_hex) == n ? n : 0;
}

static size_t match_id(struct bytes text) {
    size_t n = run(text, 0, SIZE_MAX, ascii_is_alnum);
    struct census census = take_census(bytes_cut(text, 0, n));
    if (census.digits == n)
        return 0;
    return (n >= ID_MIN && census.groups >= 2) || (n >= LONG_ID_MIN && census.groups) ? n : 0;
}

/* 17 · -3.5 · 1,234.5 · 3.11.7 · 1e-07 */
static size_t match_number(struct bytes text) {
    size_t n = at(text, 0) == '-' || at(text, 0) == '+';
    size_t whole = run(text, n, SIZE_MAX, ascii_is_digit);
    if (whole == 0)
        return 0;
    n += whole;
    for (size_t more; (more = fraction(text, n)) > 0;)
        n += more;
    if (at(text, n) != 'e' && at(text, n) != 'E')
        return n;
    size_t sign = at(text, n + 1) == '-' || at(text, n + 1) == '+';
    size_t power = run(text, n + 1 + sign, SIZE_MAX, ascii_is_digit);
    return power && !ascii_is_alnum(at(text, n + 1 + sign + power)) ? n + 1 + sign + power : n;
}

static const struct {
    size_t (*match)(struct bytes text);
    struct bytes mask;
} shapes[] = {
    {match_uuid, BYTES("<id>")},  {match_timestamp, BYTES("<n>")}, {match_clock, BYTES("<n>")},
    {match_email, BYTES("<id>")}, {match_ipv4, BYTES("<id>")},     {match_ipv6, BYTES("<id>")},
    {match_0x, BYTES("<hex>")},   {match_hex, BYTES("<hex>")},     {match_id, BYTES("<id>")},
    {match_number, BYTES("<n>")},
};

/* Quotes. An unclosed quote of a line is searched for once, not at every further quote. */
static const struct {
    char open;
    const char *close;
} quotes[] = {{'\'', "'"}, {'"', "\""}, {'`', "`'"}};

enum { QUOTES = sizeof quotes / sizeof *quotes };

struct masking {
    struct bytes text;
    size_t unclosed_until[QUOTES]; /* there is no closing quote before this position */
};

/* An apostrophe inside a word neither opens nor closes a quote. */
static size_t quoted(struct masking *m, size_t from, size_t quote) {
    size_t i = from + 1;
    for (; i < m->text.len && m->text.ptr[i] != '\n'; i++) {
        char c = m->text.ptr[i];
        if (c == '\\')
            i++;
        else if (c && strchr(quotes[quote].close, c) && !ascii_is_alnum(at(m->text, i + 1)))
            return i + 1 - from;
    }
    m->unclosed_until[quote] = i;
    return 0;
}

static size_t match_quoted(struct masking *m, size_t from) {
    for (size_t q = 0; q < QUOTES; q++)
        if (m->text.ptr[from] == quotes[q].open)
            return from < m->unclosed_until[q] ? 0 : quoted(m, from, q);
    return 0;
}

static size_t mask_at(struct masking *m, size_t i, struct bytes *mask) {
    bool inside_word = i > 0 && ascii_is_alnum(m->text.ptr[i - 1]);
    struct bytes rest = bytes_cut(m->text, i, m->text.len);
    if (inside_word) { /* digits in a word are masked, without a sign or separator */
        *mask = BYTES("<n>");
        return ascii_is_digit(rest.ptr[0]) ? run(rest, 0, SIZE_MAX, ascii_is_digit) : 0;
    }
    *mask = BYTES("<str>");
    size_t n = match_quoted(m, i);
    for (size_t s = 0; n == 0 && s < sizeof shapes / sizeof *shapes; s++) {
        n = shapes[s].match(rest);
        *mask = shapes[s].mask;
    }
    return n;
}

void fingerprint_mask(struct bytes text, struct buf *out) {
    struct masking m = {.text = text};
    size_t plain = 0; /* start of the text to copy unchanged */
    for (size_t i = 0; i < text.len;) {
        struct bytes mask;
        size_t n = mask_at(&m, i, &mask);
        if (n == 0) {
            i++;
            continue;
        }
        buf_put(out, text.ptr + plain, i - plain);
        buf_bytes(out, mask);
        i += n;
        plain = i;
    }
    buf_put(out, text.ptr + plain, text.len - plain);
}
