/* header_value: values of a handler's headers (`headers:` in the configuration) that differ from
 * message to message. Pure.
 *
 *   {id}  {key}    the message's own
 *   {{word}}       the text {word}
 *
 * A word has 2 to 16 small letters. Any other brace is a brace, as in {"a":1} and ${NAME}. */
#ifndef HANDLER_HEADER_VALUE_H
#define HANDLER_HEADER_VALUE_H

#include "base/buf.h"
#include "port/handler.h"

/* False: it has a {word} that means nothing, which is *unknown then, with its braces. */
bool header_value_is_known(struct bytes value, struct bytes *unknown);
/* Whether it differs from message to message. */
bool header_value_varies(struct bytes value);
/* Writes the value for a call. False: the message has no key, and the value needs one. */
bool header_value_put(struct bytes value, const struct call *call, struct buf *out);

#endif
