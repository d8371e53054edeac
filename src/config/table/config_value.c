#include "config/table/config_value.h"

#include <stdio.h>
#include <string.h>

#include "base/text/ascii.h"
#include "config/config_address.h"
#include "config/table/config_env.h"
#include "config/table/config_printer.h"
#include "base/instant.h"

enum { RATE_DIGITS = 3, PERCENT_DIGITS = 1 };

bool config_value_string(struct config_reader *reader, const struct config_node *node,
                         const char *what, struct bytes *out) {
    struct bytes text;
    if (node->kind != CONFIG_SCALAR)
        return config_reader_expected(reader, node, what);
    if (!config_env_expand(reader, node, &text))
        return false;
    if (text.len == 0)
        return config_reader_expected(reader, node, what);
    if (memchr(text.ptr, '\0', text.len)) {
        config_mistake_add(&reader->mistakes, node->at, "%.*s: a zero byte is not allowed here",
                           BYTES_ARG(node->key));
        return false;
    }
    *out = text;
    return true;
}

bool config_value_http(struct config_reader *reader, const struct config_node *node,
                       const char *what, struct bytes *out) {
    struct bytes url;
    if (!config_value_string(reader, node, what, &url))
        return false;
    if (!config_address_is_http(url))
        return config_reader_expected(reader, node, what);
    *out = url;
    return true;
}

bool config_value_text(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    (void)field;
    return config_value_string(reader, node, "a text", out);
}

static const char duration_form[] = "a duration such as 200ms, 10s, 5m, 24h or 30d";

static bool out_of_bounds(struct config_reader *reader, const struct config_node *node,
                          struct bytes least, struct bytes most) {
    config_mistake_add(&reader->mistakes, node->at, "%.*s: expected %.*s to %.*s, got \"%.*s\"",
                       BYTES_ARG(node->key), BYTES_ARG(least), BYTES_ARG(most),
                       BYTES_ARG(node->text));
    return false;
}

static bool duration_in_bounds(struct config_reader *reader, const struct config_node *node,
                               const struct config_field *field, int64_t ms) {
    char least_text[32], most_text[32];
    struct buf least, most;
    if (ms >= field->least && ms <= field->most)
        return true;
    buf_init_fixed(&least, least_text, sizeof least_text);
    buf_init_fixed(&most, most_text, sizeof most_text);
    duration_put(&least, field->least);
    duration_put(&most, field->most);
    return out_of_bounds(reader, node, buf_view(&least), buf_view(&most));
}

bool config_value_duration(struct config_reader *reader, const struct config_node *node,
                           const struct config_field *field, void *out) {
    struct bytes text;
    int64_t ms;
    if (!config_value_string(reader, node, duration_form, &text))
        return false;
    if (!duration_parse(text, &ms))
        return config_reader_expected(reader, node, duration_form);
    if (!duration_in_bounds(reader, node, field, ms))
        return false;
    *(int64_t *)out = ms;
    return true;
}

static bool in_bounds(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, uint64_t value) {
    if (value >= (uint64_t)field->least && value <= (uint64_t)field->most)
        return true;
    config_mistake_add(&reader->mistakes, node->at, "%.*s: expected %lld to %lld, got \"%.*s\"",
                       BYTES_ARG(node->key), (long long)field->least, (long long)field->most,
                       BYTES_ARG(node->text));
    return false;
}

static bool size_in_bounds(struct config_reader *reader, const struct config_node *node,
                           const struct config_field *field, uint64_t size) {
    if (size >= (uint64_t)field->least && size <= (uint64_t)field->most)
        return true;
    char least_text[32], most_text[32];
    struct buf least, most;
    buf_init_fixed(&least, least_text, sizeof least_text);
    buf_init_fixed(&most, most_text, sizeof most_text);
    size_put(&least, (uint64_t)field->least);
    size_put(&most, (uint64_t)field->most);
    return out_of_bounds(reader, node, buf_view(&least), buf_view(&most));
}

bool config_value_size(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    static const char form[] = "a size such as 512, 64KiB, 4MiB or 1GiB";
    struct bytes text;
    uint64_t size;
    if (!config_value_string(reader, node, form, &text))
        return false;
    if (!size_parse(text, &size))
        return config_reader_expected(reader, node, form);
    if (!size_in_bounds(reader, node, field, size))
        return false;
    *(uint64_t *)out = size;
    return true;
}

