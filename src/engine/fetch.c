#include "engine/fetch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/body_room.h"
#include "engine/lease.h"
#include "engine/tracing.h"

struct fetch {
    struct list link;          /* in queue->fetches, while it may be given something */
    struct heap_node deadline; /* in engine->fetch_deadlines, while it waits */
    struct queue *queue;
    struct engine_request *request;
    struct list leases; /* their flights keep their bodies until it is answered */
    size_t granting;    /* leases of it that are not durable yet */
    size_t bytes;       /* of their bodies */
};

static struct engine_lease *asked(const struct fetch *fetch) {
    return fetch->request->lease;
}

/* ---- waiting ---- */

void fetch_open(struct queue *queue, struct engine_request *request) {
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
    struct fetch *fetch = memory_new(sizeof *fetch);
    fetch->queue = queue;
    fetch->request = request;
    list_init(&fetch->leases);
    fetch->deadline.at = mono_after(engine->now.mono, lease->wait_ms).ms;
    heap_insert(&engine->fetch_deadlines, &fetch->deadline);
    list_push_back(&queue->fetches, &fetch->link);
    queue->wanted += lease->max;
    queue->waiting++;
    queue_visit(queue);
}

/* It is given nothing more. */
static void stop_waiting(struct fetch *fetch) {
    heap_remove(&fetch->queue->engine->fetch_deadlines, &fetch->deadline);
    if (list_empty(&fetch->link))
        return;
    list_remove(&fetch->link);
    fetch->queue->waiting--;
    fetch->queue->wanted -= asked(fetch)->max - (uint32_t)asked(fetch)->count;
}

/* The answer has the bodies: leases may last for long, and keep none. */
static void drop_bodies(struct list *leases) {
    for (struct list *node; (node = list_pop_front(leases));)
        body_room_drop(CONTAINER_OF(node, struct lease, in_fetch)->flight);
}

static void answer(struct fetch *fetch, enum status status) {
    struct engine_request *request = fetch->request;
    stop_waiting(fetch);
    request->done(request, status);
    drop_bodies(&fetch->leases);
    free(fetch);
}

/* Whoever has gone away leaves before it is given anything. */
static struct fetch *first_present(struct queue *queue, struct list *from) {
    while (from != &queue->fetches) {
        struct fetch *fetch = CONTAINER_OF(from, struct fetch, link);
        from = from->next;
        if (asked(fetch)->count > 0 || !asked(fetch)->gone || !asked(fetch)->gone(fetch->request))
            return fetch;
        answer(fetch, STATUS_OK);
    }
    return NULL;
}

static struct fetch *find_place(struct queue *queue, bool alone) {
    struct fetch *fetch = first_present(queue, queue->fetches.next);
    if (fetch && alone && asked(fetch)->count > 0)
        fetch = first_present(queue, fetch->link.next);
    return fetch;
}

bool fetch_has_place(struct queue *queue, bool alone) {
    return find_place(queue, alone) != NULL;
}

/* ---- giving ---- */

static void add_message(struct fetch *fetch, const struct flight *flight) {
    const struct envelope *envelope = &flight->held->envelope;
    struct engine_leased *out = &asked(fetch)->messages[asked(fetch)->count++];
    lease_text(flight->held->seq, envelope->lease, out->lease);
    out->held = flight->held;
    out->attempt = envelope->attempts + 1;
    tracing_headers(flight, &out->headers, &out->header_count);
    fetch->granting++;
    fetch->bytes += flight->held->body.len;
    fetch->queue->wanted--;
}

/* What the worker says of itself stands in the envelope with the lease, so that a failure without
 * those members, or no answer at all, is still attributed to the worker. */
static void name_worker(struct flight *flight, const struct engine_lease *ask) {
    struct message *held = flight->held;
    held->envelope.version = arena_dup(&held->arena, bytes_clip(ask->version, OUTCOME_TYPE_MAX));
    held->envelope.instance =
        ask->instance.len > 0 ? arena_dup(&held->arena, bytes_clip(ask->instance, OUTCOME_TYPE_MAX))
                              : flight->queue->engine->options.instance;
}

void fetch_give(struct flight *flight) {
    struct queue *queue = flight->queue;
    bool alone = flight->probe || flight->alone || flight->held->envelope.suspect;
    struct fetch *fetch = find_place(queue, alone);
    assert(fetch);
    name_worker(flight, asked(fetch));
    struct lease *lease = lease_grant(flight, fetch, asked(fetch)->lease_ms);
    list_push_back(&fetch->leases, &lease->in_fetch);
    tracing_begin(flight);
    add_message(fetch, flight);
    if (alone || asked(fetch)->count == asked(fetch)->max || fetch->bytes >= FETCH_BYTES_MAX)
        stop_waiting(fetch);
}

void fetch_send(struct queue *queue) {
    if (list_empty(&queue->fetches))
        return;
    struct fetch *first = CONTAINER_OF(queue->fetches.next, struct fetch, link);
    if (asked(first)->count > 0)
        stop_waiting(first);
}

void fetch_granted(struct fetch *fetch) {
    if (--fetch->granting == 0)
        answer(fetch, STATUS_OK);
}

void fetch_refused(struct fetch *fetch, enum status status, const struct err *err) {
    fetch->request->err = *err;
    asked(fetch)->count = 0;
    if (--fetch->granting == 0)
        answer(fetch, status);
}

void fetch_forsake(struct fetch *fetch) {
    if (!fetch || --fetch->granting > 0)
        return;
    list_clear(&fetch->leases);
    free(fetch);
}

/* ---- the end of waiting ---- */

void fetch_ring(struct engine *engine) {
    struct heap_node *node;
    while ((node = heap_first(&engine->fetch_deadlines)) && node->at <= engine->now.mono.ms)
        answer(CONTAINER_OF(node, struct fetch, deadline), STATUS_OK);
}

struct mono fetch_next(const struct engine *engine) {
    return heap_next(&engine->fetch_deadlines);
}

void fetch_dismiss(struct queue *queue) {
    while (!list_empty(&queue->fetches))
        answer(CONTAINER_OF(queue->fetches.next, struct fetch, link), STATUS_OK);
}

void fetch_drop(struct queue *queue) {
    for (struct list *node; (node = list_pop_front(&queue->fetches));) {
        struct fetch *fetch = CONTAINER_OF(node, struct fetch, link);
        heap_remove(&queue->engine->fetch_deadlines, &fetch->deadline);
        list_clear(&fetch->leases);
        free(fetch);
    }
}
