/* rule: matching of the conditions that need no other library. */
#include "core/rule.h"

#include <assert.h>
#include <string.h>

#include "base/text/ascii.h"
#include "core/presets/told_status.h"

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

/* A number matches only as a whole word: "503" is not in "order 15037". */
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

/* "KeyError" also finds "builtins.KeyError", "ReadTimeout" also "Net::ReadTimeout". */
static bool joins_names(char c) {
    return c == '.' || c == ':' || c == '$' || c == '+';
}

static struct bytes last_name(struct bytes type) {
    size_t from = type.len;
    while (from > 0 && !joins_names(type.ptr[from - 1]))
        from--;
    return bytes_cut(type, from, type.len);
}

static bool type_matches(struct bytes pattern, struct bytes type) {
    return bytes_glob(pattern, type) || bytes_glob(pattern, last_name(type));
}

static struct bytes without_suffix(struct bytes type) {
    static const struct bytes suffixes[] = {BYTES("_error"), BYTES("Error"), BYTES("Exception")};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t stem = type.len > suffixes[i].len ? type.len - suffixes[i].len : 0;
        if (stem > 0 && bytes_eq_nocase(bytes_cut(type, stem, type.len), suffixes[i]))
            return bytes_cut(type, 0, stem);
    }
    return type;
}

/* The comparison of the last letters rules out nearly all of the hundreds of names in a preset. */
static bool name_matches(struct bytes pattern, struct bytes name) {
    if (pattern.len == 0 || name.len == 0)
        return bytes_glob(pattern, name);
    char end = pattern.ptr[pattern.len - 1];
    return (end == '*' || ascii_lower(end) == ascii_lower(name.ptr[name.len - 1])) &&
           bytes_glob(pattern, name);
}

static bool types_match(struct rule_globs types, struct bytes type) {
    struct bytes last = last_name(type);
    struct bytes stem = without_suffix(last);
    bool has_path = last.len < type.len, has_suffix = stem.len < last.len;
    for (size_t i = 0; i < types.count; i++)
        if (name_matches(types.list[i], last) ||
            (has_suffix && name_matches(types.list[i], stem)) ||
            (has_path && name_matches(types.list[i], type)))
            return true;
    return false;
}

static bool messages_match(struct rule_globs messages, struct bytes message) {
    for (size_t i = 0; i < messages.count; i++)
        if (bytes_glob(messages.list[i], message))
            return true;
    return false;
}

/* ---- a status at the beginning of a message ---- */

static bool is_one_of(struct bytes word, const struct bytes *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes_eq_nocase(word, words[i]))
            return true;
    return false;
}

/* Removes the next word: letters, or digits. Other characters before it are skipped. */
static struct bytes next_word(struct bytes *rest) {
    size_t from = 0;
    while (from < rest->len && !ascii_is_alnum(rest->ptr[from]))
        from++;
    bool digits = from < rest->len && ascii_is_digit(rest->ptr[from]);
    size_t to = from;
    while (to < rest->len && ascii_is_alnum(rest->ptr[to]) &&
           ascii_is_digit(rest->ptr[to]) == digits)
        to++;
    struct bytes word = bytes_cut(*rest, from, to);
    *rest = bytes_cut(*rest, to, rest->len);
    return word;
}

static int status_of(struct bytes word, struct bytes behind) {
    if (word.len != 3 || word.ptr[0] < '4' || word.ptr[0] > '5' ||
        (behind.len && ascii_is_alnum(behind.ptr[0])))
        return 0;
    int status = 0;
    for (size_t i = 0; i < word.len; i++) {
        if (!ascii_is_digit(word.ptr[i]))
            return 0;
        status = status * 10 + (word.ptr[i] - '0');
    }
    return status;
}

/* What may follow a status without an introduction: its phrase, punctuation, or nothing. */
static bool is_told(struct bytes behind) {
    static const struct bytes phrases[] = {
        BYTES("Client"),        BYTES("Server"),    BYTES("Bad"),      BYTES("Unauthorized"),
        BYTES("Payment"),       BYTES("Forbidden"), BYTES("Not"),      BYTES("Proxy"),
        BYTES("Request"),       BYTES("Conflict"),  BYTES("Gone"),     BYTES("Payload"),
        BYTES("Unsupported"),   BYTES("Content"),   BYTES("Too"),      BYTES("Internal"),
        BYTES("Unprocessable"), BYTES("Service"),   BYTES("Gateway"),  BYTES("Overloaded"),
        BYTES("Site"),          BYTES("Error"),     BYTES("Response"), BYTES("status"),
    };
    if (behind.len == 0 || behind.ptr[0] != ' ')
        return true;
    struct bytes word = next_word(&behind);
    return word.len == 0 || is_one_of(word, phrases, sizeof phrases / sizeof *phrases);
}

int rule_message_status(struct bytes message) {
    static const struct bytes openings[] = {
        BYTES("http"),     BYTES("https"),    BYTES("HttpError"),  BYTES("status"),
        BYTES("code"),     BYTES("error"),    BYTES("response"),   BYTES("request"),
        BYTES("server"),   BYTES("client"),   BYTES("upstream"),   BYTES("remote"),
        BYTES("failed"),   BYTES("answered"), BYTES("returned"),   BYTES("responded"),
        BYTES("received"), BYTES("got"),      BYTES("with"),       BYTES("the"),
        BYTES("an"),       BYTES("a"),        BYTES("does"),       BYTES("not"),
        BYTES("indicate"), BYTES("success"),  BYTES("unexpected"),
    };
    struct bytes rest = message;
    bool first = true;
    for (;; first = false) {
        struct bytes word = next_word(&rest);
        int status = status_of(word, rest);
        if (status)
            return !first || is_told(rest) ? status : 0;
        /* "HTTP/1.1 503": the version is no status and no other word. */
        bool version = word.len == 1 && ascii_is_digit(word.ptr[0]);
        if (word.len == 0 ||
            !(version || is_one_of(word, openings, sizeof openings / sizeof *openings)))
            return 0;
    }
}

/* A header may be repeated; one match is enough. */
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

/* Numbers that an outcome does not have (status, exit code, signal) match nothing. */
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
    if (when->types.count && !types_match(when->types, outcome->error_type))
        return false;
    if (when->messages.count && !messages_match(when->messages, outcome->error_message))
        return false;
    if (!is_any(when->message_status) &&
        !in_range(when->message_status, rule_message_status(outcome->error_message)))
        return false;
    if (!is_any(when->told_status) &&
        !in_range(when->told_status, told_status(outcome->error_message)))
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
