/* classify: the first rule that matches says what a failure is. */
#ifndef CORE_CLASSIFY_H
#define CORE_CLASSIFY_H

#include "core/policy.h"

/* The error_type of an item that its batch's handler listed as failed without saying why. Unless a
 * rule says otherwise it is retried, under this category and reason. */
#define CLASSIFY_BATCH_ITEM "batch_item"

struct classification {
    enum verdict verdict;
    struct bytes category;
    struct bytes reason;
    struct bytes dlq;       /* from the rule; empty: by route */
    struct bytes rule_name; /* empty when nothing matched */
    bool unclassified;      /* no rule matched: verdict dlq, category unknown */
};

/* The handler's own verdict (Impound-Verdict) first, then the queue's rules, then its presets, then
 * what holds for every queue. */
struct classification classify(const struct policy *policy, const struct rule_subject *subject,
                               const struct rule_facts *facts);

#endif
