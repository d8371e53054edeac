#include "app/config_classify.h"

#include "app/config_value.h"
#include "app/config_when.h"

static bool read_verdict(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    (void)field;
    const char *words[VERDICT_COUNT + 1] = {0};
    for (int i = 0; i < VERDICT_COUNT; i++)
        words[i] = verdict_text((enum verdict)i);
    const struct config_field choice = {.words = words};
    return config_value_word(reader, node, &choice, out);
}

static const struct config_field rule_fields[] = {
    CONFIG_VALUE("when", config_when_read, struct rule, when),
    CONFIG_VALUE("do", read_verdict, struct rule, verdict),
    CONFIG_VALUE("category", config_value_text, struct rule, category),
    CONFIG_VALUE("reason", config_value_text, struct rule, reason),
    CONFIG_VALUE("dlq", config_value_dlq, struct rule, dlq),
};
const struct config_table config_rule_table = CONFIG_TABLE(rule_fields);

static void check_rule(struct config_reader *reader, const struct config_node *node,
                       const struct rule *rule) {
    if (!config_tree_find(node, "when"))
        config_mistake_add(&reader->mistakes, node->at,
                           "rule %.*s has no \"when\". Write when: {} to match every failure",
                           BYTES_ARG(rule->name));
    if (!config_tree_find(node, "do"))
        config_mistake_add(
            &reader->mistakes, node->at,
            "rule %.*s has no \"do\": expected retry, fallback, dlq, discard or halt",
            BYTES_ARG(rule->name));
}

/* What a rule leaves out: an unknown category, and the category as its reason. */
static void complete_rule(struct rule *rule) {
    if (rule->category.len == 0)
        rule->category = BYTES("unknown");
    if (rule->reason.len == 0)
        rule->reason = rule->category;
}

static void read_rule(struct config_reader *reader, const struct config_node *node,
                      struct rule *rule) {
    struct bytes label = config_reader_text(reader, "rule %.*s", BYTES_ARG(rule->name));
    if (!config_reader_named(reader, node, &config_rule_table, rule, label))
        return;
    check_rule(reader, node, rule);
    complete_rule(rule);
}

/* `out` is the whole policy. */
static bool read_rules(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    (void)field;
    struct policy *policy = out;
    if (node->kind != CONFIG_LIST || node->count > RULES_MAX)
        return config_reader_expected(reader, node, "a list of at most 128 rules");
    policy->rules = arena_alloc(reader->arena, node->count * sizeof *policy->rules);
    policy->rule_count = 0;
    for (const struct config_node *item = node->first; item; item = item->next) {
        struct rule *rule = &policy->rules[policy->rule_count];
        rule->name = config_reader_text(reader, "%.*s.rules[%zu]", BYTES_ARG(policy->queue),
                                        policy->rule_count++);
        read_rule(reader, item, rule);
    }
    return true;
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

static const struct config_field classify_fields[] = {
    CONFIG_WHOLE("presets", read_presets),
    CONFIG_WHOLE("rules", read_rules),
};
const struct config_table config_classify_table = CONFIG_TABLE(classify_fields);

bool config_classify_read(struct config_reader *reader, const struct config_node *node,
                          const struct config_field *field, void *out) {
    (void)field;
    return config_reader_mapping(reader, node, &config_classify_table, out);
}
