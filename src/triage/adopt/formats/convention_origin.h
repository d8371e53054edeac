/* convention_origin: where a dead letter lies, and where its message was before, as JSON. */
#ifndef TRIAGE_CONVENTION_ORIGIN_H
#define TRIAGE_CONVENTION_ORIGIN_H

#include "triage/adopt/formats/convention_facts.h"

/* The letter's own coordinates, as its broker gave them; what the original has of them is left to
 * convention_origin_source. */
void convention_origin_at(const struct convention_facts *facts, struct json_out *out);
/* The original's, as the sink of its broker takes them; in the facts' arena. */
struct bytes convention_origin_source(const struct convention_facts *facts);

#endif
