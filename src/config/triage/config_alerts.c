#include "config/triage/config_alerts.h"

#include <string.h>

#include "config/config_headers.h"
#include "config/triage/config_limit.h"
#include "config/table/config_printer.h"
#include "config/table/config_value.h"

enum { RECEIVERS_MAX = 32, ALERT_RULES_MAX = 200 };

#define DAY_MS          (24LL * 3600 * 1000)
#define LONGEST_MS      (30 * DAY_MS)
#define REPEAT_LEAST_MS 1000
#define REPEAT_MS       (4LL * 3600 * 1000)
#define PAGERDUTY_URL   "https://events.pagerduty.com/v2/enqueue"
#define ALERTMANAGER    "/api/v2/alerts"

static const char *const receiver_words[] = {[RECEIVER_WEBHOOK] = "webhook",
                                             [RECEIVER_SLACK] = "slack",
                                             [RECEIVER_PAGERDUTY] = "pagerduty",
                                             [RECEIVER_ALERTMANAGER] = "alertmanager",
                                             NULL};

/* ---- receivers ---- */

static bool read_url(struct config_reader *reader, const struct config_node *node,
                     const struct config_field *field, void *out) {
    (void)field;
    return config_value_http(reader, node, "a URL such as https://example.org/hook", out);
}

static bool read_headers(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    struct config_receiver *receiver = out;
    (void)field;
    return config_headers_read(reader, node, &receiver->headers, &receiver->header_count);
}

static void put_headers(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct config_receiver *receiver = value;
    (void)field;
    config_printer_headers(p, receiver->headers, receiver->header_count);
}

CONFIG_SHOWN(has_headers, struct config_receiver, of->header_count > 0)

/* The key that names the kind has the URL, except for PagerDuty. */
static bool is_kind(const struct config_printer *p, const struct config_field *field,
                    const void *mapping) {
    const struct config_receiver *receiver = mapping;
    (void)p;
    return strcmp(field->name, receiver_words[receiver->kind]) == 0;
}

CONFIG_SHOWN(is_pagerduty, struct config_receiver, of->kind == RECEIVER_PAGERDUTY)

static const struct config_field receiver_fields[] = {
    CONFIG_TEXT("name", config_value_text, struct config_receiver, name),
    CONFIG_TEXT("webhook", read_url, struct config_receiver, url, .shown = is_kind),
    CONFIG_TEXT("slack", read_url, struct config_receiver, url, .shown = is_kind),
    CONFIG_OTHER("pagerduty", config_value_text, config_value_put_secret, struct config_receiver,
                 key, .shown = is_kind),
    CONFIG_TEXT("alertmanager", read_url, struct config_receiver, url, .shown = is_kind),
    CONFIG_TEXT("url", read_url, struct config_receiver, url, .shown = is_pagerduty),
    CONFIG_WHOLE("headers", read_headers, .put = put_headers, .shown = has_headers),
    CONFIG_OTHER("secret", config_value_text, config_value_put_secret, struct config_receiver,
                 secret, .optional = true),
    CONFIG_WORD("severity", struct config_receiver, severity, alert_severity_words,
                .behind = "owner"),
    CONFIG_TEXT("queue", config_value_text, struct config_receiver, queue),
    CONFIG_TEXT("dlq", config_value_text, struct config_receiver, dlq),
    CONFIG_TEXT("owner", config_value_text, struct config_receiver, owner),
};
const struct config_table config_receiver_table = CONFIG_FLOW(receiver_fields);

/* Exactly one of the kinds must be given. */
static bool find_kind(struct config_reader *reader, const struct config_node *node,
                      struct config_receiver *receiver) {
    size_t kinds = 0;
    for (int kind = 0; receiver_words[kind]; kind++)
        if (config_tree_find(node, receiver_words[kind])) {
            receiver->kind = (enum alert_receiver_kind)kind;
            kinds++;
        }
    if (kinds == 1)
        return true;
    config_mistake_add(&reader->mistakes, node->at,
                       "%.*s: expected one of slack, pagerduty, alertmanager and webhook",
                       BYTES_ARG(node->key));
    return false;
}

