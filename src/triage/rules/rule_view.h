/* rule_view: a rule as JSON, for explain and the API. */
#ifndef TRIAGE_RULES_RULE_VIEW_H
#define TRIAGE_RULES_RULE_VIEW_H

#include "base/json/json.h"
#include "core/policy.h"

/* The rule of that name ("orders.rules[1]", "preset:http[3]"); NULL: none at present. The policy
 * may be NULL: presets are found all the same. */
const struct rule *rule_view_find(const struct policy *policy, struct bytes name);
/* Writes the conditions as an object, with the configuration's keys. */
void rule_view_put_when(struct json_out *out, const struct rule_when *when);

#endif
