/* facts: inputs of rules that core cannot compute: whether a rule's PCRE2 pattern matches. (The jq
 * part of a rule is evaluated by a helper process; see rule_jq.h.) */
#ifndef ENGINE_FACTS_H
#define ENGINE_FACTS_H

#include "core/policy.h"
#include "base/status.h"

enum {
    FACTS_MATCH_LIMIT = 100000,
    FACTS_DEPTH_LIMIT = 1000,
    /* Match limit of a pattern on an answer, which may have megabytes. */
    FACTS_BODY_MATCH_LIMIT = 1000000,
};

struct facts;

/* Compiles the patterns of a queue's own rules. */
enum status facts_new(const struct policy *policy, struct facts **out, struct err *err);
void facts_free(struct facts *facts);
/* True when rule `index` has no pattern, or its pattern matches. A pattern that exceeds its limits
 * does not match. */
bool facts_message_matches(const struct facts *facts, size_t index, struct bytes error_message);
/* True when rule `index` depends on facts and could still win: all its conditions hold, jq aside.
 * The result of its jq program, if it has one, decides whether rule_facts_set is called for it. */
bool facts_could_match(const struct facts *facts, const struct policy *policy, size_t index,
                       const struct rule_subject *subject);

/* True when all conditions of answer rule `index` hold, jq aside. */
bool facts_answer_matches(const struct facts *facts, const struct policy *policy, size_t index,
                          const struct rule_answer *answer);

#endif
