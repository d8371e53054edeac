/* percent: percent-encoding (RFC 3986) undone. */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include "base/arena.h"
#include "base/bytes.h"

/* False when a % is not followed by two hex digits. Without a % nothing is copied. */
bool percent_decode(struct bytes text, struct arena *arena, struct bytes *out);

#endif
