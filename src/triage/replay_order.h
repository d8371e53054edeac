/* replay_order: what somebody wants replayed, and how: which letters, edited how, sent where, how
 * fast, and how carefully. */
#ifndef TRIAGE_REPLAY_ORDER_H
#define TRIAGE_REPLAY_ORDER_H

#include "triage/selection.h"

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
    struct bytes edit; /* a jq program on the body; empty: as it is */
    struct bytes
        to; /* another queue, or COMEBACK_ORIGIN: where it came from; empty: its own queue */
    struct replay_rate rate;
    uint32_t canary[REPLAY_STAGES_MAX]; /* so many, then so many … */
    size_t canary_count;                /* 0: no canary */
    /* It aborts by itself when letters come back dead; otherwise each letter is judged by itself,
     * and one that dies again leaves the others alone. */
    bool guarded;
    bool ramp;
    bool send_stale; /* stale letters too */
    /* It waits until the consumers of the letters' queue are of such a version; empty: of any. */
    struct bytes when_version;
    struct bytes who, why;
    struct bytes id;        /* chosen by whoever orders it, a UUIDv7; empty: a new one */
    struct store_keep note; /* kept in the commit that makes the replay; no name: none */
};

/* 50/s, a canary of 1 and then 10, a ramp, stale letters are skipped, guarded. */
void replay_order_init(struct replay_order *order);
bool replay_order_to_origin(const struct replay_order *order);
/* The queue that a letter of `own` is in once it was sent. */
struct bytes replay_order_queue(const struct replay_order *order, struct bytes own);
/* "50/s" "0.5/s" "15%" "max". */
bool replay_rate_parse(struct bytes text, struct replay_rate *out);
void replay_rate_put(const struct replay_rate *rate, struct buf *out);

#endif
