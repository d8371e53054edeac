/* jq_talk: see the header. */
#include "jq/jq_talk.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { READ_CHUNK = 64 * 1024, PARTS = 3 };

void jq_talk_init(struct jq_talk *talk, int fd, size_t output_max) {
    *talk = (struct jq_talk){
        .fd = fd, .output_max = output_max, .sent = sizeof talk->request, .asking = true};
    buf_init_heap(&talk->heard, sizeof(struct jq_answer) + output_max + JQ_ERROR_MAX + READ_CHUNK);
}

void jq_talk_free(struct jq_talk *talk) {
    buf_free(&talk->heard);
}

void jq_talk_ask(struct jq_talk *talk, struct bytes program, struct bytes input,
                 int64_t timeout_ms) {
    assert(!talk->asking && program.len <= UINT32_MAX && input.len <= UINT32_MAX);
    talk->request = (struct jq_request){
        .compile_only = input.ptr == NULL,
        .program_len = (uint32_t)program.len,
        .input_len = (uint32_t)input.len,
        .output_max = (uint32_t)talk->output_max,
        .timeout_ms = (uint32_t)timeout_ms,
    };
    talk->program = program;
    talk->input = input;
    talk->sent = 0;
    talk->asking = true;
}

static size_t request_len(const struct jq_talk *talk) {
    return sizeof talk->request + talk->program.len + talk->input.len;
}

bool jq_talk_wants_write(const struct jq_talk *talk) {
    return talk->asking && talk->sent < request_len(talk);
}

/* The parts of the request that are still to be sent. */
static size_t unsent_parts(const struct jq_talk *talk, struct iovec out[PARTS]) {
    const struct bytes parts[PARTS] = {
        {(const char *)&talk->request, sizeof talk->request}, talk->program, talk->input};
    size_t skip = talk->sent, count = 0;
    for (size_t i = 0; i < PARTS; i++) {
        struct bytes left = bytes_cut(parts[i], skip, parts[i].len);
        skip -= skip < parts[i].len ? skip : parts[i].len;
        if (left.len > 0)
            out[count++] = (struct iovec){(void *)(uintptr_t)left.ptr, left.len};
    }
    return count;
}

static bool send_some(struct jq_talk *talk) {
    while (jq_talk_wants_write(talk)) {
        struct iovec parts[PARTS];
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = unsent_parts(talk, parts)};
        ssize_t put = sendmsg(talk->fd, &message, MSG_NOSIGNAL);
        if (put < 0)
            return errno == EAGAIN || errno == EINTR;
        talk->sent += (size_t)put;
    }
    return true;
}

static bool is_whole(const struct jq_talk *talk) {
    struct jq_answer head;
    if (talk->heard.len < sizeof head)
        return false;
    memcpy(&head, talk->heard.ptr, sizeof head);
    return talk->heard.len >= sizeof head + head.len;
}

/* False: end of file, an error, or a too large answer. */
static bool hear_some(struct jq_talk *talk) {
    while (!is_whole(talk)) {
        char chunk[READ_CHUNK];
        ssize_t got = recv(talk->fd, chunk, sizeof chunk, 0);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR;
        if (got == 0)
            return false;
        buf_put(&talk->heard, chunk, (size_t)got);
        if (talk->heard.overflow)
            return false;
    }
    return true;
}

enum jq_talk_state jq_talk_step(struct jq_talk *talk) {
    if (!send_some(talk) || !hear_some(talk))
        return JQ_TALK_BROKEN;
    if (!is_whole(talk))
        return JQ_TALK_GOES_ON;
    return talk->asking ? JQ_TALK_ANSWERED : JQ_TALK_BROKEN;
}

struct bytes jq_talk_answer(const struct jq_talk *talk, struct jq_answer *head) {
    assert(talk->heard.len >= sizeof *head);
    memcpy(head, talk->heard.ptr, sizeof *head);
    return bytes_cut(buf_view(&talk->heard), sizeof *head, sizeof *head + head->len);
}

void jq_talk_clear(struct jq_talk *talk) {
    talk->asking = false;
    talk->program = talk->input = BYTES_NONE;
    buf_clear(&talk->heard);
}
