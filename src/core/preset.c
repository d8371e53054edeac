/* preset: rows in the order of SEMANTICS §3. One cell of that page may take several rows, because a
 * rule's conditions are all to be met: "408, timeout" is a status or a kind. A row's number is part
 * of its name, which stands in envelopes; new rows go to the end of their verdict's group, and the
 * numbers behind move on. */
#include "core/preset.h"

#include <assert.h>

#define TEXT(literal)                                                                              \
    { (literal), sizeof(literal) - 1 }
#define STATUS1(a)          .statuses = {{a, a}}, .status_count = 1
#define STATUS2(a, b)       .statuses = {{a, a}, {b, b}}, .status_count = 2
#define STATUS3(a, b, c)    .statuses = {{a, a}, {b, b}, {c, c}}, .status_count = 3
#define STATUS4(a, b, c, d) .statuses = {{a, a}, {b, b}, {c, c}, {d, d}}, .status_count = 4
#define STATUS_5XX          .statuses = {{500, 599}}, .status_count = 1
#define EXIT1(a)            .exit_codes = {{a, a}}, .exit_code_count = 1
#define EXIT2(a, b)         .exit_codes = {{a, a}, {b, b}}, .exit_code_count = 2
#define KIND(code)          .kinds = 1u << KIND_##code
#define TYPE(glob)          .error_type = TEXT(glob)
#define MESSAGE(text)       .message_has = TEXT(text)

