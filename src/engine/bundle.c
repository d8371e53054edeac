#include "engine/bundle.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/answer.h"

/* Bytes of bodies in one hand-over of more than one message. */
enum { BUNDLE_BODIES_MAX = 8 << 20 };

struct bundle {
    struct engine_post post;
    struct list link; /* in queue->bundles */
    struct queue *queue;
    struct list members;  /* flights: with the handler, or being judged */
    struct list suspects; /* flights that were set aside */
    bool calling;         /* between start_group and done */
    bool opening;         /* its members are being judged one after another */
    bool failed;          /* as a whole */
    bool told;            /* the breaker has heard of it */
    struct outcome whole; /* where its answer is judged; texts in the first member's arena */
    struct call_group group;
    struct call *calls[];
};

static struct flight *flight_at(struct list *node) {
    return CONTAINER_OF(node, struct flight, bundling);
}

static const struct engine_handler *handler_of(const struct flight *flight) {
    return flight_handler(flight);
}

static void bundle_free(struct bundle *bundle) {
    list_remove(&bundle->link);
    free(bundle);
}

/* ---- the answer ---- */

static void send_part(struct list *flights, size_t count);

/* All its members are judged: what was set aside goes on in halves. */
static void finish(struct bundle *bundle) {
    if (bundle->opening || !list_empty(&bundle->members))
        return;
    size_t count = 0;
    LIST_EACH(node, &bundle->suspects) {
        count++;
    }
    send_part(&bundle->suspects, (count + 1) / 2);
    send_part(&bundle->suspects, count / 2);
    bundle_free(bundle);
}

static void judge_members(struct bundle *bundle) {
    bundle->opening = true;
    LIST_EACH_SAFE(node, &bundle->members) {
        question_outcome(flight_at(node));
    }
    bundle->opening = false;
    finish(bundle);
}

/* The first member stood for all of them: an answer that is no success fails each. */
static void on_judged(struct flight *lead) {
    struct bundle *bundle = lead->bundle;
    struct outcome whole = bundle->whole;
    whole.answer = BYTES_NONE;
    whole.answer_header_count = 0;
    if (rule_facts_answer(&lead->facts) < RULES_MAX) {
        bundle->failed = true;
        LIST_EACH(node, &bundle->members) {
            struct flight *flight = flight_at(node);
            flight_ended(flight, &whole);
            flight->facts = lead->facts;
            flight->policy = lead->policy;
        }
    }
    judge_members(bundle);
}

static void open_bundle(struct engine *engine, struct engine_post *post) {
    struct bundle *bundle = CONTAINER_OF(post, struct bundle, post);
    struct flight *lead = flight_at(bundle->members.next);
    (void)engine;
    bundle->calling = false;
    if (answer_waits(lead, &bundle->whole))
        answer_judge(lead, &bundle->whole, on_judged);
    else
        judge_members(bundle);
}

/* The whole's outcome in the first member's arena, as flight_ended copies it. */
static void keep_whole(struct bundle *bundle, const struct outcome *whole) {
    struct flight *lead = CONTAINER_OF(bundle->group.calls[0], struct flight, call);
    flight_ended(lead, whole);
    bundle->whole = lead->outcome;
}

/* From the handler's thread, as with a single call. */
static void on_done(struct call_group *group, const struct outcome *whole,
                    const struct outcome *items) {
    struct bundle *bundle = CONTAINER_OF(group, struct bundle, group);
    struct outcome bare = *whole; /* members have no answer of their own */
    bare.answer = BYTES_NONE;
    bare.answer_header_count = 0;
    bundle->failed = whole->ending == ENDING_FAILED;
    keep_whole(bundle, whole);
    for (size_t i = 0; i < group->count; i++) {
        struct flight *flight = CONTAINER_OF(group->calls[i], struct flight, call);
        flight_ended(flight, whole->ending == ENDING_OK ? &items[i] : &bare);
        flight->outcome.duration_ms = whole->duration_ms;
        flight->outcome.connection = whole->connection;
    }
    engine_post(bundle->queue->engine, &bundle->post);
}

/* Only what would speak against the message itself: a terminal verdict, a worker that died of it, a
 * connection that was cut while the downstream was well. */
static bool blames_message(const struct flight *flight, const struct decision *decision) {
    if (decision->action == ACTION_HAND_BACK)
        return false;
    return decision->verdict == VERDICT_DLQ || decision->verdict == VERDICT_DISCARD ||
           flight->outcome.kind == KIND_SIGNAL || flight->outcome.kind == KIND_RESET;
}