bool config_value_large(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    static const char form[] = "a whole number";
    struct bytes text;
    uint64_t value;
    if (!config_value_string(reader, node, form, &text))
        return false;
    if (!bytes_u64(text, &value))
        return config_reader_expected(reader, node, form);
    if (!in_bounds(reader, node, field, value))
        return false;
    *(uint64_t *)out = value;
    return true;
}

bool config_value_count(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    uint64_t value;
    if (!config_value_large(reader, node, field, &value))
        return false;
    *(uint32_t *)out = (uint32_t)value;
    return true;
}

/* "12.5" with one digit allowed → 125. */
static bool decimal(struct bytes text, size_t digits, uint64_t *out) {
    size_t dot = bytes_find(text, BYTES("."));
    struct bytes fraction = bytes_cut(text, dot + 1, text.len);
    uint64_t whole, rest = 0;
    if (!bytes_u64(bytes_cut(text, 0, dot), &whole) || whole > UINT32_MAX)
        return false;
    if (dot < text.len && (fraction.len > digits || !bytes_u64(fraction, &rest)))
        return false;
    for (size_t i = 0; i < digits; i++)
        whole *= 10;
    for (size_t i = fraction.len; i < digits; i++)
        rest *= 10;
    *out = whole + rest;
    return true;
}

/* A decimal number followed by a unit, in units of the last digit. */
static bool read_scaled(struct config_reader *reader, const struct config_node *node,
                        struct bytes unit, size_t digits, const char *form, uint64_t *out) {
    struct bytes text;
    if (!config_value_string(reader, node, form, &text))
        return false;
    if (bytes_ends(text, unit) && decimal(bytes_cut(text, 0, text.len - unit.len), digits, out))
        return true;
    return config_reader_expected(reader, node, form);
}

bool config_value_percent(struct config_reader *reader, const struct config_node *node,
                          const struct config_field *field, void *out) {
    const char *form = field->least > 0 ? "a share above 0% and up to 100%, such as 50%"
                                        : "a share from 0% to 100%, such as 20%";
    return config_value_percent_or(reader, node, field, form, out);
}

bool config_value_percent_or(struct config_reader *reader, const struct config_node *node,
                             const struct config_field *field, const char *form, void *out) {
    uint64_t value = 0;
    if (!read_scaled(reader, node, BYTES("%"), PERCENT_DIGITS, form, &value))
        return false;
    if (value < (uint64_t)field->least || value > (uint64_t)field->most)
        return config_reader_expected(reader, node, form);
    *(uint32_t *)out = (uint32_t)value;
    return true;
}

bool config_value_rate(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    enum { PER_SECOND = 1000, TEXT_SIZE = 32 };
    char least[TEXT_SIZE], most[TEXT_SIZE];
    uint64_t value = 0;
    if (!read_scaled(reader, node, BYTES("/s"), RATE_DIGITS, "a rate such as 3/s or 0.5/s", &value))
        return false;
    if (value < (uint64_t)field->least || value > (uint64_t)field->most) {
        snprintf(least, sizeof least, "%lld/s", (long long)field->least / PER_SECOND);
        snprintf(most, sizeof most, "%lld/s", (long long)field->most / PER_SECOND);
        return out_of_bounds(reader, node, bytes_of(least), bytes_of(most));
    }
    *(uint32_t *)out = (uint32_t)value;
    return true;
}

bool config_value_is(const struct config_node *node, const char *word) {
    if (node->kind != CONFIG_SCALAR)
        return false;
    bool off = node->plain && bytes_is(node->text, "false") && strcmp(word, "off") == 0;
    bool on = node->plain && bytes_is(node->text, "true") && strcmp(word, "on") == 0;
    return off || on || bytes_is(node->text, word);
}

bool config_value_word(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    size_t count = 0;
    while (field->words[count])
        count++;
    struct bytes form = config_reader_words(reader, field->words, count), text;
    if (!config_value_string(reader, node, form.ptr, &text))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (bytes_is(text, field->words[i]) || config_value_is(node, field->words[i])) {
            *(unsigned *)out = (unsigned)i;
            return true;
        }
    }
    struct bytes hint = config_reader_hint(reader, text, field->words, count);
    config_mistake_add(&reader->mistakes, node->at, "%.*s: expected %.*s, got \"%.*s\"%.*s",
                       BYTES_ARG(node->key), BYTES_ARG(form), BYTES_ARG(text), BYTES_ARG(hint));
    return false;
}