static void refuse_unless_webhook(struct config_reader *reader, const struct config_node *node,
                                  const struct config_receiver *receiver, const char *key) {
    const struct config_node *said = config_tree_find(node, key);
    if (said && receiver->kind != RECEIVER_WEBHOOK)
        config_mistake_add(&reader->mistakes, said->key_at, "%s: only for a webhook", key);
}

static bool finish_receiver(struct config_reader *reader, const struct config_node *node,
                            struct config_receiver *receiver) {
    const struct config_node *url = config_tree_find(node, "url");
    if (!config_tree_find(node, "name")) {
        config_mistake_add(&reader->mistakes, node->at, "%.*s has no name", BYTES_ARG(node->key));
        return false;
    }
    if (!find_kind(reader, node, receiver))
        return false;
    if (url && receiver->kind != RECEIVER_PAGERDUTY)
        config_mistake_add(&reader->mistakes, url->key_at,
                           "url: only for pagerduty, whose other value is its routing key");
    refuse_unless_webhook(reader, node, receiver, "headers");
    refuse_unless_webhook(reader, node, receiver, "secret");
    if (receiver->kind == RECEIVER_PAGERDUTY && !url)
        receiver->url = BYTES(PAGERDUTY_URL);
    return true;
}

static const struct config_receiver *receiver_named(const struct config_alerts *alerts,
                                                    struct bytes name) {
    for (size_t i = 0; i < alerts->receiver_count; i++)
        if (bytes_eq(alerts->receivers[i].name, name))
            return &alerts->receivers[i];
    return NULL;
}

static bool read_receivers(struct config_reader *reader, const struct config_node *node,
                           const struct config_field *field, void *out) {
    struct config_alerts *alerts = out;
    (void)field;
    if (node->kind != CONFIG_LIST || node->count > RECEIVERS_MAX)
        return config_reader_expected(
            reader, node, "a list of at most 32 receivers such as {name: chat, slack: URL}");
    alerts->receivers = arena_alloc(reader->arena, node->count * sizeof *alerts->receivers);
    for (const struct config_node *item = node->first; item; item = item->next) {
        struct config_receiver receiver = {0};
        if (!config_reader_mapping(reader, item, &config_receiver_table, &receiver) ||
            !finish_receiver(reader, item, &receiver))
            continue;
        if (receiver_named(alerts, receiver.name))
            config_mistake_add(&reader->mistakes, item->at, "a second receiver named \"%.*s\"",
                               BYTES_ARG(receiver.name));
        alerts->receivers[alerts->receiver_count++] = receiver;
    }
    return true;
}

/* ---- rules ---- */

/* `out` is the whole rule; the key says on which side of the limit the alert is raised. */
static bool read_limit(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    struct alert_rule *rule = out;
    struct bytes text;
    enum config_limit_unit unit;
    (void)field;
    if (!config_value_string(reader, node, CONFIG_LIMIT_FORM, &text))
        return false;
    if (!config_limit_parse(text, &rule->limit, &unit))
        return config_reader_expected(reader, node, CONFIG_LIMIT_FORM);
    rule->below = bytes_is(node->key, "below");
    return true;
}

/* The unit must be that of the metric, which is known when the whole rule is read. */
static bool check_unit(struct config_reader *reader, const struct config_node *node,
                       const struct alert_rule *rule) {
    static const char *const forms[] = {
        [LIMIT_NUMBER] = "a number such as 100",
        [LIMIT_DURATION] = "a duration such as 24h, or seconds",
        [LIMIT_PER_MINUTE] = "a rate such as 10/min, or a number a minute",
        [LIMIT_SHARE] = "a share such as 97%, or 0.97",
    };
    const struct config_node *limit = config_tree_find(node, rule->below ? "below" : "above");
    enum config_limit_unit wanted = config_limit_unit_of(rule->metric), unit;
    double value;
    if (!limit || !config_limit_parse(limit->text, &value, &unit) || unit == LIMIT_NUMBER ||
        unit == wanted)
        return true;
    return config_reader_expected(reader, limit, forms[wanted]);
}

