#include "server/door.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "server/problem.h"

enum { DOOR_ANSWER_MAX = 4096 }; /* bytes of a refusal */

/* Less than nothing when the connection is broken. */
static ssize_t peek(struct door *door, int fd, struct bytes *seen) {
    ssize_t len = recv(fd, door->seen, sizeof door->seen, MSG_PEEK | MSG_DONTWAIT);
    *seen = (struct bytes){door->seen, len > 0 ? (size_t)len : 0};
    return len < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : len;
}

static void put_answer(struct buf *out, enum status status, const char *why, bool bodiless) {
    char memory[DOOR_ANSWER_MAX / 2];
    struct buf body;
    buf_init_fixed(&body, memory, sizeof memory);
    problem_put(&body, status, bytes_of(why), BYTES_NONE, 0);
    buf_printf(out,
               "HTTP/1.1 %d %s\r\nContent-Type: " PROBLEM_TYPE "\r\nContent-Length: %zu\r\n"
               "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
               status_http(status), MHD_get_reason_phrase_for((unsigned)status_http(status)),
               body.len);
    if (!bodiless)
        buf_bytes(out, buf_view(&body));
}

/* The answer fits into an empty socket; a client that does not let it has no use for it. */
static enum door_answer refuse(int fd, struct bytes seen, enum status status, const char *why) {
    char memory[DOOR_ANSWER_MAX];
    struct buf answer;
    buf_init_fixed(&answer, memory, sizeof memory);
    put_answer(&answer, status, why, head_is_bodiless(seen));
    ssize_t sent = send(fd, answer.ptr, answer.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 || shutdown(fd, SHUT_WR) != 0 ? DOOR_GONE : DOOR_SHUT;
}

enum door_answer door_look(struct door *door, int fd, bool ended) {
    struct bytes seen;
    struct err err;
    bool whole;
    if (peek(door, fd, &seen) < 0 || (ended && seen.len == 0))
        return DOOR_GONE;
    enum status status = head_check(seen, &whole, &err);
    if (status != STATUS_OK)
        return refuse(fd, seen, status, err.text);
    if (whole)
        return DOOR_OPEN;
    return ended ? refuse(fd, seen, STATUS_INVALID, "the request ends before its headers do")
                 : DOOR_WAIT;
}

enum door_answer door_expire(struct door *door, int fd, int64_t ms) {
    struct bytes seen;
    char why[128];
    if (peek(door, fd, &seen) <= 0)
        return DOOR_GONE;
    snprintf(why, sizeof why, "request line and headers did not arrive within %lld ms",
             (long long)ms);
    return refuse(fd, seen, STATUS_TIMEOUT, why);
}