bool bundle_sets_aside(struct flight *flight, const struct decision *decision) {
    struct bundle *bundle = flight->bundle;
    if (!bundle || !bundle->failed || bundle->group.count == 1 || !blames_message(flight, decision))
        return false;
    if (flight->outcome.kind == KIND_RESET) {
        flight->call.own_connection = true;
        if (!flight->shared_connection)
            flight->shared_connection = flight->outcome.connection;
    }
    list_remove(&flight->bundling);
    list_push_back(&bundle->suspects, &flight->bundling);
    finish(bundle);
    return true;
}

static bool is_last(const struct bundle *bundle, const struct flight *flight) {
    return bundle->members.next == &flight->bundling && bundle->members.prev == &flight->bundling;
}

/* A whole has one outcome. Of items, one that succeeds shows the downstream alive, whatever becomes
 * of the others. */
bool bundle_speaks(struct flight *flight, const struct decision *decision) {
    struct bundle *bundle = flight->bundle;
    if (!bundle)
        return true;
    if (bundle->told)
        return false;
    bundle->told = bundle->failed || !decision->breaker_failure || is_last(bundle, flight);
    return bundle->told;
}

static void part(struct flight *flight) {
    list_remove(&flight->bundling);
    flight->bundle = NULL;
}

void bundle_leave(struct flight *flight) {
    struct bundle *bundle = flight->bundle;
    if (!bundle)
        return;
    part(flight);
    finish(bundle);
}

/* ---- handing over ---- */

static struct bundle *bundle_new(struct queue *queue, size_t most) {
    struct bundle *bundle = memory_new(sizeof *bundle + most * sizeof *bundle->calls);
    bundle->queue = queue;
    bundle->post.open = open_bundle;
    bundle->group.calls = bundle->calls;
    bundle->group.done = on_done;
    list_init(&bundle->members);
    list_init(&bundle->suspects);
    list_push_back(&queue->bundles, &bundle->link);
    return bundle;
}

static void join(struct bundle *bundle, struct flight *flight) {
    list_remove(&flight->bundling);
    list_push_back(&bundle->members, &flight->bundling);
    flight->bundle = bundle;
    answer_ask(flight); /* forgets the answer to the batch that this one is a half of */
    bundle->calls[bundle->group.count++] = &flight->call;
}

/* After the drain nothing more is called: it was interrupted. */
static void start(struct bundle *bundle) {
    struct handler *handler = handler_of(flight_at(bundle->members.next))->handler;
    assert(handler->vtable->start_group);
    if (bundle->queue->engine->cancelled) {
        on_done(&bundle->group,
                &(struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1}, NULL);
        return;
    }
    bundle->calling = true;
    handler->vtable->start_group(handler, &bundle->group);
}

/* The first `count` of the flights. */
static void send_part(struct list *flights, size_t count) {
    if (count == 0)
        return;
    struct bundle *bundle = bundle_new(flight_at(flights->next)->queue, count);
    for (size_t i = 0; i < count; i++)
        join(bundle, flight_at(flights->next));
    start(bundle);
}

/* A probe goes alone, so that its answer is about one message. */
static bool goes_with(const struct flight *flight, const struct flight *first, size_t bytes) {
    return flight->handler == first->handler && !flight->probe && !first->probe && !flight->alone &&
           !first->alone && bytes + flight->call.body.len <= BUNDLE_BODIES_MAX;
}

static void send_one(struct queue *queue) {
    struct flight *first = flight_at(queue->bundling.next);
    size_t most = handler_of(first)->batch, bytes = first->call.body.len;
    struct bundle *bundle = bundle_new(queue, most);
    join(bundle, first);
    LIST_EACH_SAFE(node, &queue->bundling) {
        struct flight *flight = flight_at(node);
        if (bundle->group.count == most)
            break;
        if (!goes_with(flight, first, bytes))
            continue;
        bytes += flight->call.body.len;
        join(bundle, flight);
    }
    start(bundle);
}

void bundle_add(struct flight *flight) {
    list_push_back(&flight->queue->bundling, &flight->bundling);
    queue_visit(flight->queue);
}

void bundle_send(struct queue *queue) {
    while (!list_empty(&queue->bundling))
        send_one(queue);
}

/* ---- endings ---- */

void bundle_cancel(struct queue *queue) {
    bundle_send(queue);
    LIST_EACH(node, &queue->bundles) {
        struct bundle *bundle = CONTAINER_OF(node, struct bundle, link);
        if (!bundle->calling)
            continue;
        struct handler *handler = handler_of(flight_at(bundle->members.next))->handler;
        handler->vtable->cancel_group(handler, &bundle->group);
    }
}

void bundle_drop(struct queue *queue) {
    while (!list_empty(&queue->bundles)) {
        struct bundle *bundle = CONTAINER_OF(queue->bundles.next, struct bundle, link);
        while (!list_empty(&bundle->members))
            part(flight_at(bundle->members.next));
        while (!list_empty(&bundle->suspects))
            part(flight_at(bundle->suspects.next));
        bundle_free(bundle);
    }
    list_clear(&queue->bundling);
}
