#include "app/config_print_triage.h"

#include "core/fingerprint.h"

static void put_replays(struct config_printer *p, const struct triage_when *when, bool *comma) {
    bool least = when->replays_least > 0, most = when->replays_most != TRIAGE_REPLAYS_MOST;
    if (!least && !most)
        return;
    config_printer_begin(p, comma, "replays");
    if (!most)
        buf_printf(p->out, "%u+", when->replays_least);
    else if (least)
        buf_printf(p->out, "%u-%u", when->replays_least, when->replays_most);
    else
        buf_printf(p->out, "%u", when->replays_most);
}

static void put_span(struct config_printer *p, const char *name, int64_t ms, bool *comma) {
    if (ms == 0)
        return;
    config_printer_begin(p, comma, name);
    config_printer_duration(p, "", ms);
}

static void put_when(struct config_printer *p, const struct triage_when *when) {
    bool comma = false;
    char fingerprint[FINGERPRINT_TEXT_SIZE];
    buf_str(p->out, "{when: {");
    config_printer_optional(p, "category", when->category, &comma);
    config_printer_optional(p, "reason", when->reason, &comma);
    if (when->has_cause)
        config_printer_optional(p, "cause", bytes_of(cause_text(when->cause)), &comma);
    config_printer_optional(p, "error_type", when->error_type, &comma);
    if (when->has_fingerprint) {
        config_printer_begin(p, &comma, "fingerprint");
        buf_printf(p->out, "\"%s\"", fingerprint_text(when->fingerprint, fingerprint));
    }
    config_printer_optional(p, "key", when->key, &comma);
    config_printer_optional(p, "task_type", when->task_type, &comma);
    put_span(p, "age", when->age_ms, &comma);
    put_replays(p, when, &comma);
    if (when->attempts > 0) {
        config_printer_begin(p, &comma, "attempts");
        buf_printf(p->out, "%u", when->attempts);
    }
    config_printer_optional(p, "where", when->where, &comma);
    buf_char(p->out, '}');
}

static void put_replay(struct config_printer *p, const struct triage_rule *rule, bool *comma) {
    put_span(p, "lifetime", rule->lifetime_ms, comma);
    config_printer_begin(p, comma, "rate");
    replay_rate_put(&rule->rate, p->out);
    for (size_t i = 0; i < rule->canary_count; i++) {
        if (i == 0)
            config_printer_begin(p, comma, "canary");
        buf_printf(p->out, "%s%u", i ? ", " : "[", rule->canary[i]);
    }
    if (rule->canary_count > 0)
        buf_char(p->out, ']');
    config_printer_optional(p, "edit", rule->edit, comma);
    config_printer_optional(p, "to", rule->to, comma);
}

static void put_tell(struct config_printer *p, const struct triage_rule *rule, bool *comma) {
    if (rule->tell_count == 0)
        return;
    config_printer_begin(p, comma, "to");
    for (size_t i = 0; i < rule->tell_count; i++) {
        buf_str(p->out, i ? ", " : "[");
        config_printer_text(p, rule->tell[i]);
    }
    buf_char(p->out, ']');
}

static void put_rule(struct config_printer *p, const struct triage_rule *rule) {
    bool comma = true;
    put_when(p, &rule->when);
    buf_printf(p->out, ", do: %s", triage_rule_actions[rule->action]);
    put_span(p, "every", rule->every_ms, &comma);
    buf_printf(p->out, ", limit: %u", rule->limit);
    if (rule->action == TRIAGE_REPLAY)
        put_replay(p, rule, &comma);
    if (triage_rule_may_fail(rule)) {
        put_span(p, "backoff", rule->backoff_ms, &comma);
        buf_printf(p->out, ", stop_after: %u", rule->stop_after);
    }
    put_tell(p, rule, &comma);
    buf_char(p->out, '}');
}

void config_print_triage(struct config_printer *p, const struct config_triage_rules *rules) {
    if (rules->count == 0)
        return;
    buf_str(p->out, ", triage: [");
    for (size_t i = 0; i < rules->count; i++) {
        buf_str(p->out, i ? ",\n    " : "\n    ");
        put_rule(p, &rules->list[i]);
    }
    buf_char(p->out, ']');
}
