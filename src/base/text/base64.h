/* base64: RFC 4648, standard alphabet, with padding. */
#ifndef BASE_TEXT_BASE64_H
#define BASE_TEXT_BASE64_H

#include "base/buf.h"

void base64_encode(struct bytes data, struct buf *out);
/* False on anything but the standard alphabet with its padding. Appends to *out. */
bool base64_decode(struct bytes text, struct buf *out);

#endif
