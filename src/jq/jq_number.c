/* jq_number: see the header. */
#include "jq/jq_number.h"

#include <assert.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/ascii.h"

enum {
    PLAIN_DIGITS = DBL_DIG,            /* digits that a double always preserves … */
    PLAIN_EXPONENT = 300,              /* … at exponents well inside its range */
    SHORTEST_DIGITS = DBL_DECIMAL_DIG, /* enough for any double */
    TEXT_MAX = 40,
    WHOLE_EXPONENT_MAX =
        64, /* whole numbers up to so many digits are written without an exponent */
    EXPONENT_MAX = 1000000000,
};

/* ±0.d1d2d3… × 10^exponent, without leading or trailing zeroes; zero has no digits. The digits are
 * counted, not copied: they are in `from`, possibly with a point among them. */
struct decimal {
    bool negative;
    struct bytes from;
    size_t digits;
    int64_t exponent;
};

static size_t scan_digits(struct bytes text, size_t at) {
    while (at < text.len && ascii_is_digit(text.ptr[at]))
        at++;
    return at;
}

size_t jq_number_scan(struct bytes text) {
    size_t start = text.len > 0 && text.ptr[0] == '-', whole = scan_digits(text, start);
    size_t digits = whole - start, at = whole;
    if (at < text.len && text.ptr[at] == '.') {
        at = scan_digits(text, at + 1);
        digits += at - whole - 1;
    }
    if (digits == 0)
        return 0;
    if (at < text.len && (text.ptr[at] == 'e' || text.ptr[at] == 'E')) {
        size_t power = at + 1;
        if (power < text.len && (text.ptr[power] == '+' || text.ptr[power] == '-'))
            power++;
        size_t end = scan_digits(text, power);
        at = end > power ? end : at;
    }
    return at;
}

static int64_t read_exponent(struct bytes text) {
    bool negative = text.len > 0 && text.ptr[0] == '-';
    int64_t value = 0;
    for (size_t i = 0; i < text.len; i++)
        if (ascii_is_digit(text.ptr[i]) && value < EXPONENT_MAX)
            value = value * 10 + (text.ptr[i] - '0');
    return negative ? -value : value;
}

static struct decimal read_decimal(struct bytes number) {
    struct decimal d = {.negative = number.len > 0 && number.ptr[0] == '-'};
    size_t first = 0, last = 0, seen = 0, before_point = 0, end = number.len;
    bool point = false;
    for (size_t i = d.negative; i < number.len; i++) {
        char c = number.ptr[i];
        if (c == 'e' || c == 'E') {
            end = i;
            d.exponent = read_exponent(bytes_cut(number, i + 1, number.len));
            break;
        }
        if (c == '.') {
            point = true;
            continue;
        }
        before_point += !point;
        seen++;
        if (c != '0') {
            first = first ? first : seen;
            last = seen;
        }
    }
    d.from = bytes_cut(number, d.negative, end);
    if (first == 0)
        return (struct decimal){.negative = d.negative};
    d.digits = last - first + 1;
    d.exponent += (int64_t)before_point - (int64_t)(first - 1);
    return d;
}

/* Appends `count` significant digits, starting with the one of index `from`. */
static void put_digits(const struct decimal *d, size_t from, size_t count, struct buf *out) {
    assert(from + count <= d->digits);
    size_t index = 0;
    bool started = false;
    for (size_t i = 0; i < d->from.len && index < from + count; i++) {
        char c = d->from.ptr[i];
        started = started || (ascii_is_digit(c) && c != '0');
        if (!started || c == '.')
            continue;
        if (index >= from)
            buf_char(out, c);
        index++;
    }
}

void jq_number_put(struct bytes number, struct buf *out) {
    struct decimal d = read_decimal(number);
    if (d.negative)
        buf_char(out, '-');
    if (d.digits == 0) {
        buf_char(out, '0');
    } else if (d.exponent >= (int64_t)d.digits && d.exponent <= WHOLE_EXPONENT_MAX) {
        put_digits(&d, 0, d.digits, out);
        for (int64_t i = (int64_t)d.digits; i < d.exponent; i++)
            buf_char(out, '0');
    } else {
        bool whole_part = d.exponent > 0 && d.exponent < (int64_t)d.digits;
        size_t before = whole_part ? (size_t)d.exponent : 1;
        put_digits(&d, 0, before, out);
        if (d.digits > before) {
            buf_char(out, '.');
            put_digits(&d, before, d.digits - before, out);
        }
        if (!whole_part)
            buf_printf(out, "e%lld", (long long)d.exponent - 1);
    }
}

/* The shortest text that parses to the same double: what jq prints. */
static void shortest_text(double value, char text[TEXT_MAX]) {
    for (int digits = 1; digits <= SHORTEST_DIGITS; digits++) {
        snprintf(text, TEXT_MAX, "%.*e", digits - 1, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

static bool same_value(struct bytes a, struct bytes b) {
    char a_text[128], b_text[128];
    struct buf a_out, b_out;
    buf_init_fixed(&a_out, a_text, sizeof a_text);
    buf_init_fixed(&b_out, b_text, sizeof b_text);
    jq_number_put(a, &a_out);
    jq_number_put(b, &b_out);
    return !a_out.overflow && !b_out.overflow && bytes_eq(buf_view(&a_out), buf_view(&b_out));
}

bool jq_number_is_plain(struct bytes number) {
    struct decimal d = read_decimal(number);
    if (d.digits == 0 || (d.digits <= PLAIN_DIGITS && llabs(d.exponent) < PLAIN_EXPONENT))
        return true;
    if (d.digits > SHORTEST_DIGITS)
        return false;
    char *copy = bytes_dup(number);
    double value = strtod(copy, NULL);
    free(copy);
    if (value > DBL_MAX || value < -DBL_MAX)
        return false;
    char text[TEXT_MAX];
    shortest_text(value, text);
    return same_value(number, bytes_of(text));
}
