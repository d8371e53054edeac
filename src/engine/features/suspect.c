#include "engine/features/suspect.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/attempt/attempt_log.h"
#include "engine/features/tracing/tracing.h"
#include "engine/feature.h"

/* A suspect that waits for its turn. */
struct parked {
    struct list link;
    struct queue *queue;
    struct message *held;
};

/* The attempt log's entry for the attempt that is now due. An entry of an older attempt is ignored,
 * since that one has been judged. */
static const struct attempt_log_entry *entry_of(struct attempt_log *attempt_log,
                                                const struct message *held) {
    struct attempt_log_entry old;
    const struct attempt_log_entry *entry = attempt_log_find(attempt_log, held->seq);
    if (!entry || entry->attempt == held->envelope.attempts + 1)
        return entry;
    if (attempt_log_claim(attempt_log, held->seq, &old))
        attempt_log_clear(attempt_log, old.slot);
    return NULL;
}

/* Judged without a call, because the call crashed the process. Its slot is cleared when the
 * judgement is durable. */
static void blame(struct queue *queue, struct message *held) {
    struct engine *engine = queue->engine;
    struct attempt_log_entry entry;
    attempt_log_claim(engine->attempt_log, held->seq, &entry);
    struct attempt *attempt = attempt_new(queue, held);
    struct log_about about = attempt_about(attempt);
    log_about(LOG_WARN, &about, "it was running alone when the process died");
    attempt->slot = entry.slot;
    attempt->started.wall = entry.started_at;
    attempt->policy = queue->rules.policy;
    attempt->purpose = PURPOSE_BLAME;
    attempt->outcome = (struct outcome){
        .ending = ENDING_FAILED,
        .kind = KIND_SIGNAL,
        .error_message = BYTES("the process died while it handled this message alone"),
        .retry_after_ms = -1,
    };
    held->envelope.suspect = true;
    if (held->envelope.first_attempt_at.ms == WALL_NEVER.ms)
        held->envelope.first_attempt_at = entry.started_at;
    envelope_fail(&held->envelope, &attempt->outcome, engine->now.wall);
    queue->running++;
    judge_decide(attempt);
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
    const struct attempt_log_entry *entry = entry_of(engine->attempt_log, held);
    if (entry && entry->state == ATTEMPT_LOG_BLAMED) {
        blame(queue, held);
        return false;
    }
    if (entry && entry->state == ATTEMPT_LOG_SUSPECT)
        held->envelope.suspect = true;
    if (!held->envelope.suspect || !engine->suspect)
        return true;
    park(queue, held);
    return false;
}

/* A suspect that was never blamed goes first: it is most likely innocent and soon cleared. */
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

static uint32_t note(struct attempt *attempt) {
    struct engine *engine = attempt->queue->engine;
    const struct envelope *envelope = &attempt->held->envelope;
    enum attempt_log_state state =
        attempt->queue->in_process ? ATTEMPT_LOG_RUNNING : ATTEMPT_LOG_FOREIGN;
    if (state == ATTEMPT_LOG_RUNNING && envelope->suspect) {
        state = ATTEMPT_LOG_ALONE;
        engine->suspect = attempt;
    }
    return attempt_log_note(engine->attempt_log, attempt->held->seq, envelope->attempts + 1,
                            engine->now.wall, state);
}

static void ended(struct attempt *attempt, const struct decision *decision) {
    (void)decision;
    struct engine *engine = attempt->queue->engine;
    if (attempt->purpose != PURPOSE_BLAME)
        attempt_log_end(engine->attempt_log, attempt->slot);
    if (engine->suspect != attempt)
        return;
    engine->suspect = NULL;
    if (attempt->outcome.ending != ENDING_INTERRUPTED)
        attempt->held->envelope.suspect = false;
    LIST_EACH(node, &engine->parked) {
        queue_visit(CONTAINER_OF(node, struct parked, link)->queue);
    }
}

/* The slots stay used: after the restart the suspects are found there. */
static void drop_all(struct engine *engine) {
    while (!list_empty(&engine->parked))
        message_free(unpark(CONTAINER_OF(engine->parked.next, struct parked, link)));
}

/* ---- the feature ---- */

/* A lease is recorded in the store, not in the attempt log. */
static void prepare(struct attempt *attempt) {
    if (!queue_leases(attempt->queue))
        attempt->slot = note(attempt);
}

const struct engine_feature suspect_feature = {
    .name = "suspect",
    .prepare = prepare,
    .ended = ended,
    .drop = drop_all,
};
