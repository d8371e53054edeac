/* replay_order: a request for a replay: which letters, with which edit, to which queue, at which
 * rate, with which safeguards. */
#ifndef TRIAGE_REPLAY_REPLAY_ORDER_H
#define TRIAGE_REPLAY_REPLAY_ORDER_H

#include "triage/query/selection.h"

enum {
    REPLAY_STAGES_MAX = 8,
    REPLAY_RATE_DEFAULT = 50, /* letters per second */
    REPLAY_RATE_MAX = 1000000,
};

struct replay_rate {
    enum replay_rate_kind {
        REPLAY_RATE_FIXED,     /* "50/s" */
        REPLAY_RATE_SHARE,     /* "15%": of the usual traffic of the queue */
        REPLAY_RATE_UNLIMITED, /* "max" */
    } kind;
    double value;
};

struct replay_order {
    struct selection selection;
    struct bytes edit; /* a jq program on the body; empty: unchanged */
    struct bytes
        to; /* another queue, or COMEBACK_ORIGIN: the letter's origin; empty: its own queue */
    struct replay_rate rate;
    uint32_t canary[REPLAY_STAGES_MAX]; /* letters in each stage */
    size_t canary_count;                /* 0: no canary */
    /* Abort by itself when letters fail again; otherwise each letter is judged alone, and one that
     * dies again does not affect the others. */
    bool guarded;
    bool ramp;
    bool send_stale; /* send stale letters, too */
    /* Wait until the consumers of the letters' queue have such a version; empty: any. */
    struct bytes when_version;
    struct bytes who, why;
    struct bytes id;        /* chosen by the caller, a UUIDv7; empty: a new one */
    struct store_keep note; /* stored in the commit that creates the replay; no name: none */
};

/* Defaults: 50/s, a canary of 1 and then 10, a ramp, stale letters skipped, guarded. */
void replay_order_init(struct replay_order *order);
bool replay_order_to_origin(const struct replay_order *order);
/* The queue of a letter of queue `own` after it was sent. */
struct bytes replay_order_queue(const struct replay_order *order, struct bytes own);
/* "50/s" "0.5/s" "15%" "max". */
bool replay_rate_parse(struct bytes text, struct replay_rate *out);
void replay_rate_put(const struct replay_rate *rate, struct buf *out);

#endif
