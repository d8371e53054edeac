/* convention_reason: reason and category of an adopted letter. */
#include "triage/adopt/formats/convention_reason.h"

#include "base/text/ascii.h"
#include "core/presets/preset.h"

enum { REASON_MAX = 128 };

/* ---- type and message ---- */

static bool is_type(struct bytes text) {
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.ptr[i]) && text.ptr[i] != '.' && text.ptr[i] != '_')
            return false;
    return text.len > 0 && !ascii_is_digit(text.ptr[0]);
}

void convention_reason_failure(struct convention_facts *facts) {
    struct bytes failure = convention_facts_get(facts, FACT_FAILURE);
    size_t colon = bytes_find(failure, BYTES(": "));
    struct bytes type = bytes_cut(failure, 0, colon);
    if (colon < failure.len && is_type(type)) {
        convention_facts_text(facts, FACT_TYPE, type);
        failure = bytes_cut(failure, colon + 2, failure.len);
    }
    convention_facts_text(facts, FACT_MESSAGE, failure);
}

/* ---- categories ---- */

/* Reasons of other systems, without the prefix max_attempts:. */
static const struct {
    const char *reason, *category;
} of_reason[] = {
    {"expired", "timeout"},      /* its time to live is over */
    {"maxlen", "transient"},     /* its queue was full; the message is not at fault */
    {"delivery_limit", "crash"}, /* delivered repeatedly and never acknowledged */
    {"max_deliveries", "crash"},   {"timeout", "timeout"},
    {"rate_limit", "rate_limit"},  {"upstream_busy", "transient"},
    {"upstream_5xx", "external"},  {"model_gone", "model_gone"},
    {"bad_request", "validation"}, {"auth", "auth"},
};

/* Types in addition to the preset `errors`. */
static const struct {
    const char *type, *category;
} of_type[] = {
    {"*Serialization*", "validation"}, {"*Deserialization*", "validation"},
    {"*DataException", "validation"},  {"*Schema*", "validation"},
    {"*IllegalArgument*", "bug"},      {"*ArgumentError*", "bug"},
    {"*NullReference*", "bug"},        {"*NoMethodError", "bug"},
};

static struct bytes category_of_reason(struct bytes reason) {
    struct bytes prefix = BYTES("max_attempts:");
    if (bytes_starts(reason, prefix))
        reason = bytes_cut(reason, prefix.len, reason.len);
    for (size_t i = 0; i < sizeof of_reason / sizeof *of_reason; i++)
        if (bytes_is(reason, of_reason[i].reason))
            return bytes_of(of_reason[i].category);
    return BYTES_NONE;
}

static const struct rule *rule_of(const struct convention_facts *facts) {
    struct outcome outcome = {.ending = ENDING_FAILED,
                              .kind = KIND_REPORTED,
                              .error_type = convention_facts_get(facts, FACT_TYPE),
                              .error_message = convention_facts_get(facts, FACT_MESSAGE)};
    struct rule_subject subject = {.outcome = &outcome};
    size_t count;
    const struct rule *rules = preset_rules(PRESET_ERRORS, &count);
    for (size_t i = 0; i < count; i++)
        if (rule_matches_inside(&rules[i].when, &subject))
            return &rules[i];
    return NULL;
}

static struct bytes category_of_error(const struct convention_facts *facts,
                                      const struct rule *rule) {
    struct bytes type = convention_facts_get(facts, FACT_TYPE);
    for (size_t i = 0; i < sizeof of_type / sizeof *of_type; i++)
        if (bytes_glob(bytes_of(of_type[i].type), type))
            return bytes_of(of_type[i].category);
    return rule ? rule->category : BYTES_NONE;
}

/* ---- reasons ---- */

static struct bytes last_name(struct bytes type) {
    size_t from = 0;
    for (size_t i = 0; i < type.len; i++)
        if (type.ptr[i] == '.' || type.ptr[i] == ':' || type.ptr[i] == '$' || type.ptr[i] == '+' ||
            type.ptr[i] == '\\')
            from = i + 1;
    return bytes_cut(type, from, type.len);
}

static bool is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

/* A word begins at a capital after a lower-case letter, and at the last of several capitals:
 * java.io.IOException gives io_exception, JSONParseError json_parse_error. */
static bool begins_word(struct bytes name, size_t at) {
    if (at == 0 || !is_capital(name.ptr[at]))
        return false;
    bool small_before = !is_capital(name.ptr[at - 1]);
    bool small_behind =
        at + 1 < name.len && !is_capital(name.ptr[at + 1]) && ascii_is_letter(name.ptr[at + 1]);
    return small_before || small_behind;
}

static struct bytes reason_of_type(struct bytes type, struct arena *arena) {
    char text[2 * REASON_MAX];
    struct buf out;
    struct bytes name = bytes_cut(last_name(type), 0, REASON_MAX);
    buf_init_fixed(&out, text, sizeof text);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (begins_word(name, i) && out.len > 0 && text[out.len - 1] != '_')
            buf_char(&out, '_');
        if (is_capital(c))
            buf_char(&out, (char)(c - 'A' + 'a'));
        else
            buf_char(&out, ascii_is_alnum(c) ? c : '_');
    }
    return arena_dup(arena, buf_view(&out));
}

static bool is_reason(struct bytes text) {
    return text.len > 0 && text.len <= REASON_MAX && bytes_is_printable(text);
}

/* These reasons of the preset stand for many error types; for an adopted letter the type is more
 * precise. */
static bool is_less_precise(const struct rule *rule, struct bytes type) {
    static const char *const reasons[] = {"bug",       "value_error", "type_error",
                                          "key_error", "index_error", "attribute_error",
                                          "query",     "validation"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (bytes_is(rule->reason, reasons[i]))
            return type.len > 0 && !bytes_glob(BYTES("*validation*"), type);
    return false;
}

void convention_reason_find(const struct convention_facts *facts, struct bytes *reason,
                            struct bytes *category) {
    const struct rule *rule = rule_of(facts);
    struct bytes type = convention_facts_get(facts, FACT_TYPE);
    *reason = convention_facts_get(facts, FACT_REASON);
    *category = convention_facts_get(facts, FACT_CATEGORY);
    if (!is_reason(*category))
        *category = category_of_reason(*reason);
    if (category->len == 0)
        *category = category_of_error(facts, rule);
    if (!is_reason(*reason) && rule && !is_less_precise(rule, type))
        *reason = rule->reason;
    else if (!is_reason(*reason))
        *reason = reason_of_type(type, facts->arena);
    if (reason->len == 0)
        *reason = BYTES("unknown");
    if (category->len == 0)
        *category = BYTES("unknown");
}
