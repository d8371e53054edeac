/* Changes a queue's state: running, paused or halted. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/queue/queue_facts.h"

void queue_set_state(struct queue *queue, enum queue_state state, struct bytes why) {
    queue->state = state;
    snprintf(queue->why, sizeof queue->why, "%.*s",
             BYTES_ARG(bytes_clip(why, sizeof queue->why - 1)));
    queue_facts_changed(queue);
    queue_visit(queue);
    notice_queue(queue);
    log_about(state == QUEUE_HALTED ? LOG_WARN : LOG_INFO, QUEUE_ABOUT(queue), "%s%s%s",
              queue_state_text(state), queue->why[0] ? ": " : "", queue->why);
}

void queue_pause(struct queue *queue, struct bytes why) {
    char before[sizeof queue->why];
    memcpy(before, queue->why, sizeof before);
    queue_set_state(queue, QUEUE_PAUSED, why.len > 0 ? why : bytes_of(before));
}

void queue_halt(struct queue *queue, const char *why) {
    if (queue->state != QUEUE_HALTED)
        queue_set_state(queue, QUEUE_HALTED, bytes_of(why));
}
