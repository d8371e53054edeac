/* http_signature: lets a receiver verify that a request is ours and unchanged.
 *
 *   Impound-Signature: sha256=<HMAC-SHA256 of the body with the shared secret, in lower-case hex>
 */
#ifndef HANDLER_HTTP_HTTP_SIGNATURE_H
#define HANDLER_HTTP_HTTP_SIGNATURE_H

#include "base/bytes.h"

enum { HTTP_SIGNATURE_SIZE = 128 }; /* of the header line with its NUL */

/* "Impound-Signature: sha256=…" */
void http_signature_line(struct bytes secret, struct bytes body, char line[HTTP_SIGNATURE_SIZE]);

#endif
