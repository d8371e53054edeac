/* intake: what libmicrohttpd calls: takes a request in piece by piece, starts its call, sends its
 * answer. Runs on the HTTP threads, which never wait. */
#ifndef SERVER_INTAKE_H
#define SERVER_INTAKE_H

#include <microhttpd.h>

struct visit;

/* Of every 503. */
#define INTAKE_RETRY_AFTER_S "1"

enum {
    /* A body that will be refused is still read, so that the client gets to see the answer, but not
     * without end. */
    INTAKE_SWALLOW_MAX = 256 * 1024 * 1024,
    INTAKE_RECEIVE_MAX_MS = 120 * 1000, /* a request that takes longer to arrive is refused */
};

/* MHD_AccessHandlerCallback, MHD_RequestCompletedCallback and MHD_OPTION_UNESCAPE_CALLBACK, with
 * the server as their first argument. */
enum MHD_Result intake_access(void *server, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **request);
void intake_completed(void *server, struct MHD_Connection *connection, void **request,
                      enum MHD_RequestTerminationCode how);
/* The body of its request has stopped arriving: it is answered (kept.h). */
void intake_late(struct visit *visit);
/* Leaves escapes alone: the path is split before it is decoded (url.h). */
size_t intake_unescape(void *server, struct MHD_Connection *connection, char *text);

#endif
