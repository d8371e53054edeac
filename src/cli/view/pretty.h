/* pretty: prints JSON indented, up to a number of lines. */
#ifndef CLI_VIEW_PRETTY_H
#define CLI_VIEW_PRETTY_H

#include "base/json/json.h"

/* Appends at most `lines` lines with that indent; the last one says how much is left out. Numbers
 * and strings are unchanged, except that they are made safe for a terminal. */
void pretty_json(struct buf *out, struct json value, size_t indent, size_t lines);
/* The same for plain text. */
void pretty_text(struct buf *out, struct bytes text, size_t indent, size_t lines);

#endif
