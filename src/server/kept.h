/* kept: a loop's connections between two requests.
 *
 * libmicrohttpd refuses a head that it cannot hold in words of its own. So it is not given one that
 * nobody has looked at: behind an answer the connection is suspended, and goes on when the next
 * head is whole and within its limits (door.h).
 *
 *     answered ──▶ waits, suspended ──▶ its head is whole: resumed
 *                         │
 *                         └──▶ refused, or its time is over: answered, farewell
 *
 * A body that does not go on arriving is given the same time, and then answered as well:
 * libmicrohttpd would close the connection without a word.
 *
 * What libmicrohttpd has read already of a next request cannot be looked at. Where it has, because
 * the client did not wait for the answer, it goes on by itself. Everything runs on the loop's
 * thread. */
#ifndef SERVER_KEPT_H
#define SERVER_KEPT_H

#include "base/list.h"
#include "port/clock.h"

struct MHD_Connection;
struct farewell;
struct kept;
struct visit;

struct kept_options {
    struct farewell *farewell;
    struct clock *clock;
    int64_t idle_ms; /* how long the next head, or piece of a body, may take to arrive */
    void (*late)(struct visit *visit); /* the next piece has not come */
};

/* One connection, from its beginning to its end. */
struct visit {
    struct kept *kept;
    struct MHD_Connection *connection;
    int fd;
    bool waiting;
    bool arriving;           /* a body, of `request` */
    struct request *request; /* intake's */
    bool even;               /* nothing was read behind the request that is being answered */
    bool over;               /* it was refused: what libmicrohttpd still reads of it is nobody's */
    uint64_t begun;          /* where its present request begins, in bytes of the connection */
    struct list link;        /* of those that wait, or those whose body arrives */
    struct mono until;
};

struct kept *kept_new(const struct kept_options *options);
void kept_free(struct kept *kept);
/* Can be read when something may have come for one of those that wait, or `fd` can be. */
int kept_watch(struct kept *kept, int fd);
void kept_open(struct kept *kept, struct visit *visit, struct MHD_Connection *connection);
void kept_close(struct visit *visit);
/* More of its request's body is to come; asked anew with each piece. */
void kept_expect(struct visit *visit, struct mono now);
/* No more of it is. */
void kept_expect_no_more(struct visit *visit);
/* It is not waited for any more: what was sent is its answer, or without one it is closed. */
void kept_give_up(struct visit *visit, bool answered);
/* Its present request, whose body has so many bytes, is about to be answered. */
void kept_mark(struct visit *visit, uint64_t body);
/* The answer is sent, and the connection stays: from libmicrohttpd's callback for that. */
void kept_wait(struct visit *visit);
/* Resumes whom it can: libmicrohttpd is to be run afterwards. */
void kept_hear(struct kept *kept);
/* Resumes them all, for the end. */
void kept_end(struct kept *kept);
/* How long until the first one's time is over; INT64_MAX: none waits. */
int64_t kept_sleep_ms(struct kept *kept);

#endif
