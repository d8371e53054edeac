/* convention_reason: why an adopted letter died, as a reason and category of ours. */
#ifndef TRIAGE_CONVENTION_REASON_H
#define TRIAGE_CONVENTION_REASON_H

#include "triage/adopt/formats/convention_facts.h"

/* Splits FACT_FAILURE into type and message. */
void convention_reason_failure(struct convention_facts *facts);
/* The other system's own reason, otherwise one derived from the error, otherwise `unknown`; and its
 * category. Texts are static or the facts'. */
void convention_reason_find(const struct convention_facts *facts, struct bytes *reason,
                            struct bytes *category);

#endif
