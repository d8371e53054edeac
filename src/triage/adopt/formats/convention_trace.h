/* convention_trace: a stack trace given as a JSON array of lines, or as a string with that array
 * deflated and base64-encoded. Pure. */
#ifndef TRIAGE_CONVENTION_TRACE_H
#define TRIAGE_CONVENTION_TRACE_H

#include "base/json/json.h"

enum {
    CONVENTION_TRACE_MAX = 1 << 20
}; /* bytes of an inflated list; a longer one is not inflated */

/* The lines, joined; a string that is not such a list is returned as it is. In the arena (heap). */
struct bytes convention_trace(struct json value, struct arena *arena);

#endif
