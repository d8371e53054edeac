/* classify: the first matching rule classifies a failure. Pure. */
#ifndef CORE_CLASSIFY_H
#define CORE_CLASSIFY_H

#include "core/policy.h"

/* The reason of a failure that no rule matches. */
#define CLASSIFY_UNKNOWN "unclassified"

enum { CLASSIFY_TYPE_MAX = 128 /* bytes of an error_type in a reason */ };

struct classification {
    enum verdict verdict;
    struct bytes category;
    struct bytes reason;
    struct bytes reason_type; /* if unclassified: its error_type, which follows the reason */
    struct bytes dlq;         /* from the rule; empty: by route */
    struct bytes rule_name;   /* empty: no rule matched */
    bool unclassified;        /* no rule matched: verdict dlq, category unknown */
    bool from_preset;         /* a preset's rule matched, and the handler gave no verdict */
    bool own_rule;            /* a rule of the queue's own matched, not one of a preset */
    bool downstream;          /* from the rule */
};

/* In order: a matching answer rule, the handler's own verdict (Impound-Verdict), the queue's rules,
 * its presets; an expired lease that none of them matches is retried. */
struct classification classify(const struct policy *policy, const struct rule_subject *subject,
                               const struct rule_facts *facts);

#endif
