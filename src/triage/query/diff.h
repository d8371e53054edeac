/* diff: the changes that an edit makes to a JSON text, member by member. */
#ifndef TRIAGE_QUERY_DIFF_H
#define TRIAGE_QUERY_DIFF_H

#include "base/json/json.h"

enum { DIFF_CHANGES_MAX = 20 };

/* Appends [{"path":".model","before":"m1","after":"m2"},…]; `before` or `after` is left out where
 * the member is missing. Stops after DIFF_CHANGES_MAX changes. Both values are valid JSON. */
void diff_put(struct json before, struct json after, struct json_out *out);

#endif
