/* preset: rows in the order of SEMANTICS §3. One cell of that page may take several rows, because
 * all conditions of a rule must hold: "408, timeout" is a status or a kind. A row's number is part
 * of its name, which is stored in envelopes; new rows go to the end of their verdict's group, and
 * the following numbers change. */
#include "core/presets/preset.h"

#include <assert.h>

#include "core/presets/preset_ai.h"
#include "core/presets/preset_row.h"

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
    [PRESET_ERRORS] = {"errors", NULL, 0}, /* preset_errors.c */
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
    if (preset == PRESET_ERRORS)
        return preset_errors(count);
    *count = presets[preset].count;
    return presets[preset].rules;
}

const struct rule *preset_ours(size_t *count) {
    *count = sizeof ours_rules / sizeof *ours_rules;
    return ours_rules;
}
