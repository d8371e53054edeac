/* instant: calendar arithmetic, parsing and printing. Pure. */
#include "base/instant.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text/ascii.h"

enum { MS_PER_DAY = 86400000 };

struct mono mono_after(struct mono from, int64_t ms) {
    int64_t at;
    if (__builtin_add_overflow(from.ms, ms, &at))
        return MONO_NEVER;
    return (struct mono){at};
}

struct mono mono_earlier(struct mono a, struct mono b) {
    return a.ms < b.ms ? a : b;
}

static char *put_digits(char *to, int64_t value, int count) {
    for (int i = count - 1; i >= 0; i--, value /= 10)
        to[i] = (char)('0' + value % 10);
    return to + count;
}

/* The civil date of a day since 1970, by eras of 400 years that begin in March. */
static void civil_date(int64_t day, int64_t *year, int64_t *month, int64_t *day_of_month) {
    enum { ERA_DAYS = 146097, DAYS_TO_1970 = 719468 };
    int64_t shifted = day + DAYS_TO_1970;
    int64_t era = (shifted >= 0 ? shifted : shifted - (ERA_DAYS - 1)) / ERA_DAYS;
    int64_t of_era = shifted - era * ERA_DAYS;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * of_year + 2) / 153;
    *day_of_month = of_year - (153 * shifted_month + 2) / 5 + 1;
    *month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    *year = year_of_era + era * 400 + (*month <= 2);
}

/* By hand: every stored message has several times, and strftime takes longer than writing it. */
const char *wall_text(struct wall at, char text[INSTANT_TEXT_SIZE]) {
    int64_t day = at.ms / MS_PER_DAY, of_day = at.ms % MS_PER_DAY;
    if (of_day < 0) {
        of_day += MS_PER_DAY;
        day--;
    }
    int64_t year, month, day_of_month;
    civil_date(day, &year, &month, &day_of_month);
    const struct {
        int64_t value;
        int digits;
        char behind;
    } parts[] = {{year, 4, '-'},
                 {month, 2, '-'},
                 {day_of_month, 2, 'T'},
                 {of_day / (60 * 60 * 1000), 2, ':'},
                 {of_day / (60 * 1000) % 60, 2, ':'},
                 {of_day / 1000 % 60, 2, '.'},
                 {of_day % 1000, 3, 'Z'}};
    char *to = text;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        to = put_digits(to, parts[i].value, parts[i].digits);
        *to++ = parts[i].behind;
    }
    *to = '\0';
    return text;
}

static bool digits(struct bytes *rest, size_t count, int *out) {
    int value = 0;
    if (rest->len < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (rest->ptr[i] < '0' || rest->ptr[i] > '9')
            return false;
        value = value * 10 + (rest->ptr[i] - '0');
    }
    *rest = bytes_cut(*rest, count, rest->len);
    *out = value;
    return true;
}

static bool one_of(struct bytes *rest, const char *set, char *got) {
    if (rest->len == 0 || !strchr(set, rest->ptr[0]) || rest->ptr[0] == '\0')
        return false;
    if (got)
        *got = rest->ptr[0];
    *rest = bytes_cut(*rest, 1, rest->len);
    return true;
}

/* The inverse of civil_date; an invalid date gives the day of another one. */
static int64_t day_of_date(int64_t year, int64_t month, int64_t day_of_month) {
    enum { ERA_DAYS = 146097, DAYS_TO_1970 = 719468 };
    int64_t shifted = year - (month <= 2);
    int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400;
    int64_t year_of_era = shifted - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day_of_month - 1;
    int64_t of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    return era * ERA_DAYS + of_era - DAYS_TO_1970;
}

