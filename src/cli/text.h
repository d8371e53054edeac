/* text: what came from a message, made fit for a terminal. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "base/buf.h"

/* Appends the text on one line: control characters, what is not UTF-8, and the marks that turn the
 * direction of writing are shown as \xNN, so that no message can play with the terminal. */
void text_put(struct buf *out, struct bytes text);
/* The same for text of several lines: each is indented and ends in a newline. */
void text_put_lines(struct buf *out, struct bytes text, size_t indent);
/* Columns that a text of text_put takes on a terminal. */
size_t text_width(struct bytes text);
/* The longest prefix of at most that many columns. */
struct bytes text_clip(struct bytes text, size_t columns);

#endif
