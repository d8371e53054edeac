/* classify: finds the first matching rule. */
#include "core/classify.h"

#include <assert.h>

static bool facts_have(const struct rule_facts *facts, size_t index) {
    return facts && ((facts->bits[index / 64] >> (index % 64)) & 1u);
}

static const struct rule *find_own(const struct policy *policy, const struct rule_subject *subject,
                                   const struct rule_facts *facts) {
    assert(policy->rule_count <= RULES_MAX);
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (rule_needs_facts(rule) && !facts_have(facts, i))
            continue;
        if (rule_matches_inside(&rule->when, subject))
            return rule;
    }
    return NULL;
}

static const struct rule *find_in(const struct rule *rules, size_t count,
                                  const struct rule_subject *subject) {
    for (size_t i = 0; i < count; i++)
        if (rule_matches_inside(&rules[i].when, subject))
            return &rules[i];
    return NULL;
}

static const struct rule *find(const struct policy *policy, const struct rule_subject *subject,
                               const struct rule_facts *facts) {
    const struct rule *rule = find_own(policy, subject, facts);
    size_t count, rules;
    if (!rule) {
        const struct rule *ours = preset_ours(&rules);
        rule = find_in(ours, rules, subject);
    }
    const enum preset *presets = policy_presets(policy, subject->outcome->kind, &count);
    for (size_t i = 0; !rule && i < count; i++) {
        const struct rule *preset = preset_rules(presets[i], &rules);
        rule = find_in(preset, rules, subject);
    }
    return rule;
}

static bool is_own(const struct policy *policy, const struct rule *rule) {
    return (rule >= policy->rules && rule < policy->rules + policy->rule_count) ||
           (rule >= policy->answers && rule < policy->answers + policy->answer_count);
}

/* The queue's answer rule that matched: the answer is not a success. */
static const struct rule *find_answer(const struct policy *policy, const struct outcome *outcome,
                                      const struct rule_facts *facts) {
    if (outcome->kind != KIND_ANSWER || !facts)
        return NULL;
    size_t index = rule_facts_answer(facts);
    return index < policy->answer_count ? &policy->answers[index] : NULL;
}

/* A silent worker may be dead or slow: an expired lease is retried, alone (SEMANTICS §6), whatever
 * the presets, so that no queue needs a rule for it. */
static const struct rule expired_rule = {
    .verdict = VERDICT_RETRY,
    .category = {"timeout", 7},
    .reason = {"expired", 7},
    .name = {"lease", 5},
};

/* A default for what the rule left out. */
static struct bytes or_else(struct bytes text, struct bytes otherwise) {
    return text.len ? text : otherwise;
}

static struct classification by_rule(const struct rule *rule) {
    return (struct classification){
        .verdict = rule->verdict,
        .category = or_else(rule->category, BYTES("unknown")),
        .reason = or_else(rule->reason, bytes_of(verdict_text(rule->verdict))),
        .dlq = rule->dlq,
        .rule_name = rule->name,
        .downstream = rule->downstream,
    };
}

static struct classification by_nothing(const struct outcome *outcome) {
    return (struct classification){
        .verdict = VERDICT_DLQ,
        .category = BYTES("unknown"),
        .reason = BYTES(CLASSIFY_UNKNOWN),
        .reason_type = bytes_clip(outcome->error_type, CLASSIFY_TYPE_MAX),
        .unclassified = true,
    };
}

/* The handler's own verdict has precedence; a rule with the same verdict adds category and DLQ. */
static struct classification by_handler(const struct rule *rule, const struct outcome *outcome) {
    struct classification said = {
        .verdict = outcome->verdict,
        .category = BYTES("unknown"),
        .reason = bytes_of(verdict_text(outcome->verdict)),
    };
    if (rule && rule->verdict == outcome->verdict)
        said = by_rule(rule);
    said.rule_name = BYTES("handler"); /* the verdict does not depend on the rule */
    said.reason = or_else(outcome->reason, said.reason);
    return said;
}

struct classification classify(const struct policy *policy, const struct rule_subject *subject,
                               const struct rule_facts *facts) {
    assert(policy->answer_count == 0 || policy->answers);
    const struct rule *rule = find_answer(policy, subject->outcome, facts);
    if (!rule)
        rule = find(policy, subject, facts);
    if (!rule && subject->outcome->kind == KIND_EXPIRED)
        rule = &expired_rule;
    if (subject->outcome->has_verdict)
        return by_handler(rule, subject->outcome);
    struct classification class = rule ? by_rule(rule) : by_nothing(subject->outcome);
    class.own_rule = rule && is_own(policy, rule);
    class.from_preset = rule && !class.own_rule;
    return class;
}
