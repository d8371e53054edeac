/* preset_row: macros for the tables of presets. Private to the preset files. */
#ifndef CORE_PRESETS_PRESET_ROW_H
#define CORE_PRESETS_PRESET_ROW_H

#include "core/rule.h"

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
/* Always with a status: the start of a message is the provider's own sentence, the rest may quote
 * the request (SEMANTICS §15). */
#define STARTS(glob)        .message_starts = TEXT(glob "*")
#define SAYS_WHEN           .says_when = true

/* ROW(preset, number, verdict, category, reason, conditions…) */
#define ROW(preset, number, does, its_category, its_reason, ...)                                   \
    {                                                                                              \
        .when = {__VA_ARGS__}, .verdict = VERDICT_##does, .category = TEXT(its_category),          \
        .reason = TEXT(its_reason), .name = TEXT("preset:" preset "[" #number "]")                 \
    }

/* The preset http, with which ai-api ends. */
/* clang-format off */
#define HTTP_ROWS                                                                                 \
    ROW("http", 0, RETRY, "rate_limit", "rate_limit", STATUS1(429)),                              \
    ROW("http", 1, RETRY, "timeout", "timeout", STATUS1(408)),                                    \
    ROW("http", 2, RETRY, "timeout", "timeout", KIND(TIMEOUT)),                                   \
    ROW("http", 3, RETRY, "transient", "upstream_busy", STATUS4(425, 502, 503, 504)),             \
    ROW("http", 4, RETRY, "transient", "refused", KIND(REFUSED)),                                 \
    ROW("http", 5, RETRY, "transient", "dns", KIND(DNS)),                                         \
    ROW("http", 6, RETRY, "transient", "tls", KIND(TLS)),                                         \
    ROW("http", 7, RETRY, "transient", "reset", KIND(RESET)),                                     \
    ROW("http", 8, HALT, "auth", "auth", STATUS3(401, 403, 407)),                                 \
    ROW("http", 9, DLQ, "validation", "bad_request", STATUS4(400, 413, 415, 422)),                \
    ROW("http", 10, DLQ, "not_found", "not_found", STATUS2(404, 410)),                            \
    ROW("http", 11, DLQ, "unknown", "upstream_5xx", STATUS_5XX)
/* clang-format on */

#endif
