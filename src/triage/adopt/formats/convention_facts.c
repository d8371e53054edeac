/* convention_facts: reads the fields of a row from headers, body or source, and converts them. */
#include "triage/adopt/formats/convention_facts.h"

#include <assert.h>

#include "base/text/ascii.h"
#include "base/json/json_path.h"

enum {
    BINARY_MAX = 8,        /* bytes of a number */
    NET_TIME_SECONDS = 19, /* bytes of "2026-11-15 14:09:47" */
    EPOCH_DIGITS_MAX = 15, /* digits of whole seconds or milliseconds */
};
static const int64_t time_last_ms = 253402300799999; /* the year 9999 ends */
/* Seconds reach this in the year 5138; milliseconds passed it in 1973. */
static const int64_t epoch_seconds_max = 100000000000;

/* ---- setting ---- */

void convention_facts_replace(struct convention_facts *facts, enum convention_fact fact,
                              struct bytes text) {
    assert(fact < FACT_COUNT);
    facts->facts[fact].known = true;
    facts->facts[fact].text = text;
}

void convention_facts_text(struct convention_facts *facts, enum convention_fact fact,
                           struct bytes text) {
    if (!facts->facts[fact].known && text.len > 0)
        convention_facts_replace(facts, fact, text);
}

void convention_facts_number(struct convention_facts *facts, enum convention_fact fact,
                             int64_t number) {
    if (facts->facts[fact].known || number < 0)
        return;
    facts->facts[fact].known = true;
    facts->facts[fact].number = number;
}

void convention_facts_time(struct convention_facts *facts, enum convention_fact fact, int64_t ms) {
    if (ms > WALL_NEVER.ms && ms <= time_last_ms)
        convention_facts_number(facts, fact, ms);
}

void convention_facts_beside(struct convention_facts *facts, const char *name, struct bytes text) {
    if (text.len == 0 || facts->beside_count == CONVENTION_BESIDE_MAX)
        return;
    facts->beside[facts->beside_count].name = name;
    facts->beside[facts->beside_count++].text = text;
}

/* ---- finding ---- */

struct bytes convention_facts_header(const struct message *held, const char *name, bool last) {
    const struct envelope *envelope = &held->envelope;
    struct bytes found = BYTES_NONE;
    for (size_t i = 0; i < envelope->header_count && (last || !found.ptr); i++)
        if (bytes_eq_nocase(envelope->headers[i].name, bytes_of(name)))
            found = envelope->headers[i].value.ptr ? envelope->headers[i].value : BYTES("");
    return found;
}

bool convention_facts_has(const struct convention_letter *letter, enum convention_where where,
                          const char *at) {
    struct json value;
    if (where == IN_HEADERS)
        return convention_facts_header(letter->held, at, false).ptr != NULL;
    return json_path_get(where == IN_JSON ? letter->body : letter->source, bytes_of(at), &value) &&
           value.type != JSON_NULL;
}

/* The text of a string; of any other value its JSON. */
static struct bytes member(struct json json, const struct convention_field *field,
                           struct arena *arena) {
    struct json value;
    struct bytes text;
    if (!json_path_get(json, bytes_of(field->at), &value) || value.type == JSON_NULL)
        return BYTES_NONE;
    if (field->form != AS_JSON && json_string(value, arena, &text))
        return text;
    return value.text;
}

static struct bytes find(const struct convention_facts *facts, enum convention_where where,
                         const struct convention_field *field) {
    const struct convention_letter *letter = facts->letter;
    if (where == IN_HEADERS)
        return convention_facts_header(letter->held, field->at, field->last);
    return member(where == IN_JSON ? letter->body : letter->source, field, facts->arena);
}

/* ---- reading ---- */

static struct bytes lower(struct bytes text, struct arena *arena) {
    char *out = arena_cstr(arena, text);
    for (size_t i = 0; i < text.len; i++)
        if (out[i] >= 'A' && out[i] <= 'Z')
            out[i] = (char)(out[i] - 'A' + 'a');
    return (struct bytes){out, text.len};
}

static struct bytes behind_last_slash(struct bytes text) {
    size_t end = bytes_find(text, BYTES("?"));
    for (size_t i = end; i > 0; i--)
        if (text.ptr[i - 1] == '/')
            return bytes_cut(text, i, end);
    return bytes_cut(text, 0, end);
}

