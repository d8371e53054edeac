#include "app/config_print_rules.h"

#include <string.h>

/* ---- conditions: each puts ", name: value" if it is given ---- */

static void put_statuses(struct config_printer *p, const struct rule_when *when, bool *comma) {
    if (when->status_count == 0)
        return;
    config_printer_begin(p, comma, "status");
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

static void put_kinds(struct config_printer *p, const struct rule_when *when, bool *comma) {
    if (when->kinds == 0)
        return;
    config_printer_begin(p, comma, "kind");
    const char *before = "[";
    for (int i = 0; i < KIND_COUNT; i++) {
        if (when->kinds & 1u << i) {
            buf_printf(p->out, "%s%s", before, kind_text((enum kind)i));
            before = ", ";
        }
    }
    buf_char(p->out, ']');
}

static void put_exit_codes(struct config_printer *p, const struct rule_when *when, bool *comma) {
    if (when->exit_code_count == 0)
        return;
    config_printer_begin(p, comma, "exit_code");
    for (size_t i = 0; i < when->exit_code_count; i++)
        buf_printf(p->out, "%s%d", i ? ", " : "[", when->exit_codes[i].from);
    buf_char(p->out, ']');
}

static void put_signal(struct config_printer *p, const struct rule_when *when, bool *comma) {
    int number = when->signals.from;
    const char *name = sigabbrev_np(number);
    if (number == 0)
        return;
    config_printer_begin(p, comma, "signal");
    if (name)
        buf_printf(p->out, "SIG%s", name);
    else
        buf_printf(p->out, "%d", number);
}

static void put_attempts(struct config_printer *p, const struct rule_when *when, bool *comma) {
    if (when->attempts.from == 0)
        return;
    config_printer_begin(p, comma, "attempt");
    buf_printf(p->out, "%d", when->attempts.from);
    if (when->attempts.to != when->attempts.from)
        buf_printf(p->out, "-%d", when->attempts.to);
}

static void put_header(struct config_printer *p, const struct rule_when *when, bool *comma) {
    if (when->header_name.len == 0)
        return;
    config_printer_begin(p, comma, "header");
    if (when->header_value.len == 0) {
        config_printer_text(p, when->header_name);
        return;
    }
    buf_char(p->out, '{');
    config_printer_key(p, when->header_name, ": ");
    config_printer_text(p, when->header_value);
    buf_char(p->out, '}');
}

static void put_when(struct config_printer *p, const struct rule_when *when) {
    bool comma = false;
    buf_str(p->out, "when: {");
    put_statuses(p, when, &comma);
    put_kinds(p, when, &comma);
    config_printer_optional(p, "error_type", when->error_type, &comma);
    config_printer_optional(p, "message", when->message, &comma);
    put_exit_codes(p, when, &comma);
    put_signal(p, when, &comma);
    put_attempts(p, when, &comma);
    put_header(p, when, &comma);
    config_printer_optional(p, "body", when->body, &comma);
    config_printer_optional(p, "jq", when->jq, &comma);
    if (when->empty != RULE_EMPTY_ANY) {
        config_printer_begin(p, &comma, "empty");
        buf_str(p->out, when->empty == RULE_EMPTY_YES ? "true" : "false");
    }
    buf_char(p->out, '}');
}

static void put_rule(struct config_printer *p, const struct rule *rule) {
    bool comma = true;
    buf_str(p->out, "        - {");
    put_when(p, &rule->when);
    config_printer_begin(p, &comma, "do");
    buf_str(p->out, verdict_text(rule->verdict));
    config_printer_optional(p, "category", rule->category, &comma);
    config_printer_optional(p, "reason", rule->reason, &comma);
    config_printer_optional(p, "dlq", rule->dlq, &comma);
    buf_str(p->out, "}\n");
}

void config_print_rules(struct config_printer *p, const struct policy *policy) {
    buf_str(p->out, "    classify:\n      presets: [");
    for (size_t i = 0; i < policy->preset_count; i++)
        buf_printf(p->out, "%s%s", i ? ", " : "", preset_text(policy->presets[i]));
    buf_str(p->out, "]\n");
    if (policy->rule_count)
        buf_str(p->out, "      rules: # tried before the presets; the first that matches wins\n");
    for (size_t i = 0; i < policy->rule_count; i++)
        put_rule(p, &policy->rules[i]);
    if (policy->answer_count)
        buf_str(p->out, "      answers: # of answers that look like success; the first wins\n");
    for (size_t i = 0; i < policy->answer_count; i++)
        put_rule(p, &policy->answers[i]);
}
