/* url: percent-encoding, undone after the path was split, so that an id may hold a slash. */
#ifndef SERVER_URL_H
#define SERVER_URL_H

#include "base/arena.h"
#include "base/bytes.h"

/* False when a % is not followed by two hex digits. Without a % nothing is copied. */
bool url_decode(struct bytes text, struct arena *arena, struct bytes *out);

#endif