static bool binary(struct bytes text, int64_t *out) {
    if (text.len == 0 || text.len > BINARY_MAX)
        return false;
    uint64_t bits = (unsigned char)text.ptr[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < text.len; i++)
        bits = bits << 8 | (unsigned char)text.ptr[i];
    *out = (int64_t)bits;
    return true;
}

static bool decimal(struct bytes text, int64_t *out) {
    uint64_t number;
    if (!bytes_u64(bytes_trim(text), &number) || number > INT64_MAX)
        return false;
    *out = (int64_t)number;
    return true;
}

/* "1700000000.25" and "1700000000250"; digits beyond milliseconds are dropped. */
static bool epoch(struct bytes text, int64_t *ms) {
    struct bytes whole = bytes_cut(text, 0, bytes_find(text, BYTES(".")));
    struct bytes fraction = bytes_cut(text, whole.len + 1, text.len);
    if (whole.len > EPOCH_DIGITS_MAX || !decimal(whole, ms))
        return false;
    if (*ms >= epoch_seconds_max)
        return true;
    *ms *= 1000;
    for (int64_t i = 0, unit = 100; i < 3 && (size_t)i < fraction.len; i++, unit /= 10)
        if (ascii_is_digit(fraction.ptr[i]))
            *ms += (fraction.ptr[i] - '0') * unit;
    return true;
}

/* A time without a zone counts as UTC, since programs wrote it. */
static bool rfc3339(struct bytes text, int64_t *ms) {
    struct bytes time = bytes_trim(text);
    struct wall at;
    if (!wall_parse_utc(time, &at))
        return false;
    *ms = at.ms;
    return true;
}

/* Like RFC 3339 with a colon before the fraction. */
static bool net_time(struct bytes text, int64_t *ms) {
    char spelled[INSTANT_TEXT_SIZE];
    struct buf out;
    size_t end = bytes_find(text, BYTES(" Z"));
    if (end <= NET_TIME_SECONDS || text.ptr[NET_TIME_SECONDS] != ':')
        return rfc3339(text, ms);
    buf_init_fixed(&out, spelled, sizeof spelled);
    buf_printf(&out, "%.10sT%.8s.%.*sZ", text.ptr, text.ptr + 11,
               BYTES_ARG(bytes_cut(text, NET_TIME_SECONDS + 1, end)));
    return !out.overflow && rfc3339(buf_view(&out), ms);
}

typedef bool number_fn(struct bytes text, int64_t *out);

static number_fn *const numbers[] = {
    [AS_DECIMAL] = decimal,   [AS_BINARY] = binary, [AS_RFC3339] = rfc3339,
    [AS_NET_TIME] = net_time, [AS_EPOCH] = epoch,   [AS_BINARY_MS] = binary,
    [AS_JSON] = NULL,
};

static bool is_time(enum convention_form form) {
    return form >= AS_RFC3339 && form <= AS_BINARY_MS;
}

static struct bytes spelled(struct bytes text, enum convention_form form, struct arena *arena) {
    if (form == AS_LOWER)
        return lower(text, arena);
    if (form == AS_SEGMENT)
        return behind_last_slash(text);
    if (form == AS_LOCAL)
        return bytes_cut(text, 0, bytes_find(text, BYTES("@")));
    return text;
}

static void take(struct convention_facts *facts, const struct convention_field *field,
                 struct bytes text) {
    assert(field->fact < FACT_COUNT && field->form <= AS_JSON);
    int64_t number;
    if (field->fact == FACT_BESIDE)
        convention_facts_beside(facts, field->beside, spelled(text, field->form, facts->arena));
    else if (!numbers[field->form])
        convention_facts_text(facts, field->fact, spelled(text, field->form, facts->arena));
    else if (!numbers[field->form](text, &number))
        return;
    else if (is_time(field->form))
        convention_facts_time(facts, field->fact, number);
    else
        convention_facts_number(facts, field->fact, number);
}

void convention_facts_read(struct convention_facts *facts, const struct convention *row) {
    for (size_t i = 0; i < row->field_count; i++) {
        const struct convention_field *field = &row->fields[i];
        struct bytes text = find(facts, row->where, field);
        if (text.len > 0)
            take(facts, field, text);
    }
}