/* `out` is the whole rule. The receivers' names are checked when all receivers are read. */
static bool read_to(struct config_reader *reader, const struct config_node *node,
                    const struct config_field *field, void *out) {
    struct alert_rule *rule = out;
    (void)field;
    if (node->kind != CONFIG_LIST || node->count == 0 || node->count > RECEIVERS_MAX)
        return config_reader_expected(reader, node, "a list of receivers' names such as [pager]");
    struct bytes *names = arena_alloc(reader->arena, node->count * sizeof *names);
    for (const struct config_node *item = node->first; item; item = item->next)
        if (config_value_string(reader, item, "the name of a receiver", &names[rule->to_count]))
            rule->to_count++;
    rule->to = names;
    return true;
}

static void put_to(struct config_printer *p, const struct config_field *field, const void *value) {
    const struct alert_rule *rule = value;
    (void)field;
    config_printer_texts(p, rule->to, rule->to_count);
}

static void put_limit(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    (void)field;
    buf_printf(p->out, "%.17g", ((const struct alert_rule *)value)->limit);
}

/* The one of the two keys that fits the rule is printed. */
CONFIG_SHOWN(is_of_dlqs, struct alert_rule, alert_metric_is_dlq(of->metric))
CONFIG_SHOWN(is_of_queues, struct alert_rule, !alert_metric_is_dlq(of->metric))
CONFIG_SHOWN(is_below, struct alert_rule, of->below)
CONFIG_SHOWN(is_above, struct alert_rule, !of->below)
CONFIG_SHOWN(names_receivers, struct alert_rule, of->to_count > 0)

static const struct config_field rule_fields[] = {
    CONFIG_TEXT("name", config_value_text, struct alert_rule, name),
    CONFIG_WORD("metric", struct alert_rule, metric, alert_metric_words),
    CONFIG_TEXT("dlq", config_value_text, struct alert_rule, subject, .shown = is_of_dlqs),
    CONFIG_TEXT("queue", config_value_text, struct alert_rule, subject, .shown = is_of_queues),
    CONFIG_WHOLE("above", read_limit, .put = put_limit, .shown = is_above),
    CONFIG_WHOLE("below", read_limit, .put = put_limit, .shown = is_below),
    CONFIG_NUMBER("for", duration, struct alert_rule, for_ms, 0, LONGEST_MS),
    CONFIG_WORD("severity", struct alert_rule, severity, alert_severity_words,
                .usual = ALERT_WARNING),
    CONFIG_NUMBER("repeat", duration, struct alert_rule, repeat_ms, REPEAT_LEAST_MS, LONGEST_MS,
                  .usual = REPEAT_MS),
    CONFIG_WHOLE("to", read_to, .put = put_to, .shown = names_receivers),
    CONFIG_TEXT("runbook", config_value_text, struct alert_rule, runbook),
};
const struct config_table config_alert_rule_table = CONFIG_FLOW(rule_fields);

static bool check_rule(struct config_reader *reader, const struct config_node *node,
                       const struct alert_rule *rule) {
    if (config_reader_lacks(reader, node, "name") || config_reader_lacks(reader, node, "metric"))
        return false;
    bool above = config_tree_find(node, "above"), below = config_tree_find(node, "below");
    if (above == below) {
        config_mistake_add(&reader->mistakes, node->at, "%.*s: expected either above or below",
                           BYTES_ARG(node->key));
        return false;
    }
    const char *other = alert_metric_is_dlq(rule->metric) ? "queue" : "dlq";
    const struct config_node *wrong = config_tree_find(node, other);
    if (wrong)
        config_mistake_add(&reader->mistakes, wrong->key_at, "%s: %s is measured for each %s",
                           other, alert_metric_text(rule->metric),
                           alert_metric_is_dlq(rule->metric) ? "dlq" : "queue");
    return check_unit(reader, node, rule) && !wrong;
}

static bool is_defined(const struct config_alerts *alerts, struct bytes name) {
    for (size_t i = 0; i < alerts->rule_count; i++)
        if (bytes_eq(alerts->rules[i].name, name))
            return true;
    return false;
}

