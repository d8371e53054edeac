#include "core/rule.h"

#include <assert.h>

#include "base/ascii.h"

void rule_facts_set(struct rule_facts *facts, size_t rule_index) {
    assert(rule_index < RULES_MAX);
    facts->bits[rule_index / 64] |= UINT64_C(1) << (rule_index % 64);
}

void rule_facts_set_answer(struct rule_facts *facts, size_t rule_index) {
    assert(rule_index < RULES_MAX);
    facts->answers[rule_index / 64] |= UINT64_C(1) << (rule_index % 64);
}

size_t rule_facts_answer(const struct rule_facts *facts) {
    for (size_t i = 0; i < RULES_MAX; i++)
        if ((facts->answers[i / 64] >> (i % 64)) & 1u)
            return i;
    return RULES_MAX;
}

bool rule_needs_facts(const struct rule *rule) {
    return rule->when.message.len > 0 || rule->when.jq.len > 0;
}

static bool in_range(struct rule_range range, int64_t value) {
    return range.from <= value && value <= range.to;
}

static bool in_ranges(const struct rule_range *ranges, size_t count, int64_t value) {
    for (size_t i = 0; i < count; i++)
        if (in_range(ranges[i], value))
            return true;
    return false;
}

static bool is_any(struct rule_range range) {
    return range.from == 0 && range.to == 0;
}

/* A number matches only where it stands alone: "503" is not in "order 15037". */
static bool stands_alone(struct bytes text, size_t at, struct bytes what) {
    size_t end = at + what.len;
    bool cut_front = ascii_is_digit(what.ptr[0]) && at > 0 && ascii_is_alnum(text.ptr[at - 1]);
    bool cut_back =
        ascii_is_digit(what.ptr[what.len - 1]) && end < text.len && ascii_is_alnum(text.ptr[end]);
    return !cut_front && !cut_back;
}

static bool message_has(struct bytes text, struct bytes what) {
    for (size_t at = 0; at + what.len <= text.len; at++)
        if (bytes_eq_nocase(bytes_cut(text, at, at + what.len), what) &&
            stands_alone(text, at, what))
            return true;
    return false;
}

/* "KeyError" also finds "builtins.KeyError". */
static bool type_matches(struct bytes pattern, struct bytes type) {
    if (bytes_glob(pattern, type))
        return true;
    size_t from = type.len;
    while (from > 0 && type.ptr[from - 1] != '.')
        from--;
    return from > 0 && bytes_glob(pattern, bytes_cut(type, from, type.len));
}

/* A name may stand several times; one that fits is enough. */
static bool header_matches(const struct rule_when *when, const struct rule_header *headers,
                           size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct rule_header *header = &headers[i];
        if (bytes_eq_nocase(header->name, when->header_name) &&
            (when->header_value.len == 0 || bytes_glob(when->header_value, header->value)))
            return true;
    }
    return false;
}

/* Numbers that an outcome does not have (no status, no exit code, no signal) match nothing. */
static bool numbers_match(const struct rule_when *when, const struct outcome *outcome) {
    if (when->status_count &&
        !(outcome->status && in_ranges(when->statuses, when->status_count, outcome->status)))
        return false;
    if (when->exit_code_count &&
        !(outcome->kind == KIND_EXIT &&
          in_ranges(when->exit_codes, when->exit_code_count, outcome->exit_code)))
        return false;
    return is_any(when->signals) ||
           (outcome->kind == KIND_SIGNAL && in_range(when->signals, outcome->signal));
}

static bool texts_match(const struct rule_when *when, const struct outcome *outcome) {
    if (when->error_type.len && !type_matches(when->error_type, outcome->error_type))
        return false;
    if (when->message_starts.len && !bytes_glob(when->message_starts, outcome->error_message))
        return false;
    return when->message_has.len == 0 || message_has(outcome->error_message, when->message_has);
}

bool rule_matches_inside(const struct rule_when *when, const struct rule_subject *subject) {
    const struct outcome *outcome = subject->outcome;
    if (when->kinds && !((when->kinds >> outcome->kind) & 1u))
        return false;
    if (!is_any(when->attempts) && !in_range(when->attempts, subject->attempt))
        return false;
    if (when->header_name.len && !header_matches(when, subject->headers, subject->header_count))
        return false;
    if (when->says_when && outcome->retry_after_ms < 0)
        return false;
    return numbers_match(when, outcome) && texts_match(when, outcome);
}

static bool is_empty(struct bytes text) {
    text = bytes_trim(text);
    return text.len == 0 || bytes_is(text, "null");
}

bool rule_matches_answer(const struct rule_when *when, const struct rule_answer *answer) {
    if (when->status_count && !in_ranges(when->statuses, when->status_count, answer->status))
        return false;
    if (when->header_name.len && !header_matches(when, answer->headers, answer->header_count))
        return false;
    return when->empty == RULE_EMPTY_ANY ||
           (when->empty == RULE_EMPTY_YES) == is_empty(answer->text);
}
