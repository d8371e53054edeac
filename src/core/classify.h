/* classify: the first rule that matches says what a failure is. */
#ifndef CORE_CLASSIFY_H
#define CORE_CLASSIFY_H

#include "core/policy.h"

/* The reason of what no rule matched. */
#define CLASSIFY_UNKNOWN "unclassified"

enum { CLASSIFY_TYPE_MAX = 128 /* bytes of an error_type that stand in a reason */ };

struct classification {
    enum verdict verdict;
    struct bytes category;
    struct bytes reason;
    struct bytes
        reason_type;        /* of what is unclassified: its error_type, which follows the reason */
    struct bytes dlq;       /* from the rule; empty: by route */
    struct bytes rule_name; /* empty when nothing matched */
    bool unclassified;      /* no rule matched: verdict dlq, category unknown */
    bool from_preset;       /* a preset's rule matched, and the handler gave no verdict */
    bool own_rule;          /* a rule of the queue's own matched, not one of a preset */
    bool downstream;        /* the rule's */
};

/* An answer rule that matched first; else the handler's own verdict (Impound-Verdict), then the
 * queue's rules, then its presets; an expired lease that none of them knows is retried. */
struct classification classify(const struct policy *policy, const struct rule_subject *subject,
                               const struct rule_facts *facts);

#endif
