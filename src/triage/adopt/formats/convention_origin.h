/* convention_origin: the coordinates of a dead letter, and those of its message before it died, as
 * JSON. */
#ifndef TRIAGE_CONVENTION_ORIGIN_H
#define TRIAGE_CONVENTION_ORIGIN_H

#include "triage/adopt/formats/convention_facts.h"

/* The letter's own coordinates, as its broker gave them, without the members that
 * convention_origin_source puts. */
void convention_origin_at(const struct convention_facts *facts, struct json_out *out);
/* The original's coordinates, in the form that the sink of its broker reads; in the facts' arena.
 */
struct bytes convention_origin_source(const struct convention_facts *facts);

#endif
