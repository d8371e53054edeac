#include "engine/judge/facts.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/memory.h"

struct facts {
    pcre2_code **patterns; /* by rule; NULL: the rule has no pattern */
    size_t count;
    pcre2_code **bodies; /* the same, by answer rule */
    size_t body_count;
    pcre2_match_context *limits, *body_limits;
    pcre2_match_data *match; /* scratch: only the engine's thread matches */
};

static enum status compile(const struct rule *rule, struct bytes pattern, pcre2_code **out,
                           struct err *err) {
    int error;
    PCRE2_SIZE offset;
    PCRE2_UCHAR text[128];
    *out = pcre2_compile((PCRE2_SPTR)pattern.ptr, pattern.len, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF,
                         &error, &offset, NULL);
    if (*out)
        return STATUS_OK;
    pcre2_get_error_message(error, text, sizeof text);
    return err_set(err, STATUS_INVALID, "%.*s: pattern \"%.*s\", at character %zu: %s",
                   BYTES_ARG(rule->name), BYTES_ARG(pattern), (size_t)offset, (const char *)text);
}

static pcre2_match_context *limits_new(uint32_t matches) {
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(limits, matches);
    pcre2_set_depth_limit(limits, FACTS_DEPTH_LIMIT);
    return limits;
}

static enum status compile_all(struct facts *facts, const struct policy *policy, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < facts->count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (rule->when.message.len)
            status = compile(rule, rule->when.message, &facts->patterns[i], err);
    }
    for (size_t i = 0; status == STATUS_OK && i < facts->body_count; i++) {
        const struct rule *rule = &policy->answers[i];
        if (rule->when.body.len)
            status = compile(rule, rule->when.body, &facts->bodies[i], err);
    }
    return status;
}

enum status facts_new(const struct policy *policy, struct facts **out, struct err *err) {
    struct facts *facts = memory_new(sizeof *facts);
    facts->count = policy->rule_count;
    facts->patterns = memory_array(facts->count, sizeof *facts->patterns);
    facts->body_count = policy->answer_count;
    facts->bodies = memory_array(facts->body_count, sizeof *facts->bodies);
    facts->limits = limits_new(FACTS_MATCH_LIMIT);
    facts->body_limits = limits_new(FACTS_BODY_MATCH_LIMIT);
    facts->match = pcre2_match_data_create(1, NULL);
    enum status status = compile_all(facts, policy, err);
    if (status != STATUS_OK) {
        facts_free(facts);
        return status;
    }
    *out = facts;
    return STATUS_OK;
}

void facts_free(struct facts *facts) {
    if (!facts)
        return;
    for (size_t i = 0; i < facts->count; i++)
        pcre2_code_free(facts->patterns[i]);
    for (size_t i = 0; i < facts->body_count; i++)
        pcre2_code_free(facts->bodies[i]);
    pcre2_match_data_free(facts->match);
    pcre2_match_context_free(facts->limits);
    pcre2_match_context_free(facts->body_limits);
    free(facts->bodies);
    free(facts->patterns);
    free(facts);
}

static bool matches(const struct facts *facts, const pcre2_code *pattern,
                    pcre2_match_context *limits, struct bytes subject) {
    if (!pattern)
        return true;
    const char *text = subject.ptr ? subject.ptr : "";
    return pcre2_match(pattern, (PCRE2_SPTR)text, subject.len, 0, 0, facts->match, limits) >= 0;
}

bool facts_message_matches(const struct facts *facts, size_t index, struct bytes error_message) {
    return matches(facts, facts->patterns[index], facts->limits, error_message);
}

bool facts_answer_matches(const struct facts *facts, const struct policy *policy, size_t index,
                          const struct rule_answer *answer) {
    return rule_matches_answer(&policy->answers[index].when, answer) &&
           matches(facts, facts->bodies[index], facts->body_limits, answer->text);
}

bool facts_could_match(const struct facts *facts, const struct policy *policy, size_t index,
                       const struct rule_subject *subject) {
    const struct rule *rule = &policy->rules[index];
    return rule_needs_facts(rule) && rule_matches_inside(&rule->when, subject) &&
           facts_message_matches(facts, index, subject->outcome->error_message);
}
