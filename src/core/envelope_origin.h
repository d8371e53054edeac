/* envelope_origin: where a message itself was, as its source says. A broker that followed a pointer
 * says it in the member "origin" of the source, which is otherwise about the pointer. What goes
 * back to its origin goes there, and whether it had a value there is what its copies go by. Pure.
 */
#ifndef CORE_ENVELOPE_ORIGIN_H
#define CORE_ENVELOPE_ORIGIN_H

#include "core/envelope.h"

/* Its coordinates, borrowed from the envelope. False: nothing is said. */
bool envelope_origin(const struct envelope *envelope, struct json *out);

#endif
