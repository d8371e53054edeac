/* pretty: a JSON text laid out for reading, as far as there is room for it. */
#ifndef CLI_PRETTY_H
#define CLI_PRETTY_H

#include "base/json.h"

/* Appends lines with that indent, at most `lines` of them; what is left out is said in a last one.
 * Numbers and strings stand exactly as they came, but fit for a terminal. */
void pretty_json(struct buf *out, struct json value, size_t indent, size_t lines);
/* The same for plain text. */
void pretty_text(struct buf *out, struct bytes text, size_t indent, size_t lines);

#endif