bool config_value_name_char(char c) {
    return ascii_is_alnum(c) || c == '.' || c == '_' || c == '-';
}

bool config_value_name(struct config_reader *reader, struct config_place at, const char *of,
                       struct bytes name, size_t max) {
    size_t good = 0;
    while (good < name.len && config_value_name_char(name.ptr[good]))
        good++;
    if (name.len > 0 && good == name.len && name.len <= max)
        return true;
    config_mistake_add(&reader->mistakes, at,
                       "the name of a %s is 1 to %zu letters, digits, dots, underscores and "
                       "hyphens, got \"%.*s\"",
                       of, max, BYTES_ARG(bytes_clip(name, 2 * CONFIG_NAME_MAX)));
    return false;
}

bool config_value_dlq(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    (void)field;
    struct bytes name;
    if (!config_value_string(reader, node, "the name of a DLQ", &name) ||
        !config_value_name(reader, node->at, "DLQ", name,
                           CONFIG_NAME_MAX + sizeof CONFIG_DLQ_SUFFIX - 1))
        return false;
    *(struct bytes *)out = name;
    return true;
}

/* ---- programs ---- */

static void remember_program(struct config_reader *reader, const struct config_node *node,
                             struct bytes text) {
    struct config_program **end = &reader->config->programs;
    while (*end)
        end = &(*end)->next;
    *end = arena_alloc(reader->arena, sizeof **end);
    **end = (struct config_program){NULL, text, node->at.line, node->at.column};
}

bool config_value_jq(struct config_reader *reader, const struct config_node *node,
                     const struct config_field *field, void *out) {
    if (!config_value_text(reader, node, field, out))
        return false;
    remember_program(reader, node, *(struct bytes *)out);
    return true;
}

/* ---- printing ---- */

void config_value_put_text(struct config_printer *p, const struct config_field *field,
                           const void *value) {
    (void)field;
    config_printer_text(p, *(const struct bytes *)value);
}

void config_value_put_secret(struct config_printer *p, const struct config_field *field,
                             const void *value) {
    (void)field;
    config_printer_secret(p, *(const struct bytes *)value);
}

void config_value_put_duration(struct config_printer *p, const struct config_field *field,
                               const void *value) {
    (void)field;
    duration_put(p->out, *(const int64_t *)value);
}

void config_value_put_size(struct config_printer *p, const struct config_field *field,
                           const void *value) {
    (void)field;
    size_put(p->out, *(const uint64_t *)value);
}

void config_value_put_count(struct config_printer *p, const struct config_field *field,
                            const void *value) {
    (void)field;
    buf_printf(p->out, "%u", *(const uint32_t *)value);
}

void config_value_put_large(struct config_printer *p, const struct config_field *field,
                            const void *value) {
    (void)field;
    buf_printf(p->out, "%llu", (unsigned long long)*(const uint64_t *)value);
}

/* 125 with one digit → 12.5 */
static void put_decimal(struct config_printer *p, uint32_t value, int digits, const char *unit) {
    uint32_t scale = 1;
    for (int i = 0; i < digits; i++)
        scale *= 10;
    buf_printf(p->out, "%u", value / scale);
    uint32_t rest = value % scale;
    if (rest)
        buf_char(p->out, '.');
    for (; rest; rest = rest * 10 % scale)
        buf_printf(p->out, "%u", rest * 10 / scale);
    buf_str(p->out, unit);
}

void config_value_put_percent(struct config_printer *p, const struct config_field *field,
                              const void *value) {
    (void)field;
    put_decimal(p, *(const uint32_t *)value, PERCENT_DIGITS, "%");
}

void config_value_put_rate(struct config_printer *p, const struct config_field *field,
                           const void *value) {
    (void)field;
    put_decimal(p, *(const uint32_t *)value, RATE_DIGITS, "/s");
}

void config_value_put_word(struct config_printer *p, const struct config_field *field,
                           const void *value) {
    buf_str(p->out, field->words[*(const unsigned *)value]);
}
