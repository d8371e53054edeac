/* intake: libmicrohttpd's callbacks. Receives a request in parts, starts its call, sends its
 * answer. Runs on the HTTP threads, which never wait.
 *
 * Every request is checked in one place (`examine`) before anything else is done with it, pipelined
 * or not. libmicrohttpd parses leniently: a request that two parsers could read differently is
 * refused and its connection closed, so that nothing after it is parsed (request smuggling). What
 * libmicrohttpd cannot parse or hold it refuses itself (400, 414, 431, 505) with an HTML text
 * instead of a problem document. */
#ifndef SERVER_INTAKE_H
#define SERVER_INTAKE_H

#include <microhttpd.h>

/* The Retry-After of every 503. */
#define INTAKE_RETRY_AFTER_S "1"

enum {
    /* A body that will be refused is read and discarded, so that the client can read the answer,
       but only up to this size. */
    INTAKE_DISCARD_MAX = 256 * 1024 * 1024,
    /* Query parameters that libmicrohttpd has memory for. The connection of a request with more is
       closed; REQUEST_ARGS_MAX is the documented limit. */
    INTAKE_ARGS_MAX = 256,
    INTAKE_RECEIVE_MAX_MS =
        120 * 1000, /* a body that takes longer to arrive closes its connection */
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
/* Decodes nothing: the path is split before it is decoded, so that an id may contain a slash. */
size_t intake_unescape(void *server, struct MHD_Connection *connection, char *text);

#endif
