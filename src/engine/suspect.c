#include "engine/suspect.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/recorder.h"
#include "engine/tracing.h"

/* A suspect that waits for its turn, in the engine's hands. */
struct parked {
    struct list link;
    struct queue *queue;
    struct message *held;
};

/* What the recorder says about the attempt that is now due. An older one has been judged since. */
static const struct recorder_entry *entry_of(struct recorder *recorder,
                                             const struct message *held) {
    struct recorder_entry old;
    const struct recorder_entry *entry = recorder_find(recorder, held->seq);
    if (!entry || entry->attempt == held->envelope.attempts + 1)
        return entry;
    if (recorder_claim(recorder, held->seq, &old))
        recorder_clear(recorder, old.slot);
    return NULL;
}

/* Judged without a call: the call was made, and did not come back. Its slot is cleared when the
 * judgement is durable. */
static void blame(struct queue *queue, struct message *held) {
    struct engine *engine = queue->engine;
    struct recorder_entry entry;
    recorder_claim(engine->recorder, held->seq, &entry);
    struct flight *flight = flight_new(queue, held);
    struct log_about about = tracing_about(flight);
    log_about(LOG_WARN, &about, "it was running alone when the process died");
    flight->slot = entry.slot;
    flight->started.wall = entry.started_at;
    flight->policy = queue->rules.policy;
    flight->killed_us = true;
    flight->outcome = (struct outcome){
        .ending = ENDING_FAILED,
        .kind = KIND_SIGNAL,
        .error_message = BYTES("the process died while it handled this message alone"),
        .retry_after_ms = -1,
    };
    held->envelope.suspect = true;
    if (held->envelope.first_attempt_at.ms == WALL_NEVER.ms)
        held->envelope.first_attempt_at = entry.started_at;
    envelope_fail(&held->envelope, &flight->outcome, engine->now.wall);
    queue->running++;
    judge_decide(flight);
}

static void park(struct queue *queue, struct message *held) {
    struct parked *parked = memory_new(sizeof *parked);
    parked->queue = queue;
    parked->held = held;
    list_push_back(&queue->engine->parked, &parked->link);
}

bool suspect_admit(struct queue *queue, struct message *held) {
    struct engine *engine = queue->engine;
    if (!queue->in_process)
        return true;
    const struct recorder_entry *entry = entry_of(engine->recorder, held);
    if (entry && entry->state == RECORDER_BLAMED) {
        blame(queue, held);
        return false;
    }
    if (entry && entry->state == RECORDER_SUSPECT)
        held->envelope.suspect = true;
    if (!held->envelope.suspect || !engine->suspect)
        return true;
    park(queue, held);
    return false;
}

/* Who was never blamed goes first: most likely it is cleared, and out of the way. */
static struct parked *least_blamed(struct queue *queue) {
    struct parked *least = NULL;
    LIST_EACH(node, &queue->engine->parked) {
        struct parked *parked = CONTAINER_OF(node, struct parked, link);
        if (parked->queue == queue &&
            (!least || parked->held->envelope.crashes < least->held->envelope.crashes))
            least = parked;
    }
    return least;
}

static struct message *unpark(struct parked *parked) {
    struct message *held = parked->held;
    list_remove(&parked->link);
    free(parked);
    return held;
}

struct message *suspect_next(struct queue *queue) {
    struct parked *next = queue->engine->suspect ? NULL : least_blamed(queue);
    return next ? unpark(next) : NULL;
}

uint32_t suspect_note(struct flight *flight) {
    struct engine *engine = flight->queue->engine;
    const struct envelope *envelope = &flight->held->envelope;
    enum recorder_state state = flight->queue->in_process ? RECORDER_RUNNING : RECORDER_FOREIGN;
    if (state == RECORDER_RUNNING && envelope->suspect) {
        state = RECORDER_ALONE;
        engine->suspect = flight;
    }
    return recorder_note(engine->recorder, flight->held->seq, envelope->attempts + 1,
                         engine->now.wall, state);
}

void suspect_ended(struct flight *flight) {
    struct engine *engine = flight->queue->engine;
    if (!flight->killed_us)
        recorder_end(engine->recorder, flight->slot);
    if (engine->suspect != flight)
        return;
    engine->suspect = NULL;
    if (flight->outcome.ending != ENDING_INTERRUPTED)
        flight->held->envelope.suspect = false;
    LIST_EACH(node, &engine->parked) {
        queue_visit(CONTAINER_OF(node, struct parked, link)->queue);
    }
}

/* Their slots stay as they are: the next life finds its suspects there. */
void suspect_drop_all(struct engine *engine) {
    while (!list_empty(&engine->parked))
        message_free(unpark(CONTAINER_OF(engine->parked.next, struct parked, link)));
}
