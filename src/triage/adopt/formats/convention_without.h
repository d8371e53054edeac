/* convention_without: a JSON object as it was before members were added to it: every other byte
 * stays. Pure. */
#ifndef TRIAGE_CONVENTION_WITHOUT_H
#define TRIAGE_CONVENTION_WITHOUT_H

#include "base/json.h"

/* `names` ends with NULL. In the arena, or the object's own text when it has none of them. */
struct bytes convention_without(struct json object, const char *const *names, struct arena *arena);

#endif