/* ROW(preset, number, verdict, category, reason, conditions…) */
#define ROW(preset, number, does, its_category, its_reason, ...)                                   \
    {                                                                                              \
        .when = {__VA_ARGS__}, .verdict = VERDICT_##does, .category = TEXT(its_category),          \
        .reason = TEXT(its_reason), .name = TEXT("preset:" preset "[" #number "]")                 \
    }

/* clang-format off */
#define HTTP_ROWS                                                                                  \
    ROW("http", 0, RETRY, "rate_limit", "rate_limit", STATUS1(429)),                               \
    ROW("http", 1, RETRY, "timeout", "timeout", STATUS1(408)),                                     \
    ROW("http", 2, RETRY, "timeout", "timeout", KIND(TIMEOUT)),                                    \
    ROW("http", 3, RETRY, "transient", "upstream_busy", STATUS4(425, 502, 503, 504)),              \
    ROW("http", 4, RETRY, "transient", "refused", KIND(REFUSED)),                                  \
    ROW("http", 5, RETRY, "transient", "dns", KIND(DNS)),                                          \
    ROW("http", 6, RETRY, "transient", "tls", KIND(TLS)),                                          \
    ROW("http", 7, RETRY, "transient", "reset", KIND(RESET)),                                      \
    ROW("http", 8, HALT, "auth", "auth", STATUS3(401, 403, 407)),                                  \
    ROW("http", 9, DLQ, "validation", "bad_request", STATUS4(400, 413, 415, 422)),                 \
    ROW("http", 10, DLQ, "not_found", "not_found", STATUS2(404, 410)),                             \
    ROW("http", 11, DLQ, "unknown", "upstream_5xx", STATUS_5XX)

static const struct rule http_rules[] = {HTTP_ROWS};

static const struct rule exec_rules[] = {
    ROW("exec", 0, DLQ, "validation", "bad_request", EXIT2(65, 66)),
    ROW("exec", 1, RETRY, "transient", "unavailable", EXIT2(69, 75)),
    ROW("exec", 2, HALT, "auth", "auth", EXIT1(77)),
    ROW("exec", 3, HALT, "config", "config", EXIT1(78)),
    ROW("exec", 4, RETRY, "timeout", "timeout", KIND(TIMEOUT)),
    ROW("exec", 5, RETRY, "crash", "signal", KIND(SIGNAL)),
};

/* The type is looked at first, all of it, and only then the message: a ValueError that quotes a
 * "503" is still a bug. */
static const struct rule errors_rules[] = {
    ROW("errors", 0, RETRY, "timeout", "timeout", TYPE("*Timeout*")),
    ROW("errors", 1, RETRY, "transient", "connection", TYPE("Connection*")),
    ROW("errors", 2, RETRY, "transient", "blocked_io", TYPE("BlockingIOError")),
    ROW("errors", 3, RETRY, "transient", "deadlock", TYPE("*deadlock*")),
    ROW("errors", 4, DLQ, "bug", "key_error", TYPE("KeyError")),
    ROW("errors", 5, DLQ, "bug", "type_error", TYPE("TypeError")),
    ROW("errors", 6, DLQ, "bug", "value_error", TYPE("ValueError")),
    ROW("errors", 7, DLQ, "bug", "index_error", TYPE("IndexError")),
    ROW("errors", 8, DLQ, "bug", "attribute_error", TYPE("AttributeError")),
    ROW("errors", 9, DLQ, "bug", "null_pointer", TYPE("NullPointer*")),
    ROW("errors", 10, DLQ, "bug", "parse_error", TYPE("*Parse*")),
    ROW("errors", 11, DLQ, "validation", "validation", TYPE("*validation*")),
    ROW("errors", 12, DLQ, "validation", "foreign_key", TYPE("*foreign*key*")),
    ROW("errors", 13, RETRY, "transient", "deadlock", MESSAGE("deadlock")),
    ROW("errors", 14, RETRY, "transient", "upstream_busy", MESSAGE("503")),
    ROW("errors", 15, RETRY, "rate_limit", "rate_limit", MESSAGE("429")),
    ROW("errors", 16, RETRY, "transient", "connection_reset", MESSAGE("connection reset")),
    ROW("errors", 17, DLQ, "validation", "validation", MESSAGE("validation")),
    ROW("errors", 18, DLQ, "validation", "foreign_key", MESSAGE("foreign key")),
    ROW("errors", 19, DLQ, "validation", "bad_request", MESSAGE("400")),
    ROW("errors", 20, DLQ, "validation", "not_found", MESSAGE("404")),
};

/* Providers put the cause into the type, the code or only the text, so each is asked for. A quota
 * "per minute", or one that says when to come again, is a rate limit and must not stop the queue;
 * "too many tokens" is one too, unless it is a 400. A 403 may be about the prompt, a 400 about the
 * key. */
static const struct rule ai_api_rules[] = {
    ROW("ai-api", 0, DLQ, "model_gone", "model_gone", STATUS1(404), MESSAGE("model")),
    ROW("ai-api", 1, DLQ, "model_gone", "model_gone", TYPE("*model_not_found*")),
    ROW("ai-api", 2, DLQ, "model_gone", "model_gone", MESSAGE("model_not_found")),
    ROW("ai-api", 3, DLQ, "model_gone", "model_gone", STATUS1(410), MESSAGE("model")),
    ROW("ai-api", 4, DLQ, "model_gone", "model_gone", TYPE("*invalid_model*")),
    ROW("ai-api", 5, DLQ, "model_gone", "model_gone", TYPE("*model_decommissioned*")),
    ROW("ai-api", 6, DLQ, "model_gone", "model_gone", TYPE("DeploymentNotFound")),
    ROW("ai-api", 7, DLQ, "model_gone", "model_gone", MESSAGE("no endpoints found")),
    ROW("ai-api", 8, DLQ, "model_gone", "model_gone", MESSAGE("not a valid model")),
    ROW("ai-api", 9, DLQ, "model_gone", "model_gone", MESSAGE("model identifier is invalid")),
    ROW("ai-api", 10, DLQ, "model_gone", "model_gone", MESSAGE("has been decommissioned")),
    ROW("ai-api", 11, RETRY, "transient", "upstream_busy", STATUS1(529)),
    ROW("ai-api", 12, RETRY, "transient", "upstream_busy", TYPE("*overloaded*")),
    ROW("ai-api", 13, RETRY, "transient", "upstream_busy", MESSAGE("overloaded")),
    ROW("ai-api", 14, RETRY, "rate_limit", "rate_limit", STATUS1(429), MESSAGE("per minute")),
    ROW("ai-api", 15, RETRY, "rate_limit", "rate_limit", STATUS1(429), MESSAGE("per_minute")),
    ROW("ai-api", 16, RETRY, "rate_limit", "rate_limit", STATUS1(429), MESSAGE("per-minute")),
    ROW("ai-api", 17, RETRY, "rate_limit", "rate_limit", STATUS1(429), MESSAGE("retry in")),
    ROW("ai-api", 18, RETRY, "rate_limit", "rate_limit", STATUS1(429), TYPE("*rate_limit*")),
    ROW("ai-api", 19, HALT, "quota", "quota", TYPE("*insufficient_quota*")),
    ROW("ai-api", 20, HALT, "quota", "quota", TYPE("*billing*")),
    ROW("ai-api", 21, HALT, "quota", "quota", STATUS1(402)),
    ROW("ai-api", 22, HALT, "quota", "quota", MESSAGE("insufficient_quota")),
    ROW("ai-api", 23, HALT, "quota", "quota", MESSAGE("quota exceeded")),
    ROW("ai-api", 24, HALT, "quota", "quota", MESSAGE("exceeded your current quota")),
    ROW("ai-api", 25, HALT, "quota", "quota", MESSAGE("credit balance is too low")),
    ROW("ai-api", 26, HALT, "quota", "quota", MESSAGE("billing hard limit")),
    ROW("ai-api", 27, HALT, "quota", "quota", TYPE("*ServiceQuotaExceeded*")),
    ROW("ai-api", 28, HALT, "quota", "quota", MESSAGE("usage limits")),
    ROW("ai-api", 29, HALT, "quota", "quota", STATUS1(429), MESSAGE("calls / month")),
    ROW("ai-api", 30, HALT, "auth", "auth", STATUS1(400), MESSAGE("api key not valid")),
    ROW("ai-api", 31, DLQ, "content_policy", "content_policy", TYPE("*content*policy*")),
    ROW("ai-api", 32, DLQ, "content_policy", "content_policy", TYPE("*content*filter*")),
    ROW("ai-api", 33, DLQ, "content_policy", "content_policy", MESSAGE("content policy")),
    ROW("ai-api", 34, DLQ, "content_policy", "content_policy", MESSAGE("content_policy")),
    ROW("ai-api", 35, DLQ, "content_policy", "content_policy", MESSAGE("content filter")),
    ROW("ai-api", 36, DLQ, "content_policy", "content_policy", MESSAGE("content_filter")),
    ROW("ai-api", 37, DLQ, "content_policy", "content_policy", MESSAGE("content management")),
    ROW("ai-api", 38, DLQ, "content_policy", "content_policy", MESSAGE("safety system")),
    ROW("ai-api", 39, DLQ, "content_policy", "content_policy", STATUS1(498)),
    ROW("ai-api", 40, DLQ, "content_policy", "content_policy", TYPE("*moderation*")),
    ROW("ai-api", 41, DLQ, "content_policy", "content_policy", MESSAGE("was flagged")),
    ROW("ai-api", 42, DLQ, "content_policy", "content_policy", MESSAGE("responsible ai")),
    ROW("ai-api", 43, DLQ, "validation", "too_long", TYPE("*context_length*")),
    ROW("ai-api", 44, DLQ, "validation", "too_long", MESSAGE("context length")),
    ROW("ai-api", 45, DLQ, "validation", "too_long", MESSAGE("context_length")),
    ROW("ai-api", 46, DLQ, "validation", "too_long", MESSAGE("context window")),
    ROW("ai-api", 47, DLQ, "validation", "too_long", MESSAGE("max_tokens")),
    ROW("ai-api", 48, DLQ, "validation", "too_long", MESSAGE("prompt is too long")),
    ROW("ai-api", 49, DLQ, "validation", "too_long", MESSAGE("maximum number of tokens")),
    ROW("ai-api", 50, DLQ, "validation", "too_long", STATUS1(400), MESSAGE("too many tokens")),
    ROW("ai-api", 51, DLQ, "validation", "too_long", MESSAGE("input is too long")),
    ROW("ai-api", 52, DLQ, "validation", "too_long", MESSAGE("maximum tokens you requested")),
    ROW("ai-api", 53, FALLBACK, "external", "upstream_5xx", STATUS_5XX),
    HTTP_ROWS,
};

static const struct rule ours_rules[] = {
    ROW("ours", 0, DLQ, "bug", "edit_failed", KIND(EDIT)),
    ROW("ours", 1, DLQ, "external", "answer_too_large", KIND(ANSWER)),
    ROW("ours", 2, RETRY, "batch_item", "batch_item", KIND(REPORTED), TYPE(OUTCOME_BATCH_ITEM)),
};
/* clang-format on */

#define TABLE(label, table)                                                                        \
    { label, table, sizeof(table) / sizeof(table)[0] }

static const struct {
    const char *text;
    const struct rule *rules;
    size_t count;
} presets[PRESET_COUNT] = {
    [PRESET_HTTP] = TABLE("http", http_rules),
    [PRESET_EXEC] = TABLE("exec", exec_rules),
    [PRESET_ERRORS] = TABLE("errors", errors_rules),
    [PRESET_AI_API] = TABLE("ai-api", ai_api_rules),
};

const char *preset_text(enum preset preset) {
    assert((unsigned)preset < PRESET_COUNT);
    return presets[preset].text;
}

const struct rule *preset_rules(enum preset preset, size_t *count) {
    assert((unsigned)preset < PRESET_COUNT);
    *count = presets[preset].count;
    return presets[preset].rules;
}

const struct rule *preset_ours(size_t *count) {
    *count = sizeof ours_rules / sizeof *ours_rules;
    return ours_rules;
}
