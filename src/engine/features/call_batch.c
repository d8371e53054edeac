#include "engine/features/call_batch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/attempt/answer.h"
#include "engine/feature.h"

/* Limit in bytes of the bodies in one hand-over of more than one message. */
enum { CALL_BATCH_BODIES_MAX = 8 << 20 };

struct call_batch {
    struct engine_post post;
    struct list link; /* in queue->batches */
    struct queue *queue;
    struct list members;  /* attempts in flight at the handler, or being judged */
    struct list suspects; /* attempts that were set aside */
    bool calling;         /* between start_group and done */
    bool opening;         /* its members are being judged one after another */
    bool failed;          /* the hand-over failed as a whole */
    bool told;            /* the breaker has counted it */
    /* The outcome whose answer is judged; texts in the first member's arena. */
    struct outcome whole;
    struct call_group group;
    struct call *calls[];
};

static struct attempt *attempt_at(struct list *node) {
    return CONTAINER_OF(node, struct attempt, batching);
}

static const struct engine_handler *handler_of(const struct attempt *attempt) {
    return attempt_handler(attempt);
}

static void call_batch_free(struct call_batch *batch) {
    list_remove(&batch->link);
    free(batch);
}

/* ---- the answer ---- */

static void send_part(struct list *attempts, size_t count);

/* All members are judged: the ones that were set aside are handed over in halves. */
static void finish(struct call_batch *batch) {
    if (batch->opening || !list_empty(&batch->members))
        return;
    size_t count = 0;
    LIST_EACH(node, &batch->suspects) {
        count++;
    }
    send_part(&batch->suspects, (count + 1) / 2);
    send_part(&batch->suspects, count / 2);
    call_batch_free(batch);
}

static void judge_members(struct call_batch *batch) {
    batch->opening = true;
    LIST_EACH_SAFE(node, &batch->members) {
        evaluate_rules(attempt_at(node));
    }
    batch->opening = false;
    finish(batch);
}

/* The first member was judged for all of them: an answer that is not a success fails each. */
static void on_judged(struct attempt *lead) {
    struct call_batch *batch = lead->batch;
    struct outcome whole = batch->whole;
    whole.answer = BYTES_NONE;
    whole.answer_header_count = 0;
    if (rule_facts_answer(&lead->facts) < RULES_MAX) {
        batch->failed = true;
        LIST_EACH(node, &batch->members) {
            struct attempt *attempt = attempt_at(node);
            attempt_ended(attempt, &whole);
            attempt->facts = lead->facts;
            attempt->policy = lead->policy;
        }
    }
    judge_members(batch);
}

static void open_batch(struct engine *engine, struct engine_post *post) {
    struct call_batch *batch = CONTAINER_OF(post, struct call_batch, post);
    struct attempt *lead = attempt_at(batch->members.next);
    (void)engine;
    batch->calling = false;
    if (answer_waits(lead, &batch->whole))
        answer_judge(lead, &batch->whole, on_judged);
    else
        judge_members(batch);
}

/* Copies the outcome of the whole into the first member's arena, as attempt_ended does. */
static void keep_whole(struct call_batch *batch, const struct outcome *whole) {
    struct attempt *lead = CONTAINER_OF(batch->group.calls[0], struct attempt, call);
    attempt_ended(lead, whole);
    batch->whole = lead->outcome;
}

/* Runs on the handler's thread, as with a single call. */
static void on_done(struct call_group *group, const struct outcome *whole,
                    const struct outcome *items) {
    struct call_batch *batch = CONTAINER_OF(group, struct call_batch, group);
    struct outcome bare = *whole; /* members have no answer of their own */
    bare.answer = BYTES_NONE;
    bare.answer_header_count = 0;
    batch->failed = whole->ending == ENDING_FAILED;
    keep_whole(batch, whole);
    for (size_t i = 0; i < group->count; i++) {
        struct attempt *attempt = CONTAINER_OF(group->calls[i], struct attempt, call);
        attempt_ended(attempt, whole->ending == ENDING_OK ? &items[i] : &bare);
        attempt->outcome.duration_ms = whole->duration_ms;
        attempt->outcome.connection = whole->connection;
    }
    engine_post(batch->queue->engine, &batch->post);
}

/* True for failures that the message itself may have caused: a terminal verdict, a crash of the
 * worker, a connection that was reset while the downstream was healthy. */
static bool blames_message(const struct attempt *attempt, const struct decision *decision) {
    if (decision->action == ACTION_HAND_BACK)
        return false;
    return decision->verdict == VERDICT_DLQ || decision->verdict == VERDICT_DISCARD ||
           attempt->outcome.kind == KIND_SIGNAL || attempt->outcome.kind == KIND_RESET;
}

bool call_batch_sets_aside(struct attempt *attempt, const struct decision *decision) {
    struct call_batch *batch = attempt->batch;
    if (!batch || !batch->failed || batch->group.count == 1 || !blames_message(attempt, decision))
        return false;
    if (attempt->outcome.kind == KIND_RESET) {
        attempt->call.own_connection = true;
        if (!attempt->shared_connection)
            attempt->shared_connection = attempt->outcome.connection;
    }
    list_remove(&attempt->batching);
    list_push_back(&batch->suspects, &attempt->batching);
    attempt_to(attempt, ATTEMPT_BATCHED);
    finish(batch);
    return true;
}

