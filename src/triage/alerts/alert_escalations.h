/* alert_escalations: which escalations (triage/decide/escalation.h) the alerts are told of now, and
 * when their records are removed. */
#ifndef TRIAGE_ALERTS_ALERT_ESCALATIONS_H
#define TRIAGE_ALERTS_ALERT_ESCALATIONS_H

#include "triage/decide/escalation.h"

/* Records that were told of since the start. */
struct alert_escalations {
    struct escalation_seen {
        char name[STORE_NAME_MAX + 1];
        uint64_t count; /* of letters that were told */
        struct wall since;
    } seen[ESCALATION_PAGE];
    size_t seen_count;
};

/* Those that receivers are to be told of, in the arena; at most ESCALATION_PAGE. A record that was
 * told of for a minute is removed; one that grew in that time is left out once, so that its alert
 * ends and is told of anew. */
size_t alert_escalations_read(struct alert_escalations *state, struct triage *triage,
                              struct wall now, struct arena *arena, struct escalation_record *out);

#endif
