/* alert_notice: one notice in the words of whoever receives it. */
#ifndef TRIAGE_ALERT_NOTICE_H
#define TRIAGE_ALERT_NOTICE_H

#include "base/buf.h"
#include "triage/alert_state.h"

enum { ALERT_NOTICE_MAX = 512 * 1024, ALERT_SUMMARY_MAX = 1024 };

struct alert_notice {
    const struct alert_rule *rule;
    struct bytes subject;
    double value;
    struct bytes words;
    struct bytes letters;        /* a JSON array; empty: it is about none in particular */
    struct bytes owner, runbook; /* of its subject; the rule's runbook goes before it */
    enum alert_step step;
    struct wall since, at;
};

struct bytes alert_notice_runbook(const struct alert_notice *notice);
/* "orders.dlq: age of the oldest letter: 6 d 23 h (above 24 h)" */
void alert_notice_summary(const struct alert_notice *notice, struct buf *out);
/* The JSON that this kind of receiver takes. A firing and its resolve carry the same identity, so
 * that the receiver can tell that they belong together and that a repeated one is the same. */
void alert_notice_put(const struct alert_notice *notice, const struct alert_receiver *receiver,
                      struct buf *out);

#endif
