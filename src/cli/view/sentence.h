/* sentence: one line about an answer of the server, from a template. */
#ifndef CLI_VIEW_SENTENCE_H
#define CLI_VIEW_SENTENCE_H

#include "base/buf.h"
#include "base/json/json.h"

/* Appends the template with each "{path}" replaced by that member of the object (field_text), made
 * safe for a terminal (text_put): "replay {id} is {state}". A missing member is empty. */
void sentence_put(struct json object, const char *pattern, struct arena *arena, struct buf *out);

#endif
