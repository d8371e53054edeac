/* rig_fakes: the ports around the engine as the rig plays them. */
#ifndef RIG_FAKES_H
#define RIG_FAKES_H

#include "rig.h"

/* Fills in every port of the rig, and puts the log in front of the store's submit. */
void rig_fakes_init(struct rig *rig);

#endif
