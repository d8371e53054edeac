/* told_status: an HTTP status in the message of an exception with a generic type, such as
 * RuntimeError("downstream tax-svc 503"). Pure.
 *
 * A message may repeat a part of the input, so only two forms count: the status is the last word,
 * or it follows a word that introduces a status ("service returned 503 for url …"). Quotes,
 * brackets and text after a colon ("title: …") may be input: a message with them has no status. */
#ifndef CORE_PRESETS_TOLD_STATUS_H
#define CORE_PRESETS_TOLD_STATUS_H

#include "base/bytes.h"

enum { TOLD_STATUS_MESSAGE_MAX = 256 }; /* bytes; a longer message has no status */

/* 429 or 500 to 599; 0: none. */
int told_status(struct bytes message);

#endif
