/* edit: the body that one handler gets, made from the message's body by that handler's jq program.
 * The stored body is not changed. jq runs in another process, so the attempt waits here and keeps
 * its slot of the concurrency. An edit that fails is the outcome of that handler's call. */
#ifndef ENGINE_EDIT_H
#define ENGINE_EDIT_H

#include "engine/state.h"

void edit_begin(struct attempt *attempt); /* attempt_start follows, with the edited body */
/* jq has answered. False: the call does not start, and the outcome has the reason. */
bool edit_ended(struct engine *engine, struct attempt *attempt);

#endif
