/* door: whether a request may come in, judged by its head while that is still in the socket.
 *
 * The head is looked at and left where it is (MSG_PEEK). One that is whole and within its limits
 * (head.h) is libmicrohttpd's to read; anything else is answered here with a problem document,
 * which libmicrohttpd cannot write for what it refuses itself. */
#ifndef SERVER_DOOR_H
#define SERVER_DOOR_H

#include <stdint.h>

#include "server/head.h"

enum door_answer {
    DOOR_WAIT, /* nothing is wrong, and the head is not whole */
    DOOR_OPEN, /* it is whole */
    /* It was refused: the answer is sent, and no more will be. What still comes is to be read, or
     * the client may not get to see it (farewell.h). */
    DOOR_SHUT,
    DOOR_GONE, /* there is nobody to answer */
};

struct door {
    char seen[HEAD_BYTES_MAX + 1]; /* what lies in the socket that is looked at */
};

/* `ended`: nothing more will come. */
enum door_answer door_look(struct door *door, int fd, bool ended);
/* Sends this problem and no more: SHUT, or GONE where it could not be sent. For requests, too, that
 * libmicrohttpd has begun to read and will not be given the time to. */
enum door_answer door_refuse(int fd, unsigned status, struct bytes problem);
/* Its `ms` are over: SHUT where the head is not whole, GONE where nothing was asked at all. One
 * that has become whole meanwhile is as good as any: it was not the client who was late. */
enum door_answer door_expire(struct door *door, int fd, int64_t ms);

#endif
