#include "app/alarm/alarm_motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static struct queue_motion *find(struct alarm_motion *motion, const char *name, struct mono now) {
    for (size_t i = 0; i < motion->count; i++)
        if (strcmp(motion->queues[i].name, name) == 0)
            return &motion->queues[i];
    motion->queues = memory_grow(motion->queues, (motion->count + 1) * sizeof *motion->queues);
    struct queue_motion *queue = &motion->queues[motion->count++];
    *queue = (struct queue_motion){.moved = now, .connected = now};
    snprintf(queue->name, sizeof queue->name, "%s", name);
    return queue;
}

static uint64_t ended(const struct engine_queue_view *view) {
    uint64_t sum = view->leases_expired;
    for (int i = 0; i < RESULT_COUNT; i++)
        sum += view->results[i];
    return sum;
}

/* Messages behind a closed key are `queued` as well. In an ordered queue without leases, messages
 * that could run are handed over at once, so none of its queued messages count as due. */
static uint64_t due(const struct engine_queue_view *view) {
    uint64_t queued =
        view->counts.queued > view->counts.delayed ? view->counts.queued - view->counts.delayed : 0;
    if (view->ordered && strcmp(view->handler, "lease") != 0)
        queued = 0;
    bool at_source = view->source_connected && strcmp(view->source, "builtin") != 0;
    return queued + (at_source ? view->lag : 0);
}

/* A worker that waits for messages has got all messages that may run. */
static bool may_stand_still(const struct engine_queue_view *view) {
    return view->state != QUEUE_RUNNING || view->breaker != BREAKER_CLOSED ||
           view->receives_nothing || view->checking || view->in_flight > 0 ||
           view->counts.taken > 0 || view->workers_waiting > 0;
}

struct alarm_motion_reading alarm_motion_read(struct alarm_motion *motion,
                                              const struct engine_queue_view *view,
                                              struct mono now) {
    struct queue_motion *queue = find(motion, view->name, now);
    struct alarm_motion_reading reading = {.due = due(view)};
    if (reading.due == 0 || may_stand_still(view) || ended(view) != queue->ended)
        queue->moved = now;
    if (view->source_connected || view->state != QUEUE_RUNNING)
        queue->connected = now;
    queue->ended = ended(view);
    reading.stalled_seconds = (double)(now.ms - queue->moved.ms) / 1000;
    reading.unreachable_seconds = (double)(now.ms - queue->connected.ms) / 1000;
    return reading;
}

void alarm_motion_free(struct alarm_motion *motion) {
    free(motion->queues);
    *motion = (struct alarm_motion){0};
}