/* A date that does not convert back is invalid. */
static bool from_calendar(struct tm tm, int ms, struct wall *out) {
    int64_t year, month, day_of_month;
    if (tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 59)
        return false;
    int64_t day = day_of_date(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
    civil_date(day, &year, &month, &day_of_month);
    if (month != tm.tm_mon + 1 || day_of_month != tm.tm_mday)
        return false;
    int64_t seconds = tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec;
    out->ms = day * MS_PER_DAY + seconds * 1000 + ms;
    return true;
}

static int fraction_ms(struct bytes *rest) {
    int ms = 0, weight = 100;
    while (rest->len && ascii_is_digit(rest->ptr[0])) {
        ms += (rest->ptr[0] - '0') * weight;
        weight /= 10;
        *rest = bytes_cut(*rest, 1, rest->len);
    }
    return ms;
}

static bool parse(struct bytes text, bool zone_needed, struct wall *out) {
    struct tm tm = {0};
    int year, month, ms = 0, offset_hours = 0, offset_minutes = 0;
    char zone = 'Z';
    if (!digits(&text, 4, &year) || !one_of(&text, "-", NULL) || !digits(&text, 2, &month) ||
        !one_of(&text, "-", NULL) || !digits(&text, 2, &tm.tm_mday) ||
        !one_of(&text, "Tt ", NULL) || !digits(&text, 2, &tm.tm_hour) ||
        !one_of(&text, ":", NULL) || !digits(&text, 2, &tm.tm_min) || !one_of(&text, ":", NULL) ||
        !digits(&text, 2, &tm.tm_sec))
        return false;
    if (one_of(&text, ".", NULL))
        ms = fraction_ms(&text);
    if ((zone_needed || text.len > 0) && !one_of(&text, "Zz+-", &zone))
        return false;
    if ((zone == '+' || zone == '-') &&
        (!digits(&text, 2, &offset_hours) || !one_of(&text, ":", NULL) ||
         !digits(&text, 2, &offset_minutes)))
        return false;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    if (text.len != 0 || !from_calendar(tm, ms, out))
        return false;
    int64_t shift = (offset_hours * 60 + offset_minutes) * 60000LL;
    out->ms += zone == '-' ? shift : -shift;
    return true;
}

bool wall_parse(struct bytes text, struct wall *out) {
    return parse(text, true, out);
}

bool wall_parse_utc(struct bytes text, struct wall *out) {
    return parse(text, false, out);
}

static const char *const months[12] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static bool month_by_name(const char *name, int *out) {
    for (int i = 0; i < 12; i++) {
        if (strcmp(months[i], name) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

bool wall_parse_http(struct bytes text, struct wall *out) {
    char line[64], month[4];
    struct tm tm = {0};
    int year, used = 0;
    if (text.len >= sizeof line)
        return false;
    memcpy(line, text.ptr ? text.ptr : "", text.len);
    line[text.len] = '\0';
    /* Sun, 06 Nov 1994 08:49:37 GMT · Sunday, 06-Nov-94 08:49:37 GMT · Sun Nov  6 08:49:37 1994 */
    bool ok = sscanf(line, "%*3[A-Za-z], %2d %3s %4d %2d:%2d:%2d GMT%n", &tm.tm_mday, month, &year,
                     &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) == 6 ||
              sscanf(line, "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &tm.tm_mday, month,
                     &year, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) == 6 ||
              sscanf(line, "%*3[A-Za-z] %3s %2d %2d:%2d:%2d %4d%n", month, &tm.tm_mday, &tm.tm_hour,
                     &tm.tm_min, &tm.tm_sec, &year, &used) == 6;
    if (!ok || used == 0 || line[used] != '\0' || !month_by_name(month, &tm.tm_mon))
        return false;
    if (year < 100)
        year += year < 70 ? 2000 : 1900;
    tm.tm_year = year - 1900;
    return from_calendar(tm, 0, out);
}

static const struct unit {
    struct bytes name;
    uint64_t factor;
} durations[] = {{BYTES("ms"), 1},
                 {BYTES("s"), 1000},
                 {BYTES("m"), 60000},
                 {BYTES("h"), 3600000},
                 {BYTES("d"), MS_PER_DAY}},
  sizes[] = {{BYTES("KiB"), 1u << 10}, {BYTES("MiB"), 1u << 20}, {BYTES("GiB"), 1u << 30}};

static bool scaled(struct bytes text, const struct unit *units, size_t count, uint64_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        if (bytes_ends(text, units[i].name) &&
            bytes_u64(bytes_cut(text, 0, text.len - units[i].name.len), &number))
            return !__builtin_mul_overflow(number, units[i].factor, out);
    }
    return false;
}

bool duration_parse(struct bytes text, int64_t *ms) {
    uint64_t value = 0;
    if (!bytes_is(text, "0") &&
        !scaled(text, durations, sizeof durations / sizeof *durations, &value))
        return false;
    if (value > INT64_MAX / 4)
        return false;
    *ms = (int64_t)value;
    return true;
}

void duration_put(struct buf *b, int64_t ms) {
    size_t i = sizeof durations / sizeof *durations;
    /* Days only from two on: people write 24h. */
    while (--i > 0)
        if (ms % (int64_t)durations[i].factor == 0 && ms >= (int64_t)durations[i].factor &&
            (durations[i].factor != MS_PER_DAY || ms >= 2 * (int64_t)MS_PER_DAY))
            break;
    buf_printf(b, "%lld", (long long)(ms / (int64_t)durations[i].factor));
    buf_bytes(b, durations[i].name);
}

static const struct {
    const char *name;
    int64_t ms, from_ms; /* days only from two on, as above */
} spoken[] = {{"d", MS_PER_DAY, 2 * (int64_t)MS_PER_DAY},
              {"h", 3600000, 3600000},
              {"min", 60000, 60000},
              {"s", 1000, 1000}};

void duration_say(struct buf *b, int64_t ms) {
    const size_t last = sizeof spoken / sizeof *spoken - 1;
    size_t i = 0;
    if (ms > 0 && ms < spoken[last].ms) {
        buf_printf(b, "%lld ms", (long long)ms);
        return;
    }
    while (i < last && ms < spoken[i].from_ms)
        i++;
    buf_printf(b, "%lld %s", (long long)(ms / spoken[i].ms), spoken[i].name);
    int64_t rest = i < last ? ms % spoken[i].ms / spoken[i + 1].ms : 0;
    if (rest > 0)
        buf_printf(b, " %lld %s", (long long)rest, spoken[i + 1].name);
}

int64_t duration_doubled(int64_t ms, int64_t last_ms) {
    return ms > last_ms / 2 ? last_ms : ms * 2;
}

bool size_parse(struct bytes text, uint64_t *out) {
    return bytes_u64(text, out) || scaled(text, sizes, sizeof sizes / sizeof *sizes, out);
}

void size_put(struct buf *b, uint64_t size) {
    size_t i = sizeof sizes / sizeof *sizes;
    while (i-- > 0) {
        if (size >= sizes[i].factor && size % sizes[i].factor == 0) {
            buf_printf(b, "%llu", (unsigned long long)(size / sizes[i].factor));
            buf_bytes(b, sizes[i].name);
            return;
        }
    }
    buf_printf(b, "%llu", (unsigned long long)size);
}