static bool read_rules(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    struct config_alerts *alerts = out;
    (void)field;
    if (node->kind != CONFIG_LIST || node->count > ALERT_RULES_MAX)
        return config_reader_expected(reader, node, "a list of at most 200 rules");
    alerts->rules =
        arena_alloc(reader->arena, (node->count + alert_default_count) * sizeof *alerts->rules);
    for (const struct config_node *item = node->first; item; item = item->next) {
        struct alert_rule rule = {.subject = BYTES("*")};
        config_reader_defaults(&config_alert_rule_table, &rule);
        if (!config_reader_mapping(reader, item, &config_alert_rule_table, &rule) ||
            !check_rule(reader, item, &rule))
            continue;
        if (is_defined(alerts, rule.name))
            config_mistake_add(&reader->mistakes, item->at, "a second rule named \"%.*s\"",
                               BYTES_ARG(rule.name));
        alerts->rules[alerts->rule_count++] = rule;
    }
    return true;
}

/* ---- the whole ---- */

static const char *const switch_words[] = {"on", "off", NULL};

static void put_receivers(struct config_printer *p, const struct config_field *field,
                          const void *value) {
    const struct config_alerts *alerts = value;
    (void)field;
    config_printer_items(p, &config_receiver_table, alerts->receivers, alerts->receiver_count,
                         sizeof *alerts->receivers);
}

CONFIG_SHOWN(has_receivers, struct config_alerts, of->receiver_count > 0)

static void put_rules(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    const struct config_alerts *alerts = value;
    (void)field;
    config_printer_items(p, &config_alert_rule_table, alerts->rules, alerts->own_rule_count,
                         sizeof *alerts->rules);
}

CONFIG_SHOWN(has_rules, struct config_alerts, of->own_rule_count > 0)

static const struct config_field alerts_fields[] = {
    CONFIG_WHOLE("to", read_receivers, .put = put_receivers, .lines = true, .shown = has_receivers,
                 .behind = "defaults"),
    CONFIG_WHOLE("rules", read_rules, .put = put_rules, .lines = true, .shown = has_rules,
                 .behind = "to"),
    CONFIG_WORD("defaults", struct config_alerts, no_defaults, switch_words),
};
const struct config_table config_alerts_table = CONFIG_BLOCK(alerts_fields);

/* A receiver that a triage rule names gets its tickets, whatever other rules there are. */
static void add_defaults(struct config_alerts *alerts) {
    for (size_t i = 0; i < alert_default_count; i++) {
        if (is_defined(alerts, alert_defaults[i].name) ||
            (alerts->no_defaults && !alert_defaults[i].ticket))
            continue;
        struct alert_rule *rule = &alerts->rules[alerts->rule_count++];
        *rule = alert_defaults[i];
        rule->named = alerts->no_defaults;
    }
}

static void check_receivers(struct config_reader *reader, const struct config_node *node,
                            const struct config_alerts *alerts) {
    for (size_t i = 0; i < alerts->rule_count; i++)
        for (size_t t = 0; t < alerts->rules[i].to_count; t++)
            if (!receiver_named(alerts, alerts->rules[i].to[t]))
                config_mistake_add(
                    &reader->mistakes, node->at,
                    "rule \"%.*s\" tells \"%.*s\", but there is no such receiver in to",
                    BYTES_ARG(alerts->rules[i].name), BYTES_ARG(alerts->rules[i].to[t]));
}

void config_alerts_init(struct config *config) {
    struct config_alerts *alerts = &config->alerts;
    alerts->rules = arena_alloc(&config->arena, alert_default_count * sizeof *alerts->rules);
    add_defaults(alerts);
}

bool config_alerts_read(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    struct config_alerts *alerts = out;
    struct config_alerts said = {0};
    (void)field;
    if (!config_reader_mapping(reader, node, &config_alerts_table, &said))
        return false;
    if (!said.rules)
        said.rules = arena_alloc(reader->arena, alert_default_count * sizeof *said.rules);
    const struct config_node *rules = config_tree_find(node, "rules");
    check_receivers(reader, rules ? rules : node, &said);
    said.own_rule_count = said.rule_count;
    add_defaults(&said);
    *alerts = said;
    return true;
}
