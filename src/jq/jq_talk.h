/* jq_talk: one request and its answer over a helper's socket, without blocking. */
#ifndef JQ_JQ_TALK_H
#define JQ_JQ_TALK_H

#include "base/buf.h"
#include "jq/jq_process.h"
#include "jq/jq_wire.h"

struct jq_talk {
    int fd;
    size_t output_max;
    struct jq_request request;
    struct bytes program, input; /* borrowed until the answer */
    size_t sent;                 /* bytes of the request sent, with its header */
    bool asking;                 /* a request is in flight */
    struct buf heard;
};

enum jq_talk_state {
    JQ_TALK_GOES_ON,
    JQ_TALK_ANSWERED,
    JQ_TALK_BROKEN, /* the helper is gone, or violates the protocol */
};

/* The first answer is the greeting, as if it had been requested. */
void jq_talk_init(struct jq_talk *talk, int fd, size_t output_max);
void jq_talk_free(struct jq_talk *talk);
/* Starts a request; an input with ptr NULL: compile only. */
void jq_talk_ask(struct jq_talk *talk, struct bytes program, struct bytes input,
                 int64_t timeout_ms);
/* Writes and reads as much as possible without waiting. */
enum jq_talk_state jq_talk_step(struct jq_talk *talk);
bool jq_talk_wants_write(const struct jq_talk *talk);
/* After ANSWERED: the header and the text, borrowed until clear. */
struct bytes jq_talk_answer(const struct jq_talk *talk, struct jq_answer *head);
void jq_talk_clear(struct jq_talk *talk);

#endif
