/* What people and other programs ask of the engine, and how it answers. */
#include <stdlib.h>

#include "base/memory.h"
#include "engine/facts.h"
#include "engine/fetch.h"
#include "engine/flood_guard.h"
#include "engine/refusal.h"
#include "engine/release.h"
#include "engine/removal.h"
#include "engine/state.h"

static void refuse(struct engine_request *request, enum status status, const char *why) {
    message_free(request->held_take);
    request->held_take = NULL;
    err_set(&request->err, status, "%s", why);
    request->done(request, status);
}

/* A report is judged like an attempt of ours that has just ended. Its own count of attempts
 * includes the one that failed, which is the one being judged. */
static void open_report(struct queue *queue, struct engine_request *request) {
    struct flight *flight = flight_new(queue, request->held_take);
    request->held_take = NULL;
    flight->report = request;
    flight->outcome = request->outcome;
    flight->started = queue->engine->now;
    struct envelope *envelope = &flight->held->envelope;
    if (envelope->attempts > 0)
        envelope->attempts--;
    question_outcome(flight);
}

void request_settle_report(struct flight *flight, enum status status) {
    struct engine_request *request = flight->report;
    struct engine *engine = flight->queue->engine;
    struct message *held = NULL;
    if (status == STATUS_OK && flight->duplicate)
        status = letters_get(engine->store->letters, flight->queue->name, flight->held->envelope.id,
                             &held, &request->err);
    else {
        held = flight->held;
        flight->held = NULL;
    }
    request->held_take = held;
    request->done(request, status);
}

static void open_reload(struct queue *queue, struct engine_request *request) {
    struct facts *facts;
    enum status status = facts_new(request->rules->policy, &facts, &request->err);
    if (status == STATUS_OK) {
        facts_free(queue->facts);
        queue->facts = facts;
        enum store_order order = queue->rules.order; /* the store's, for as long as it is open */
        queue->rules = *request->rules;
        queue->rules.order = order;
        queue_visit(queue);
    }
    request->done(request, status);
}

void request_open(struct engine *engine, struct engine_post *post) {
    struct engine_request *request = CONTAINER_OF(post, struct engine_request, post);
    if (request->kind == ENGINE_RELEASE) { /* of any queue, and also while we stop */
        release_open(engine, request);
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
        record_answer(engine, request);
        break;
    case ENGINE_RESUME:
        if (queue->state != QUEUE_RUNNING) /* a check that is under way goes on */
            refusal_resume(queue);
        flood_guard_resumed(queue);
        breaker_resume(&queue->breaker, engine->now.mono);
        queue_set_state(queue, QUEUE_RUNNING, BYTES_NONE);
        record_answer(engine, request);
        break;
    case ENGINE_RELOAD:
        open_reload(queue, request);
        break;
    case ENGINE_LEASE:
        fetch_open(queue, request);
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
