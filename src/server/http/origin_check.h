/* origin_check: keeps other people's web pages out. A browser sends Host and Origin; a page that
 * was led here by a forged name (DNS rebinding) or that posts across origins is told apart by them.
 */
#ifndef SERVER_ORIGIN_CHECK_H
#define SERVER_ORIGIN_CHECK_H

#include "base/bytes.h"
#include "base/status.h"

/* `listen_host`: as configured. FORBIDDEN with the reason. An absent header is BYTES_NONE. */
enum status origin_check(struct bytes listen_host, struct bytes host, struct bytes origin,
                         struct err *err);

#endif
