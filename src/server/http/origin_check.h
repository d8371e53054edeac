/* origin_check: refuses requests that a browser makes for a foreign web page. A foreign Host is DNS
 * rebinding, a foreign Origin is a cross-origin request. */
#ifndef SERVER_ORIGIN_CHECK_H
#define SERVER_ORIGIN_CHECK_H

#include "base/bytes.h"
#include "base/status.h"

/* `listen_host`: as configured. FORBIDDEN with the reason. An absent header is BYTES_NONE. */
enum status origin_check(struct bytes listen_host, struct bytes host, struct bytes origin,
                         struct err *err);

#endif
