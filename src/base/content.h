/* content: what a body looks like, where nobody says what it is. Pure. */
#ifndef BASE_CONTENT_H
#define BASE_CONTENT_H

#include "base/bytes.h"

/* A content type; static text. */
struct bytes content_looks(struct bytes body);

#endif
