#include "config/queue/config_when.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "config/table/config_printer.h"
#include "config/table/config_value.h"

enum { STATUS_LEAST = 100, STATUS_MOST = 599, EXIT_MOST = 255, ATTEMPT_MOST = 10000 };
enum { PATTERN_SHOWN_MAX = 200 };

/* Calls `read` for a single value, or for each item of a list. */
static bool each(struct config_reader *reader, const struct config_node *node,
                 bool (*read)(struct config_reader *, const struct config_node *,
                              struct rule_when *),
                 struct rule_when *when) {
    if (node->kind != CONFIG_LIST)
        return read(reader, node, when);
    if (node->count == 0)
        return config_reader_expected(reader, node, "at least one item");
    bool good = true;
    for (const struct config_node *item = node->first; item; item = item->next)
        good = read(reader, item, when) && good;
    return good;
}

static bool status_range(struct bytes text, struct rule_range *out) {
    uint64_t number;
    if (text.len == 3 && bytes_ends(text, BYTES("xx")) && text.ptr[0] >= '1' &&
        text.ptr[0] <= '5') {
        out->from = (text.ptr[0] - '0') * 100;
        out->to = out->from + 99;
        return true;
    }
    if (!bytes_u64(text, &number) || number < STATUS_LEAST || number > STATUS_MOST)
        return false;
    out->from = out->to = (int)number;
    return true;
}

static bool add_status(struct config_reader *reader, const struct config_node *node,
                       struct rule_when *when) {
    static const char form[] = "a status such as 429 or 5xx, or a list of them";
    struct bytes text;
    struct rule_range range;
    if (!config_value_string(reader, node, form, &text))
        return false;
    if (!status_range(text, &range))
        return config_reader_expected(reader, node, form);
    if (when->status_count == RULE_STATUS_RANGES_MAX)
        return config_reader_expected(reader, node, "at most 16 statuses");
    when->statuses[when->status_count++] = range;
    return true;
}

static void put_statuses(struct config_printer *p, const struct config_field *field,
                         const void *value) {
    const struct rule_when *when = value;
    (void)field;
    for (size_t i = 0; i < when->status_count; i++) {
        const struct rule_range *range = &when->statuses[i];
        buf_str(p->out, i ? ", " : "[");
        if (range->from == range->to)
            buf_printf(p->out, "%d", range->from);
        else
            buf_printf(p->out, "%dxx", range->from / 100);
    }
    buf_char(p->out, ']');
}

CONFIG_SHOWN(has_statuses, struct rule_when, of->status_count > 0)

static bool read_status(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    (void)field;
    return each(reader, node, add_status, out);
}

static bool add_kind(struct config_reader *reader, const struct config_node *node,
                     struct rule_when *when) {
    const char *words[KIND_COUNT + 1] = {0};
    for (int i = 0; i < KIND_COUNT; i++)
        words[i] = kind_text((enum kind)i);
    const struct config_field field = {.words = words};
    unsigned kind;
    if (!config_value_word(reader, node, &field, &kind))
        return false;
    when->kinds |= 1u << kind;
    return true;
}

static void put_kinds(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    unsigned kinds = ((const struct rule_when *)value)->kinds;
    const char *before = "[";
    (void)field;
    for (int i = 0; i < KIND_COUNT; i++) {
        if (kinds & 1u << i) {
            buf_printf(p->out, "%s%s", before, kind_text((enum kind)i));
            before = ", ";
        }
    }
    buf_char(p->out, ']');
}

CONFIG_SHOWN(has_kinds, struct rule_when, of->kinds != 0)

static bool read_kind(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    (void)field;
    return each(reader, node, add_kind, out);
}

static bool add_exit_code(struct config_reader *reader, const struct config_node *node,
                          struct rule_when *when) {
    static const char form[] = "an exit code from 1 to 255, or a list of them";
    struct bytes text;
    uint64_t code;
    if (!config_value_string(reader, node, form, &text))
        return false;
    if (!bytes_u64(text, &code) || code < 1 || code > EXIT_MOST)
        return config_reader_expected(reader, node, form);
    if (when->exit_code_count == RULE_EXIT_CODES_MAX)
        return config_reader_expected(reader, node, "at most 16 exit codes");
    when->exit_codes[when->exit_code_count++] = (struct rule_range){(int)code, (int)code};
    return true;
}

static void put_exit_codes(struct config_printer *p, const struct config_field *field,
                           const void *value) {
    const struct rule_when *when = value;
    (void)field;
    for (size_t i = 0; i < when->exit_code_count; i++)
        buf_printf(p->out, "%s%d", i ? ", " : "[", when->exit_codes[i].from);
    buf_char(p->out, ']');
}

CONFIG_SHOWN(has_exit_codes, struct rule_when, of->exit_code_count > 0)

static bool read_exit_code(struct config_reader *reader, const struct config_node *node,
                           const struct config_field *field, void *out) {
    (void)field;
    return each(reader, node, add_exit_code, out);
}

/* "SIGSEGV", "SEGV", "11" → 11; 0 when there is no such signal. */
static int signal_number(struct bytes text) {
    uint64_t number;
    if (bytes_u64(text, &number))
        return number < NSIG ? (int)number : 0;
    if (bytes_starts(text, BYTES("SIG")))
        text = bytes_cut(text, strlen("SIG"), text.len);
    for (int i = 1; i < NSIG; i++) {
        const char *name = sigabbrev_np(i);
        if (name && bytes_is(text, name))
            return i;
    }
    return 0;
}

static bool read_signal(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    static const char form[] = "a signal such as SIGSEGV or 11";
    (void)field;
    struct bytes text;
    if (!config_value_string(reader, node, form, &text))
        return false;
    int number = signal_number(text);
    if (!number)
        return config_reader_expected(reader, node, form);
    *(struct rule_range *)out = (struct rule_range){number, number};
    return true;
}

