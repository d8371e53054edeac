/* header_value: placeholders in the values of a handler's headers (`headers:` in the
 * configuration). Pure.
 *
 *   {id}  {key}    the message's own
 *   {{word}}       the text {word}
 *
 * A word has 2 to 16 lower-case letters. Any other brace is literal, as in {"a":1} and ${NAME}. */
#ifndef HANDLER_HTTP_HEADER_VALUE_H
#define HANDLER_HTTP_HEADER_VALUE_H

#include "base/buf.h"
#include "port/handler.h"

/* False: it has an unknown {word}, which is put into *unknown with its braces. */
bool header_value_is_known(struct bytes value, struct bytes *unknown);
/* Whether it differs from message to message. */
bool header_value_varies(struct bytes value);
/* Writes the value for a call. False: the message has no key, and the value needs one. */
bool header_value_put(struct bytes value, const struct call *call, struct buf *out);

#endif
