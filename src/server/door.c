#include "server/door.h"

#include <errno.h>
#include <microhttpd.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/instant.h"
#include "server/problem.h"

enum { DOOR_ANSWER_MAX = 4096 }; /* bytes of a refusal */

/* Less than nothing when the connection is broken. */
static ssize_t peek(struct door *door, int fd, struct bytes *seen) {
    ssize_t len = recv(fd, door->seen, sizeof door->seen, MSG_PEEK | MSG_DONTWAIT);
    *seen = (struct bytes){door->seen, len > 0 ? (size_t)len : 0};
    return len < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : len;
}

/* The answer fits into an empty socket; a client that does not let it has no use for it. */
static enum door_answer answer(int fd, unsigned status, struct bytes problem, bool bodiless) {
    char memory[DOOR_ANSWER_MAX];
    struct buf out;
    buf_init_fixed(&out, memory, sizeof memory);
    buf_printf(&out,
               "HTTP/1.1 %u %s\r\nContent-Type: " PROBLEM_TYPE "\r\nContent-Length: %zu\r\n"
               "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
               status, MHD_get_reason_phrase_for(status), problem.len);
    if (!bodiless)
        buf_bytes(&out, problem);
    ssize_t sent = send(fd, out.ptr, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 || shutdown(fd, SHUT_WR) != 0 ? DOOR_GONE : DOOR_SHUT;
}

enum door_answer door_refuse(int fd, unsigned status, struct bytes problem) {
    return answer(fd, status, problem, false);
}

static enum door_answer refuse(int fd, struct bytes seen, enum status status, const char *why) {
    char memory[DOOR_ANSWER_MAX / 2];
    struct buf problem;
    buf_init_fixed(&problem, memory, sizeof memory);
    problem_put(&problem, status, bytes_of(why), BYTES_NONE, 0);
    return answer(fd, (unsigned)status_http(status), buf_view(&problem), head_is_bodiless(seen));
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
    char memory[128];
    struct buf why;
    enum door_answer answer = door_look(door, fd, false);
    if (answer != DOOR_WAIT)
        return answer;
    if (peek(door, fd, &seen) <= 0)
        return DOOR_GONE;
    buf_init_fixed(&why, memory, sizeof memory);
    buf_str(&why, "request line and headers did not arrive within ");
    duration_put(&why, ms);
    return refuse(fd, seen, STATUS_TIMEOUT, buf_cstr(&why));
}
