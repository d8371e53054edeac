/* convention_reason: why it died, in our words. */
#ifndef TRIAGE_CONVENTION_REASON_H
#define TRIAGE_CONVENTION_REASON_H

#include "triage/adopt/formats/convention_facts.h"

/* Takes FACT_FAILURE apart into type and message. */
void convention_reason_failure(struct convention_facts *facts);
/* The other system's own reason, else one derived from the error, else `unknown`; and the category
 * that belongs to it. Static texts or the facts'. */
void convention_reason_find(const struct convention_facts *facts, struct bytes *reason,
                            struct bytes *category);

#endif
