/* convention_trace: a stack trace that is a list of lines in JSON; or that list deflated, in
 * base64, in a string. Pure. */
#ifndef TRIAGE_CONVENTION_TRACE_H
#define TRIAGE_CONVENTION_TRACE_H

#include "base/json.h"

enum { CONVENTION_TRACE_MAX = 1 << 20 }; /* bytes of a list; what is longer is not inflated */

/* The lines; of a string that is no such list its text. In the arena (heap). */
struct bytes convention_trace(struct json value, struct arena *arena);

#endif
