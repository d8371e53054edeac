/* edit: the body that one handler sees, made from the message's by that handler's jq program. The
 * stored body stays as it is. jq answers from another process, so the flight waits here, within its
 * attempt and with its slot of the concurrency. An edit that fails is the outcome of that handler's
 * call. */
#ifndef ENGINE_EDIT_H
#define ENGINE_EDIT_H

#include "engine/state.h"

void edit_begin(struct flight *flight); /* flight_start follows, with the edited body */

#endif
