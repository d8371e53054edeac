/* preset: rows in the order of SEMANTICS §3. One cell of that page may take several rows, because a
 * rule's conditions are all to be met: "408, timeout" is a status or a kind. A row's number is part
 * of its name, which stands in envelopes; new rows go to the end of their verdict's group, and the
 * numbers behind move on. */
#include "core/preset.h"

#include <assert.h>

#include "core/preset_ai.h"
#include "core/preset_row.h"

/* clang-format off */
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

static const struct rule ours_rules[] = {
    ROW("ours", 0, DLQ, "bug", "edit_failed", KIND(EDIT)),
    ROW("ours", 1, DLQ, "external", "answer_too_large", KIND(ANSWER), TYPE(OUTCOME_TOO_LARGE)),
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
    [PRESET_AI_API] = {"ai-api", NULL, 0}, /* preset_ai.c */
};

const char *preset_text(enum preset preset) {
    assert((unsigned)preset < PRESET_COUNT);
    return presets[preset].text;
}

const struct rule *preset_rules(enum preset preset, size_t *count) {
    assert((unsigned)preset < PRESET_COUNT);
    if (preset == PRESET_AI_API)
        return preset_ai(count);
    *count = presets[preset].count;
    return presets[preset].rules;
}

const struct rule *preset_ours(size_t *count) {
    *count = sizeof ours_rules / sizeof *ours_rules;
    return ours_rules;
}
