/* told_status: an HTTP status in the message of an exception whose type says nothing, such as
 * RuntimeError("downstream tax-svc 503"). Pure.
 *
 * A message may repeat a part of the input, so only two forms count: the status is the last word,
 * or it stands right behind a word that introduces a status ("service returned 503 for url …").
 * Quotes, brackets and a text behind a colon ("title: …") may be input: what has them tells
 * nothing. */
#ifndef CORE_TOLD_STATUS_H
#define CORE_TOLD_STATUS_H

#include "base/bytes.h"

enum { TOLD_STATUS_MESSAGE_MAX = 256 }; /* bytes; what is longer tells nothing */

/* 429 or 500 to 599; 0: it tells none. */
int told_status(struct bytes message);

#endif
