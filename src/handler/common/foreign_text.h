/* foreign_text: makes text from outside safe to store and show. */
#ifndef HANDLER_COMMON_FOREIGN_TEXT_H
#define HANDLER_COMMON_FOREIGN_TEXT_H

#include "base/arena.h"

/* The text as UTF-8 without NUL: each invalid byte is replaced by U+FFFD. Borrowed if nothing had
 * to be replaced, otherwise in the arena (heap). */
struct bytes text_safe(struct bytes text, struct arena *arena);

#endif
