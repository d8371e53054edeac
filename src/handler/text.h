/* text: what a stranger said, made fit to be kept and shown. */
#ifndef HANDLER_TEXT_H
#define HANDLER_TEXT_H

#include "base/arena.h"

/* The same text as UTF-8 without NUL: each byte that does not belong is replaced by U+FFFD.
 * Borrowed where nothing had to be replaced, else in the arena (heap). */
struct bytes text_safe(struct bytes text, struct arena *arena);

#endif
