/* content: guesses the content type of a body that has none. Pure. */
#ifndef BASE_TEXT_CONTENT_H
#define BASE_TEXT_CONTENT_H

#include "base/bytes.h"

/* A content type; static text. */
struct bytes content_looks(struct bytes body);

#endif
