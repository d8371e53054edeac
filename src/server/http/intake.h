/* intake: what libmicrohttpd calls: takes a request in piece by piece, starts its call, sends its
 * answer. Runs on the HTTP threads, which never wait.
 *
 * Every request, the first of its connection or not, sent ahead of the answers before it or not, is
 * checked here in one place (`examine`) before anything else is done with it. libmicrohttpd parses
 * leniently; what two parsers could read in two ways is refused, and its connection closed, so that
 * nothing behind it is parsed. What libmicrohttpd itself refuses before (400, 414, 431, 505) it
 * answers in words of its own, not as a problem document. */
#ifndef SERVER_INTAKE_H
#define SERVER_INTAKE_H

#include <microhttpd.h>

/* Of every 503. */
#define INTAKE_RETRY_AFTER_S "1"

enum {
    /* A body that will be refused is still read, so that the client gets to see the answer, but not
     * without end. */
    INTAKE_SWALLOW_MAX = 256 * 1024 * 1024,
    /* Query parameters for which libmicrohttpd has room (REQUEST_ARGS_MAX is the limit that clients
     * are told). A request with more is not answered. */
    INTAKE_ARGS_MAX = 256,
    INTAKE_RECEIVE_MAX_MS = 120 * 1000, /* a body that takes longer to arrive is cut off */
};

/* MHD_AccessHandlerCallback, MHD_RequestCompletedCallback, MHD_OPTION_URI_LOG_CALLBACK and
 * MHD_OPTION_UNESCAPE_CALLBACK, with the server as their first argument. */
enum MHD_Result intake_access(void *server, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **request);
void intake_completed(void *server, struct MHD_Connection *connection, void **request,
                      enum MHD_RequestTerminationCode how);
/* Called before the query is parsed. */
void *intake_target(void *server, const char *target, struct MHD_Connection *connection);
/* Leaves escapes alone: the path is split before it is decoded, so that an id may hold a slash. */
size_t intake_unescape(void *server, struct MHD_Connection *connection, char *text);

#endif
