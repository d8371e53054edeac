/* Requests of people and other programs to the engine, and their answers. */
#include <stdlib.h>

#include "base/memory.h"
#include "engine/judge/facts.h"
#include "engine/feature.h"
#include "engine/features/lease/lease_poll.h"
#include "engine/features/lease/lease_answer.h"
#include "engine/features/removal.h"
#include "engine/state.h"

static void refuse(struct engine_request *request, enum status status, const char *why) {
    message_free(request->held_take);
    request->held_take = NULL;
    err_set(&request->err, status, "%s", why);
    request->done(request, status);
}

/* A report is judged like an attempt that has just ended. Its own count of attempts includes the
 * failed one, which is the one being judged. */
static void open_report(struct queue *queue, struct engine_request *request) {
    struct attempt *attempt = attempt_new(queue, request->held_take);
    request->held_take = NULL;
    attempt->report = request;
    attempt->outcome = request->outcome;
    attempt->started = queue->engine->now;
    struct envelope *envelope = &attempt->held->envelope;
    if (envelope->attempts > 0)
        envelope->attempts--;
    evaluate_rules(attempt);
}

static void open_reload(struct queue *queue, struct engine_request *request) {
    struct facts *facts;
    enum status status = facts_new(request->rules->policy, &facts, &request->err);
    if (status == STATUS_OK) {
        facts_free(queue->facts);
        queue->facts = facts;
        /* The store keeps the order that it was opened with, until it is closed. */
        enum store_order order = queue->rules.order;
        queue->rules = *request->rules;
        queue->rules.order = order;
        queue_visit(queue);
    }
    request->done(request, status);
}

void control_open(struct engine *engine, struct engine_post *post) {
    struct engine_request *request = CONTAINER_OF(post, struct engine_request, post);
    /* Needs no queue, and is allowed while the engine stops. */
    if (request->kind == ENGINE_RELEASE) {
        lease_answer_open(engine, request);
        return;
    }
    struct queue *queue = engine_queue(engine, request->queue);
    if (!queue) {
        refuse(request, STATUS_NOT_FOUND, "there is no such queue");
        return;
    }
    if (engine->stopping) {
        refuse(request, STATUS_BUSY, "impound is stopping");
        return;
    }
    switch (request->kind) {
    case ENGINE_REPORT:
        open_report(queue, request);
        break;
    case ENGINE_PAUSE:
        queue_pause(queue, request->why);
        commit_answer(engine, request);
        break;
    case ENGINE_RESUME:
        FEATURES_TELL(resumed, queue);
        breaker_resume(&queue->breaker, engine->now.mono);
        queue_set_state(queue, QUEUE_RUNNING, BYTES_NONE);
        commit_answer(engine, request);
        break;
    case ENGINE_RELOAD:
        open_reload(queue, request);
        break;
    case ENGINE_LEASE:
        lease_poll_open(queue, request);
        break;
    case ENGINE_BURY:
    case ENGINE_DISCARD:
    case ENGINE_RETRY:
        removal_open(queue, request);
        break;
    case ENGINE_RELEASE:
        break;
    }
}
