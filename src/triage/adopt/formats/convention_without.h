/* convention_without: a JSON object without the members that were added to it; every other byte
 * stays. Pure. */
#ifndef TRIAGE_CONVENTION_WITHOUT_H
#define TRIAGE_CONVENTION_WITHOUT_H

#include "base/json/json.h"

/* `names` ends with NULL. The result is in the arena, or the object's own text if it has none of
 * the members. */
struct bytes convention_without(struct json object, const char *const *names, struct arena *arena);

#endif
