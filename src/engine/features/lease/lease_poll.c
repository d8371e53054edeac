#include "engine/features/lease/lease_poll.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/attempt/body_room.h"
#include "engine/features/lease/lease.h"
#include "engine/features/tracing/tracing.h"

struct lease_poll {
    struct list link;          /* in queue->polls, while it can get messages */
    struct heap_node deadline; /* in engine->poll_deadlines, while it waits */
    struct queue *queue;
    struct engine_request *request;
    struct list leases; /* their attempts keep their bodies until the request is answered */
    size_t granting;    /* its leases that are not durable yet */
    size_t bytes;       /* of its messages' bodies */
};

static struct engine_lease *asked(const struct lease_poll *poll) {
    return poll->request->lease;
}

/* ---- waiting ---- */

void lease_poll_open(struct queue *queue, struct engine_request *request) {
    struct engine *engine = queue->engine;
    struct engine_lease *lease = request->lease;
    assert(lease->max > 0 && lease->max <= ENGINE_LEASE_MESSAGES_MAX);
    lease->count = 0;
    if (!queue_leases(queue)) {
        enum status status = err_set(&request->err, STATUS_CONFLICT,
                                     "queue \"%.*s\" has a handler of its own; workers lease from "
                                     "queues with handler: lease",
                                     BYTES_ARG(queue->name));
        request->done(request, status);
        return;
    }
    versions_note(&queue->versions, lease->version, engine->now.mono);
    struct lease_poll *poll = memory_new(sizeof *poll);
    poll->queue = queue;
    poll->request = request;
    list_init(&poll->leases);
    poll->deadline.at = mono_after(engine->now.mono, lease->wait_ms).ms;
    heap_insert(&engine->poll_deadlines, &poll->deadline);
    list_push_back(&queue->polls, &poll->link);
    queue->wanted += lease->max;
    queue->waiting++;
    queue_visit(queue);
}

/* The request gets no more messages. */
static void stop_waiting(struct lease_poll *poll) {
    heap_remove(&poll->queue->engine->poll_deadlines, &poll->deadline);
    if (list_empty(&poll->link))
        return;
    list_remove(&poll->link);
    poll->queue->waiting--;
    poll->queue->wanted -= asked(poll)->max - (uint32_t)asked(poll)->count;
}

/* The answer has the bodies: a lease may last long and keeps none in memory. */
static void drop_bodies(struct list *leases) {
    for (struct list *node; (node = list_pop_front(leases));)
        body_room_drop(CONTAINER_OF(node, struct lease, in_poll)->attempt);
}

static void answer(struct lease_poll *poll, enum status status) {
    struct engine_request *request = poll->request;
    stop_waiting(poll);
    request->done(request, status);
    drop_bodies(&poll->leases);
    free(poll);
}

/* Requests whose client has disconnected are dropped first. */
static struct lease_poll *first_present(struct queue *queue, struct list *from) {
    while (from != &queue->polls) {
        struct lease_poll *poll = CONTAINER_OF(from, struct lease_poll, link);
        from = from->next;
        if (asked(poll)->count > 0 || !asked(poll)->gone || !asked(poll)->gone(poll->request))
            return poll;
        answer(poll, STATUS_OK);
    }
    return NULL;
}

static struct lease_poll *find_place(struct queue *queue, bool alone) {
    struct lease_poll *poll = first_present(queue, queue->polls.next);
    if (poll && alone && asked(poll)->count > 0)
        poll = first_present(queue, poll->link.next);
    return poll;
}

bool lease_poll_has_place(struct queue *queue, bool alone) {
    return find_place(queue, alone) != NULL;
}

/* ---- granting ---- */

static void add_message(struct lease_poll *poll, const struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    struct engine_leased *out = &asked(poll)->messages[asked(poll)->count++];
    lease_text(attempt->held->seq, envelope->lease, out->lease);
    out->held = attempt->held;
    out->attempt = envelope->attempts + 1;
    tracing_headers(attempt, &out->headers, &out->header_count);
    poll->granting++;
    poll->bytes += attempt->held->body.len;
    poll->queue->wanted--;
}

/* The worker's name and version are in the envelope with the lease, so that a failure without those
 * members, or an expiry, is still attributed to the worker. */
static void name_worker(struct attempt *attempt, const struct engine_lease *ask) {
    struct message *held = attempt->held;
    held->envelope.version = arena_dup(&held->arena, bytes_clip(ask->version, OUTCOME_TYPE_MAX));
    held->envelope.instance =
        ask->instance.len > 0 ? arena_dup(&held->arena, bytes_clip(ask->instance, OUTCOME_TYPE_MAX))
                              : attempt->queue->engine->options.instance;
}

void lease_poll_give(struct attempt *attempt) {
    struct queue *queue = attempt->queue;
    bool alone = attempt->probe || attempt->alone || attempt->held->envelope.suspect;
    struct lease_poll *poll = find_place(queue, alone);
    assert(poll);
    name_worker(attempt, asked(poll));
    struct lease *lease = lease_grant(attempt, poll, asked(poll)->lease_ms);
    list_push_back(&poll->leases, &lease->in_poll);
    tracing_begin(attempt);
    add_message(poll, attempt);
    if (alone || asked(poll)->count == asked(poll)->max || poll->bytes >= LEASE_POLL_BYTES_MAX)
        stop_waiting(poll);
}

void lease_poll_send(struct queue *queue) {
    if (list_empty(&queue->polls))
        return;
    struct lease_poll *first = CONTAINER_OF(queue->polls.next, struct lease_poll, link);
    if (asked(first)->count > 0)
        stop_waiting(first);
}

void lease_poll_granted(struct lease_poll *poll) {
    if (--poll->granting == 0)
        answer(poll, STATUS_OK);
}

void lease_poll_refused(struct lease_poll *poll, enum status status, const struct err *err) {
    poll->request->err = *err;
    asked(poll)->count = 0;
    if (--poll->granting == 0)
        answer(poll, status);
}

void lease_poll_forsake(struct lease_poll *poll) {
    if (!poll || --poll->granting > 0)
        return;
    list_clear(&poll->leases);
    free(poll);
}

/* ---- the end of waiting ---- */

void lease_poll_ring(struct engine *engine) {
    struct heap_node *node;
    while ((node = heap_first(&engine->poll_deadlines)) && node->at <= engine->now.mono.ms)
        answer(CONTAINER_OF(node, struct lease_poll, deadline), STATUS_OK);
}

struct mono lease_poll_next(const struct engine *engine) {
    return heap_next(&engine->poll_deadlines);
}

void lease_poll_dismiss(struct queue *queue) {
    while (!list_empty(&queue->polls))
        answer(CONTAINER_OF(queue->polls.next, struct lease_poll, link), STATUS_OK);
}

void lease_poll_drop(struct queue *queue) {
    for (struct list *node; (node = list_pop_front(&queue->polls));) {
        struct lease_poll *poll = CONTAINER_OF(node, struct lease_poll, link);
        heap_remove(&queue->engine->poll_deadlines, &poll->deadline);
        list_clear(&poll->leases);
        free(poll);
    }
}
