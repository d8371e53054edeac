/* safe_text: makes text from messages safe for a terminal. */
#ifndef CLI_VIEW_SAFE_TEXT_H
#define CLI_VIEW_SAFE_TEXT_H

#include "base/buf.h"

/* Appends the text on one line: control characters, invalid UTF-8 and marks of writing direction
 * are shown as \xNN, so that a message cannot control the terminal. */
void text_put(struct buf *out, struct bytes text);
/* The same for text of several lines: each is indented and ends in a newline. */
void text_put_lines(struct buf *out, struct bytes text, size_t indent);
/* The width of a text of text_put on a terminal, in columns. */
size_t text_width(struct bytes text);
/* The longest prefix of at most that many columns. */
struct bytes text_clip(struct bytes text, size_t columns);

#endif
