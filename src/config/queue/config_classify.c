#include "config/queue/config_classify.h"

#include "config/table/config_printer.h"
#include "config/table/config_value.h"
#include "config/queue/config_when.h"

static bool read_verdict(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    (void)field;
    const char *words[VERDICT_COUNT + 1] = {0};
    for (int i = 0; i < VERDICT_COUNT; i++)
        words[i] = verdict_text((enum verdict)i);
    const struct config_field choice = {.words = words};
    return config_value_word(reader, node, &choice, out);
}

static void put_verdict(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    (void)field;
    buf_str(p->out, verdict_text(*(const enum verdict *)value));
}

#define RULE_FIELDS(read_when, when_table)                                                         \
    CONFIG_MAPPED("when", read_when, when_table, struct rule, when),                               \
        CONFIG_OTHER("do", read_verdict, put_verdict, struct rule, verdict),                       \
        CONFIG_TEXT("category", config_value_text, struct rule, category),                         \
        CONFIG_TEXT("reason", config_value_text, struct rule, reason),                             \
        CONFIG_TEXT("dlq", config_value_dlq, struct rule, dlq)

static const struct config_field rule_fields[] = {
    RULE_FIELDS(config_when_read, config_when_table),
};
const struct config_table config_rule_table = CONFIG_FLOW(rule_fields);

static const struct config_field answer_fields[] = {
    RULE_FIELDS(config_when_read_answer, config_answer_when_table),
};
const struct config_table config_answer_table = CONFIG_FLOW(answer_fields);

static void check_rule(struct config_reader *reader, const struct config_node *node,
                       const struct rule *rule, const char *subject) {
    if (!config_tree_find(node, "when"))
        config_mistake_add(&reader->mistakes, node->at,
                           "rule %.*s has no \"when\". Write when: {} to match every %s",
                           BYTES_ARG(rule->name), subject);
    if (!config_tree_find(node, "do"))
        config_mistake_add(
            &reader->mistakes, node->at,
            "rule %.*s has no \"do\": expected retry, fallback, dlq, discard or halt",
            BYTES_ARG(rule->name));
}

/* Defaults of a rule: an unknown category, and the category as its reason. */
static void complete_rule(struct rule *rule) {
    if (rule->category.len == 0)
        rule->category = BYTES("unknown");
    if (rule->reason.len == 0)
        rule->reason = rule->category;
}

/* The rules of one of the two lists. */
struct rule_list {
    const char *key;     /* part of the rules' names: "rules", "answers" */
    const char *subject; /* what they match */
    const struct config_table *table;
};

static void read_rule(struct config_reader *reader, const struct config_node *node,
                      const struct rule_list *list, struct rule *rule) {
    struct bytes label = config_reader_text(reader, "rule %.*s", BYTES_ARG(rule->name));
    if (!config_reader_named(reader, node, list->table, rule, label))
        return;
    check_rule(reader, node, rule, list->subject);
    complete_rule(rule);
}

static bool read_list(struct config_reader *reader, const struct config_node *node,
                      const struct rule_list *list, struct bytes queue, struct rule **rules,
                      size_t *count) {
    if (node->kind != CONFIG_LIST || node->count > RULES_MAX)
        return config_reader_expected(reader, node, "a list of at most 128 rules");
    *rules = arena_alloc(reader->arena, node->count * sizeof **rules);
    *count = 0;
    for (const struct config_node *item = node->first; item; item = item->next) {
        struct rule *rule = &(*rules)[*count];
        rule->name =
            config_reader_text(reader, "%.*s.%s[%zu]", BYTES_ARG(queue), list->key, (*count)++);
        read_rule(reader, item, list, rule);
    }
    return true;
}

/* `out` is the whole policy. */
static bool read_rules(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    static const struct rule_list list = {"rules", "failure", &config_rule_table};
    (void)field;
    struct policy *policy = out;
    return read_list(reader, node, &list, policy->queue, &policy->rules, &policy->rule_count);
}

static bool read_answers(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    static const struct rule_list list = {"answers", "answer", &config_answer_table};
    (void)field;
    struct policy *policy = out;
    return read_list(reader, node, &list, policy->queue, &policy->answers, &policy->answer_count);
}

static bool add_preset(struct config_reader *reader, const struct config_node *node,
                       struct policy *policy) {
    const char *words[PRESET_COUNT + 1] = {0};
    for (int i = 0; i < PRESET_COUNT; i++)
        words[i] = preset_text((enum preset)i);
    const struct config_field choice = {.words = words};
    enum preset preset;
    if (!config_value_word(reader, node, &choice, &preset))
        return false;
    for (size_t i = 0; i < policy->preset_count; i++)
        if (policy->presets[i] == preset)
            return config_reader_expected(reader, node, "each preset once");
    policy->presets[policy->preset_count++] = preset;
    return true;
}

/* `out` is the whole policy, with the handler's default presets. */
static bool read_presets(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    (void)field;
    struct policy *policy = out;
    if (node->kind != CONFIG_LIST)
        return config_reader_expected(reader, node, "a list such as [http, errors]");
    policy->preset_count = 0;
    policy->presets_named = true;
    for (const struct config_node *item = node->first; item; item = item->next)
        add_preset(reader, item, policy);
    return true;
}

static void put_presets(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct policy *policy = value;
    (void)field;
    buf_char(p->out, '[');
    for (size_t i = 0; i < policy->preset_count; i++)
        buf_printf(p->out, "%s%s", i ? ", " : "", preset_text(policy->presets[i]));
    buf_char(p->out, ']');
}

static void put_rules(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    const struct policy *policy = value;
    (void)field;
    config_printer_items(p, &config_rule_table, policy->rules, policy->rule_count,
                         sizeof *policy->rules);
}

CONFIG_SHOWN(has_rules, struct policy, of->rule_count > 0)

static void put_answers(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct policy *policy = value;
    (void)field;
    config_printer_items(p, &config_answer_table, policy->answers, policy->answer_count,
                         sizeof *policy->answers);
}

CONFIG_SHOWN(has_answers, struct policy, of->answer_count > 0)

static const struct config_field classify_fields[] = {
    CONFIG_WHOLE("presets", read_presets, .put = put_presets),
    CONFIG_WHOLE("rules", read_rules, .put = put_rules, .lines = true, .shown = has_rules,
                 .note = "tried before the presets; the first that matches wins"),
    CONFIG_WHOLE("answers", read_answers, .put = put_answers, .lines = true, .shown = has_answers,
                 .note = "of answers that look like success; the first wins"),
};
const struct config_table config_classify_table = CONFIG_BLOCK(classify_fields);

bool config_classify_read(struct config_reader *reader, const struct config_node *node,
                          const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_classify_table, out);
}
