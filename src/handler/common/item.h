/* item: one message as a JSON object, for handlers that get it as text among others:
 *
 *   {"id","queue","key","attempt","replay","headers","content_type","body"}
 *
 * A JSON body is the exact bytes received, never re-serialised; other text is a string; a body that
 * is not UTF-8 is "body_base64" instead. */
#ifndef HANDLER_COMMON_ITEM_H
#define HANDLER_COMMON_ITEM_H

#include "base/json/json.h"
#include "port/handler.h"

enum { ITEM_TEXT_MAX = 512 << 20 }; /* bytes of one text with all its items */

void item_put(struct json_out *out, const struct call *call);
/* The same on one line: line breaks between tokens of a JSON body become spaces. */
void item_put_line(struct json_out *out, const struct call *call);

#endif
