/* content: what a body looks like, where nobody says what it is. Pure. */
#ifndef BROKER_CONTENT_H
#define BROKER_CONTENT_H

#include "base/bytes.h"

/* A content type; static text. */
struct bytes content_looks(struct bytes body);

#endif
