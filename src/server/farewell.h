/* farewell: closes gently behind a refusal that was sent before the request had come whole.
 *
 * A socket that is closed with unread bytes resets the connection, and the client, still sending,
 * may never see the answer. So a second handle on the socket is kept here, and what still comes is
 * read and thrown away until the client is done, or a limit is met. */
#ifndef SERVER_FAREWELL_H
#define SERVER_FAREWELL_H

enum {
    FAREWELL_SOCKETS_MAX = 64,              /* more are closed the hard way */
    FAREWELL_BYTES_MAX = 256 * 1024 * 1024, /* of one request */
    FAREWELL_TIME_MAX_MS = 30 * 1000,
};

struct MHD_Connection;
struct farewell;

struct farewell *farewell_new(void);
/* Call before the early answer is queued; libmicrohttpd reads nothing more of that request. */
void farewell_later(struct farewell *farewell, struct MHD_Connection *connection);
/* The same for a socket that libmicrohttpd never had: its answer is sent, the rest is to be read.
 */
void farewell_take(struct farewell *farewell, int fd);
void farewell_free(struct farewell *farewell);

#endif
