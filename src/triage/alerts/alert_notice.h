/* alert_notice: one notice in the format of its receiver. */
#ifndef TRIAGE_ALERTS_ALERT_NOTICE_H
#define TRIAGE_ALERTS_ALERT_NOTICE_H

#include "base/buf.h"
#include "triage/alerts/alert_state.h"

enum { ALERT_NOTICE_MAX = 512 * 1024, ALERT_SUMMARY_MAX = 1024 };

struct alert_notice {
    const struct alert_rule *rule;
    struct bytes subject;
    double value;
    struct bytes words;
    struct bytes letters;        /* a JSON array; empty: no particular letters */
    struct bytes owner, runbook; /* of its subject; the rule's runbook takes precedence */
    enum alert_step step;
    struct wall since, at;
};

struct bytes alert_notice_runbook(const struct alert_notice *notice);
/* "orders.dlq: age of the oldest letter: 6 d 23 h (above 24 h)" */
void alert_notice_summary(const struct alert_notice *notice, struct buf *out);
/* Appends the JSON for this kind of receiver. Firing, repeat and resolve carry the same identity,
 * so that the receiver can match them and drop duplicates. */
void alert_notice_put(const struct alert_notice *notice, const struct alert_receiver *receiver,
                      struct buf *out);

#endif
