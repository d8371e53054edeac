/* rig_groups: hand-overs of several messages on the rig's bench. In the log: start[a b], cancel[a
 * b].
 */
#ifndef RIG_GROUPS_H
#define RIG_GROUPS_H

#include "rig.h"

enum { RIG_GROUP_MAX = 128 }; /* messages in one */

void rig_groups_start(struct handler *handler, struct call_group *group);
void rig_groups_cancel(struct handler *handler, struct call_group *group);

/* Those under way, oldest first; and all that ever were started. */
size_t rig_groups_open(const struct rig *rig);
size_t rig_groups_started(const struct rig *rig);
size_t rig_groups_size(const struct rig *rig, size_t index);
bool rig_groups_has(const struct rig *rig, size_t index, const char *id);

/* The oldest one ends like this; then rests. */
void rig_groups_end(struct rig *rig, struct outcome whole);
/* It succeeds, but for one item. */
void rig_groups_end_but(struct rig *rig, const char *id, struct outcome outcome);
/* Each one under way ends, and those that follow: well, or like `outcome` where one of the ids,
 * separated by spaces, is in it. */
void rig_groups_end_all(struct rig *rig, const char *bad_ids, struct outcome outcome);

#endif
