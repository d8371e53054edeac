/* item: one message as a JSON object, for handlers that take it as text among others:
 *
 *   {"id","queue","key","attempt","replay","headers","content_type","body"}
 *
 * A JSON body is the exact bytes that came, never re-serialised; other text is a string; what is
 * not UTF-8 is "body_base64" instead. */
#ifndef HANDLER_ITEM_H
#define HANDLER_ITEM_H

#include "base/json.h"
#include "port/handler.h"

enum { ITEM_TEXT_MAX = 512 << 20 }; /* bytes of one text with all its items */

void item_put(struct json_out *out, const struct call *call);
/* The same, with a space for each line break between the tokens of a JSON body: it fits on a line.
 */
void item_put_line(struct json_out *out, const struct call *call);

#endif
