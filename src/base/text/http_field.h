/* http_field: valid names and values of HTTP headers. */
#ifndef BASE_TEXT_HTTP_FIELD_H
#define BASE_TEXT_HTTP_FIELD_H

#include "base/bytes.h"

/* A token of RFC 9110, 5.6.2. */
bool http_field_is_name(struct bytes name);
/* RFC 9110, 5.5: no control character except tab, so that no value can start another header. */
bool http_field_is_value(struct bytes value);

#endif
