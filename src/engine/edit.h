/* edit: the body that one handler sees, made from the message's by that handler's jq program. The
 * stored body stays as it is. jq answers from another process, so the attempt waits here, within
 * its attempt and with its slot of the concurrency. An edit that fails is the outcome of that
 * handler's call. */
#ifndef ENGINE_EDIT_H
#define ENGINE_EDIT_H

#include "engine/state.h"

void edit_begin(struct attempt *attempt); /* attempt_start follows, with the edited body */
/* jq has answered. False: the call does not start, and the outcome says why. */
bool edit_ended(struct engine *engine, struct attempt *attempt);

#endif
