#include "app/config_print_alerts.h"

#include "app/config_alerts.h"
#include "app/config_printer.h"

enum { TEXT_MAX = 1 << 20 };

static void put_receiver(struct config_printer *p, const struct config_receiver *receiver) {
    bool comma = true;
    bool pager = receiver->kind == RECEIVER_PAGERDUTY;
    buf_str(p->out, "    - {name: ");
    config_printer_text(p, receiver->name);
    if (pager) {
        config_printer_begin(p, &comma, config_receiver_words[receiver->kind]);
        config_printer_secret(p, receiver->key);
    }
    config_printer_optional(p, pager ? "url" : config_receiver_words[receiver->kind], receiver->url,
                            &comma);
    if (receiver->header_count > 0)
        config_printer_headers(p, receiver->headers, receiver->header_count);
    if (receiver->secret.len > 0) {
        config_printer_begin(p, &comma, "secret");
        config_printer_secret(p, receiver->secret);
    }
    config_printer_optional(p, "queue", receiver->queue, &comma);
    config_printer_optional(p, "dlq", receiver->dlq, &comma);
    config_printer_optional(p, "owner", receiver->owner, &comma);
    config_printer_begin(p, &comma, "severity");
    buf_printf(p->out, "%s}\n", alert_severity_words[receiver->severity]);
}

static void put_names(struct config_printer *p, const struct alert_rule *rule) {
    for (size_t i = 0; i < rule->to_count; i++) {
        buf_str(p->out, i ? ", " : ", to: [");
        config_printer_text(p, rule->to[i]);
    }
    buf_str(p->out, rule->to_count ? "]" : "");
}

static void put_rule(struct config_printer *p, const struct alert_rule *rule) {
    bool comma = true;
    buf_str(p->out, "    - {name: ");
    config_printer_text(p, rule->name);
    buf_printf(p->out, ", metric: %s, %s: ", alert_metric_text(rule->metric),
               alert_metric_is_dlq(rule->metric) ? "dlq" : "queue");
    config_printer_text(p, rule->subject);
    buf_printf(p->out, ", %s: %.17g", rule->below ? "below" : "above", rule->limit);
    config_printer_duration(p, ", for: ", rule->for_ms);
    buf_printf(p->out, ", severity: %s", alert_severity_words[rule->severity]);
    config_printer_duration(p, ", repeat: ", rule->repeat_ms);
    put_names(p, rule);
    config_printer_optional(p, "runbook", rule->runbook, &comma);
    buf_str(p->out, "}\n");
}

void config_print_alerts(const struct config *config, struct buf *out) {
    const struct config_alerts *alerts = &config->alerts;
    struct config_printer printer = {config, out, {0}}, *p = &printer;
    buf_init_heap(&p->room, TEXT_MAX);
    buf_printf(p->out, "alerts:\n  defaults: %s\n", alerts->no_defaults ? "off" : "on");
    if (alerts->receiver_count > 0)
        buf_str(p->out, "  to:\n");
    for (size_t i = 0; i < alerts->receiver_count; i++)
        put_receiver(p, &alerts->receivers[i]);
    if (alerts->own_rule_count > 0)
        buf_str(p->out, "  rules:\n");
    for (size_t i = 0; i < alerts->own_rule_count; i++)
        put_rule(p, &alerts->rules[i]);
    buf_free(&p->room);
}