static void put_signal(struct config_printer *p, const struct config_field *field,
                       const void *value) {
    int number = ((const struct rule_range *)value)->from;
    const char *name = sigabbrev_np(number);
    (void)field;
    if (name)
        buf_printf(p->out, "SIG%s", name);
    else
        buf_printf(p->out, "%d", number);
}

/* "3" or "2-4". */
static bool read_attempt(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    static const char form[] = "an attempt such as 1, or a range such as 2-4";
    (void)field;
    struct bytes text;
    uint64_t from, to;
    if (!config_value_string(reader, node, form, &text))
        return false;
    size_t dash = bytes_find(text, BYTES("-"));
    bool good = bytes_u64(bytes_cut(text, 0, dash), &from);
    if (dash == text.len)
        to = from;
    else
        good = good && bytes_u64(bytes_cut(text, dash + 1, text.len), &to);
    if (!good || from < 1 || to < from || to > ATTEMPT_MOST)
        return config_reader_expected(reader, node, form);
    *(struct rule_range *)out = (struct rule_range){(int)from, (int)to};
    return true;
}

static void put_attempt(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct rule_range *range = value;
    (void)field;
    buf_printf(p->out, "%d", range->from);
    if (range->to != range->from)
        buf_printf(p->out, "-%d", range->to);
}

static bool read_pattern(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    (void)field;
    struct bytes text;
    int code;
    PCRE2_SIZE offset;
    PCRE2_UCHAR why[128];
    if (!config_value_string(reader, node, "a regular expression (PCRE2)", &text))
        return false;
    pcre2_code *pattern =
        pcre2_compile((PCRE2_SPTR)text.ptr, text.len, PCRE2_UTF, &code, &offset, NULL);
    if (!pattern) {
        pcre2_get_error_message(code, why, sizeof why);
        config_mistake_add(
            &reader->mistakes, node->at,
            "%.*s: \"%.*s\" is not a regular expression: %s at offset %zu", BYTES_ARG(node->key),
            BYTES_ARG(bytes_clip(node->text, PATTERN_SHOWN_MAX)), (const char *)why, offset);
        return false;
    }
    pcre2_code_free(pattern);
    *(struct bytes *)out = text;
    return true;
}

/* "name", or {name: glob}. */
static bool read_header(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    static const char form[] = "a header's name, or {name: pattern}";
    (void)field;
    struct rule_when *when = out;
    if (node->kind != CONFIG_MAPPING)
        return config_value_string(reader, node, form, &when->header_name);
    if (node->count != 1 || node->first->key.len == 0)
        return config_reader_expected(reader, node, "one header, {name: pattern}");
    if (!config_value_string(reader, node->first, "a pattern such as eu-*", &when->header_value))
        return false;
    when->header_name = node->first->key;
    return true;
}

static void put_header(struct config_printer *p, const struct config_field *field,
                       const void *value) {
    const struct rule_when *when = value;
    (void)field;
    if (when->header_value.len == 0) {
        config_printer_text(p, when->header_name);
        return;
    }
    buf_char(p->out, '{');
    config_printer_key(p, when->header_name, ": ");
    config_printer_text(p, when->header_value);
    buf_char(p->out, '}');
}

CONFIG_SHOWN(has_header, struct rule_when, of->header_name.len > 0)

static const struct config_field when_fields[] = {
    CONFIG_WHOLE("status", read_status, .put = put_statuses, .shown = has_statuses),
    CONFIG_WHOLE("kind", read_kind, .put = put_kinds, .shown = has_kinds),
    CONFIG_TEXT("error_type", config_value_text, struct rule_when, error_type),
    CONFIG_TEXT("message", read_pattern, struct rule_when, message),
    CONFIG_WHOLE("exit_code", read_exit_code, .put = put_exit_codes, .shown = has_exit_codes),
    CONFIG_OTHER("signal", read_signal, put_signal, struct rule_when, signals, .optional = true),
    CONFIG_OTHER("attempt", read_attempt, put_attempt, struct rule_when, attempts,
                 .optional = true),
    CONFIG_WHOLE("header", read_header, .put = put_header, .shown = has_header),
    CONFIG_TEXT("jq", config_value_jq, struct rule_when, jq),
};
const struct config_table config_when_table = CONFIG_FLOW(when_fields);

bool config_when_read(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_when_table, out);
}

static bool read_empty(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    (void)field;
    if (config_value_is(node, "true") || config_value_is(node, "on"))
        *(enum rule_emptiness *)out = RULE_EMPTY_YES;
    else if (config_value_is(node, "false") || config_value_is(node, "off"))
        *(enum rule_emptiness *)out = RULE_EMPTY_NO;
    else
        return config_reader_expected(reader, node, "true or false");
    return true;
}

static void put_empty(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    (void)field;
    buf_str(p->out, *(const enum rule_emptiness *)value == RULE_EMPTY_YES ? "true" : "false");
}

static const struct config_field answer_when_fields[] = {
    CONFIG_WHOLE("status", read_status, .put = put_statuses, .shown = has_statuses),
    CONFIG_WHOLE("header", read_header, .put = put_header, .shown = has_header),
    CONFIG_TEXT("body", read_pattern, struct rule_when, body),
    CONFIG_TEXT("jq", config_value_jq, struct rule_when, jq),
    CONFIG_OTHER("empty", read_empty, put_empty, struct rule_when, empty, .optional = true),
};
const struct config_table config_answer_when_table = CONFIG_FLOW(answer_when_fields);

bool config_when_read_answer(struct config_reader *reader, const struct config_node *node,
                             const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_answer_when_table, out);
}