static bool is_last(const struct call_batch *batch, const struct attempt *attempt) {
    return batch->members.next == &attempt->batching && batch->members.prev == &attempt->batching;
}

/* A hand-over that failed as a whole has one outcome. With an outcome per message, one success
 * shows that the downstream is up, whatever the others are. */
bool call_batch_speaks(struct attempt *attempt, const struct decision *decision) {
    struct call_batch *batch = attempt->batch;
    if (!batch)
        return true;
    if (batch->told)
        return false;
    batch->told = batch->failed || !decision->breaker_failure || is_last(batch, attempt);
    return batch->told;
}

static void part(struct attempt *attempt) {
    list_remove(&attempt->batching);
    attempt->batch = NULL;
}

void call_batch_leave(struct attempt *attempt) {
    struct call_batch *batch = attempt->batch;
    if (!batch)
        return;
    part(attempt);
    finish(batch);
}

/* ---- handing over ---- */

static struct call_batch *call_batch_new(struct queue *queue, size_t most) {
    struct call_batch *batch = memory_new(sizeof *batch + most * sizeof *batch->calls);
    batch->queue = queue;
    batch->post.open = open_batch;
    batch->group.calls = batch->calls;
    batch->group.done = on_done;
    list_init(&batch->members);
    list_init(&batch->suspects);
    list_push_back(&queue->batches, &batch->link);
    return batch;
}

static void join(struct call_batch *batch, struct attempt *attempt) {
    list_remove(&attempt->batching);
    list_push_back(&batch->members, &attempt->batching);
    attempt->batch = batch;
    answer_ask(attempt); /* drops the answer to the batch that this one is a half of */
    batch->calls[batch->group.count++] = &attempt->call;
}

/* After the drain nothing more is called: the attempts count as interrupted. */
static void start(struct call_batch *batch) {
    struct handler *handler = handler_of(attempt_at(batch->members.next))->handler;
    assert(handler->vtable->start_group);
    if (batch->queue->engine->cancelled) {
        on_done(&batch->group,
                &(struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1}, NULL);
        return;
    }
    batch->calling = true;
    handler->vtable->start_group(handler, &batch->group);
}

/* Hands over the first `count` of the attempts. */
static void send_part(struct list *attempts, size_t count) {
    if (count == 0)
        return;
    struct call_batch *batch = call_batch_new(attempt_at(attempts->next)->queue, count);
    for (size_t i = 0; i < count; i++)
        join(batch, attempt_at(attempts->next));
    start(batch);
}

/* A probe goes alone, so that its outcome is about one message. */
static bool goes_with(const struct attempt *attempt, const struct attempt *first, size_t bytes) {
    return attempt->handler == first->handler && !attempt->probe && !first->probe &&
           !attempt->alone && !first->alone &&
           bytes + attempt->call.body.len <= CALL_BATCH_BODIES_MAX;
}

static void send_one(struct queue *queue) {
    struct attempt *first = attempt_at(queue->batching.next);
    size_t most = handler_of(first)->batch, bytes = first->call.body.len;
    struct call_batch *batch = call_batch_new(queue, most);
    join(batch, first);
    LIST_EACH_SAFE(node, &queue->batching) {
        struct attempt *attempt = attempt_at(node);
        if (batch->group.count == most)
            break;
        if (!goes_with(attempt, first, bytes))
            continue;
        bytes += attempt->call.body.len;
        join(batch, attempt);
    }
    start(batch);
}

void call_batch_add(struct attempt *attempt) {
    attempt_to(attempt, ATTEMPT_BATCHED);
    list_push_back(&attempt->queue->batching, &attempt->batching);
    queue_visit(attempt->queue);
}

void call_batch_send(struct queue *queue) {
    while (!list_empty(&queue->batching))
        send_one(queue);
}

/* ---- endings ---- */

void call_batch_cancel(struct queue *queue) {
    call_batch_send(queue);
    LIST_EACH(node, &queue->batches) {
        struct call_batch *batch = CONTAINER_OF(node, struct call_batch, link);
        if (!batch->calling)
            continue;
        struct handler *handler = handler_of(attempt_at(batch->members.next))->handler;
        handler->vtable->cancel_group(handler, &batch->group);
    }
}

void call_batch_drop(struct queue *queue) {
    while (!list_empty(&queue->batches)) {
        struct call_batch *batch = CONTAINER_OF(queue->batches.next, struct call_batch, link);
        while (!list_empty(&batch->members))
            part(attempt_at(batch->members.next));
        while (!list_empty(&batch->suspects))
            part(attempt_at(batch->suspects.next));
        call_batch_free(batch);
    }
    list_clear(&queue->batching);
}

/* ---- the feature ---- */

static bool before_start(struct attempt *attempt) {
    if (attempt_handler(attempt)->batch <= 1)
        return false;
    call_batch_add(attempt);
    return true;
}

static bool is_told(struct attempt *attempt, const struct decision *decision) {
    return !call_batch_speaks(attempt, decision);
}

const struct engine_feature call_batch_feature = {
    .name = "batches",
    .before_start = before_start,
    .sets_aside = call_batch_sets_aside,
    .is_told = is_told,
    .leaves = call_batch_leave,
    .fed = call_batch_send,
    .cancel = call_batch_cancel,
    .forget = call_batch_drop,
};
