#include "engine/facts.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/memory.h"

struct facts {
    pcre2_code **patterns; /* by rule; NULL: the rule has none */
    size_t count;
    pcre2_match_context *limits;
    pcre2_match_data *match; /* scratch: the engine's thread alone matches */
};

static enum status compile(const struct rule *rule, pcre2_code **out, struct err *err) {
    int error;
    PCRE2_SIZE offset;
    PCRE2_UCHAR text[128];
    *out = pcre2_compile((PCRE2_SPTR)rule->when.message.ptr, rule->when.message.len,
                         PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &offset, NULL);
    if (*out)
        return STATUS_OK;
    pcre2_get_error_message(error, text, sizeof text);
    return err_set(err, STATUS_INVALID, "%.*s: pattern \"%.*s\", at character %zu: %s",
                   BYTES_ARG(rule->name), BYTES_ARG(rule->when.message), (size_t)offset,
                   (const char *)text);
}

enum status facts_new(const struct policy *policy, struct facts **out, struct err *err) {
    struct facts *facts = memory_new(sizeof *facts);
    facts->count = policy->rule_count;
    facts->patterns = memory_array(facts->count, sizeof *facts->patterns);
    facts->limits = pcre2_match_context_create(NULL);
    facts->match = pcre2_match_data_create(1, NULL);
    pcre2_set_match_limit(facts->limits, FACTS_MATCH_LIMIT);
    pcre2_set_depth_limit(facts->limits, FACTS_DEPTH_LIMIT);
    for (size_t i = 0; i < facts->count; i++) {
        if (!policy->rules[i].when.message.len)
            continue;
        enum status status = compile(&policy->rules[i], &facts->patterns[i], err);
        if (status != STATUS_OK) {
            facts_free(facts);
            return status;
        }
    }
    *out = facts;
    return STATUS_OK;
}

void facts_free(struct facts *facts) {
    if (!facts)
        return;
    for (size_t i = 0; i < facts->count; i++)
        pcre2_code_free(facts->patterns[i]);
    pcre2_match_data_free(facts->match);
    pcre2_match_context_free(facts->limits);
    free(facts->patterns);
    free(facts);
}

bool facts_message_matches(const struct facts *facts, size_t index, struct bytes error_message) {
    const pcre2_code *pattern = facts->patterns[index];
    if (!pattern)
        return true;
    const char *text = error_message.ptr ? error_message.ptr : "";
    return pcre2_match(pattern, (PCRE2_SPTR)text, error_message.len, 0, 0, facts->match,
                       facts->limits) >= 0;
}

bool facts_could_match(const struct facts *facts, const struct policy *policy, size_t index,
                       const struct rule_subject *subject) {
    const struct rule *rule = &policy->rules[index];
    return rule_needs_facts(rule) && rule_matches_inside(&rule->when, subject) &&
           facts_message_matches(facts, index, subject->outcome->error_message);
}
