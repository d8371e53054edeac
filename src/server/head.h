/* head: whether a request's head, as far as it has come, is one that the server takes.
 *
 * The limits keep what libmicrohttpd makes of a head (HEAD_MEMORY) far from its end: what would not
 * fit there, it refuses in its own words, and those are no problem document. */
#ifndef SERVER_HEAD_H
#define SERVER_HEAD_H

#include "base/bytes.h"
#include "base/status.h"

enum {
    HEAD_BYTES_MAX = 32 * 1024,  /* request line and headers, with the empty line behind them */
    HEAD_TARGET_MAX = 16 * 1024, /* path and query */
    HEAD_FIELDS_MAX = 256,       /* header lines */
    HEAD_ARGS_MAX = 64,          /* query parameters */
    HEAD_MEMORY = 64 * 1024,     /* of a connection, for its head and what is noted of it */
};

/* OK: nothing is wrong with what has come; *whole says whether the empty line is among it.
 * Otherwise INVALID, URI_TOO_LONG or HEAD_TOO_LARGE, told as early as it is known. */
enum status head_check(struct bytes seen, bool *whole, struct err *err);
/* The head of a request whose answer has no body. */
bool head_is_bodiless(struct bytes seen);

#endif
