/* diff: what an edit changes in a JSON text, member by member. */
#ifndef TRIAGE_DIFF_H
#define TRIAGE_DIFF_H

#include "base/json.h"

enum { DIFF_CHANGES_MAX = 20 };

/* Puts [{"path":".model","before":"m1","after":"m2"},…]; a member that is not on one side is left
 * out there. Stops after DIFF_CHANGES_MAX changes. Both are checked JSON. */
void diff_put(struct json before, struct json after, struct json_out *out);

#endif
