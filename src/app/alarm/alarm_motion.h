/* alarm_motion: for how long a queue has stood still although messages are due, and for how long
 * its source has been unreachable. */
#ifndef APP_ALARM_MOTION_H
#define APP_ALARM_MOTION_H

#include "engine/engine.h"

struct alarm_motion {
    struct queue_motion {
        char name[256];
        uint64_t ended;               /* attempts so far */
        struct mono moved, connected; /* when it was last seen in that state */
    } * queues;
    size_t count;
};

struct alarm_motion_reading {
    double stalled_seconds, unreachable_seconds;
    uint64_t due; /* messages */
};

/* Reads a queue's state once. The queue stands still while messages are due (or wait at a source
 * that can be reached) and none is handed over or leased, unless it is paused, halted, its breaker
 * is not closed, or it waits for room in its DLQ. */
struct alarm_motion_reading alarm_motion_read(struct alarm_motion *motion,
                                              const struct engine_queue_view *view,
                                              struct mono now);
void alarm_motion_free(struct alarm_motion *motion);

#endif
