/* replay: the states and outcomes of replays, and what replays need from the rest of the server. */
#ifndef TRIAGE_REPLAY_REPLAY_H
#define TRIAGE_REPLAY_REPLAY_H

#include "core/version.h"
#include "port/handler.h"
#include "port/letters.h"

#define REPLAY_STATE_LIST(X)                                                                       \
    X(PLANNED, "planned")                                                                          \
    X(CANARY, "canary")                                                                            \
    X(RAMP, "ramp")                                                                                \
    X(RUNNING, "running")                                                                          \
    X(WAITING, "waiting")                                                                          \
    X(PAUSED, "paused")                                                                            \
    X(ABORTED, "aborted")                                                                          \
    X(DONE, "done")

/* The outcome of a letter: as one character in a part, and as a word. */
#define REPLAY_OUTCOME_LIST(X)                                                                     \
    X(WAITING, '.', "not sent")                                                                    \
    X(SENT, 's', "sent")                                                                           \
    X(RESOLVED, 'r', "resolved")                                                                   \
    X(FAILED, 'f', "failed again")                                                                 \
    X(DISCARDED, 'd', "discarded")                                                                 \
    X(STALE, 't', "skipped stale")                                                                 \
    X(UNCHECKED, 'u', "skipped check failed")                                                      \
    X(UNEDITED, 'e', "skipped edit failed")                                                        \
    X(CHANGED, 'c', "skipped changed")                                                             \
    X(HELD, 'h', "skipped held")                                                                   \
    X(ESCALATED, 'x', "escalated")

#define REPLAY_ENUM_STATE(code, text)      REPLAY_##code,
#define REPLAY_ENUM_OUTCOME(code, c, text) REPLAYED_##code,
enum replay_state { REPLAY_STATE_LIST(REPLAY_ENUM_STATE) REPLAY_STATE_COUNT };
enum replay_outcome { REPLAY_OUTCOME_LIST(REPLAY_ENUM_OUTCOME) REPLAY_OUTCOME_COUNT };

const char *replay_state_text(enum replay_state state);
bool replay_state_parse(struct bytes text, enum replay_state *out);
const char *replay_outcome_text(enum replay_outcome outcome);
char replay_outcome_char(enum replay_outcome outcome);
bool replay_outcome_of_char(char c, enum replay_outcome *out);

/* Letters by outcome, and the sums that are shown. */
struct replay_counts {
    uint64_t by[REPLAY_OUTCOME_COUNT];
};
uint64_t replay_sent(const struct replay_counts *counts);    /* handed to the engine so far */
uint64_t replay_skipped(const struct replay_counts *counts); /* not sent, for good */

enum { REPLAY_ORIGIN_SIZE = 320, REPLAY_VERSIONS_MAX = 8 };

/* The settings of a DLQ that replays need. */
struct replay_dlq {
    uint32_t max_replays;  /* 3 */
    int64_t fresh_ms;      /* `fresh: {within}`: older letters are stale; 0: none is */
    struct handler *check; /* `fresh: {check}`: returns the current content hash; NULL: none */
    struct bytes hash;     /* `fresh: {hash}`: path of the hash in the body */
};

/* The present state of a queue. */
struct replay_queue {
    char blocked[128]; /* why nothing can be sent to it now; empty: it can */
    char cut_off[128]; /* why nothing can be sent to its source now; empty: it can */
    uint64_t lag, max_lag;
    uint32_t concurrency;
    double usual_per_second;                              /* traffic of its own */
    char versions[REPLAY_VERSIONS_MAX][VERSION_TEXT_MAX]; /* versions of its current consumers */
    size_t version_count;
};

/* Callbacks into the rest of the server, called on the replays' threads. */
struct replay_around {
    bool (*queue)(void *arg, struct bytes name,
                  struct replay_queue *out); /* false: no such queue */
    void (*dlq)(void *arg, struct bytes name, struct replay_dlq *out);
    /* Describes a letter's origin, such as "kafka topic orders". INVALID: it cannot be sent there;
     * err says why. */
    enum status (*origin)(void *arg, const struct envelope *letter, char out[REPLAY_ORIGIN_SIZE],
                          struct err *err);
    /* Lets the engine send letters of that queue to their origin, even if the queue is not
     * configured. */
    void (*serve)(void *arg, struct bytes queue);
    /* Publishes an event; like struct engine_event. */
    void (*event)(void *arg, const char *type, struct bytes json);
    void *arg;
};

#endif
