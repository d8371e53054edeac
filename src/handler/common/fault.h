/* fault: a worker's report of a failed message, with the members of the /fail call (DESIGN §6):
 * error_type, error_message, stack_trace, status, verdict, reason, retry_after. Pure. */
#ifndef HANDLER_COMMON_FAULT_H
#define HANDLER_COMMON_FAULT_H

#include "base/arena.h"
#include "base/json/json.h"
#include "core/outcome.h"

enum { FAULT_STATUS_MIN = 100, FAULT_STATUS_MAX = 599 };

/* Reads a failure of kind `reported`. Members of a wrong type are ignored. False: the object has no
 * error_type, error_message, status or verdict. Texts are borrowed from the object and the arena
 * (heap). */
bool fault_read(struct json object, struct arena *arena, struct outcome *out);

#endif
