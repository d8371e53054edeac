/* Durable first, acknowledge second: the decisions of a turn become one commit; when the store says
 * that it is safe, and only then, the source is settled and the flight let go. What succeeded and
 * leaves nothing behind waits for nobody. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/intake.h"
#include "engine/lease.h"
#include "engine/mirror.h"
#include "engine/origin.h"
#include "engine/queue_facts.h"
#include "engine/refusal.h"
#include "engine/release.h"
#include "engine/removal.h"
#include "engine/room.h"
#include "engine/spilling.h"
#include "engine/tracing.h"

enum { FACTS_MAX = 64 * 1024 }; /* with all the counts of a flood guard */
enum { SCRATCH_BYTES = 4096 };

void record_join(struct flight *flight) {
    list_remove(&flight->recording);
    list_push_back(&flight->queue->engine->deciding, &flight->recording);
}

void record_answer(struct engine *engine, struct engine_request *request) {
    struct answer *answer = memory_new(sizeof *answer);
    answer->request = request;
    list_push_back(&engine->answers, &answer->link);
}

/* ---- trouble ---- */

/* Nothing was changed: what was decided stays decided, and is submitted again later. Its queue
 * receives nothing before it is durable. */
static void postpone_one(struct engine *engine, struct flight *flight, const struct err *err) {
    release_refuse(flight->lease, err);
    removal_postponed(flight, err);
    list_remove(&flight->recording);
    list_push_back(&engine->unrecorded, &flight->recording);
    if (!flight->postponed)
        flight->queue->postponed++;
    flight->postponed = true;
    flight->too_large = err->status == STATUS_TOO_LARGE;
    snprintf(flight->queue->postponed_why, sizeof flight->queue->postponed_why,
             "what was decided cannot be stored: %.200s", err->text);
}

static void try_later(struct engine *engine, const struct err *err) {
    log_error("a commit failed, trying again in %lld ms: %s", (long long)engine->record_retry_ms,
              err->text);
    engine->record_again = mono_after(engine->now.mono, engine->record_retry_ms);
    engine->record_retry_ms = duration_doubled(engine->record_retry_ms, RECORD_RETRY_LAST_MS);
}

bool record_waits(const struct engine *engine) {
    return engine->facts_lost || !list_empty(&engine->unrecorded);
}

/* Which queues' facts were in the commit that failed is not kept: all are written. */
static void facts_again(struct engine *engine) {
    engine->facts_lost = false;
    for (size_t i = 0; i < engine->queue_count; i++)
        queue_facts_changed(engine->queues[i]);
}

void record_again(struct engine *engine) {
    if (!record_waits(engine) || engine->now.mono.ms < engine->record_again.ms)
        return;
    if (engine->facts_lost)
        facts_again(engine);
    for (struct list *node; (node = list_pop_front(&engine->unrecorded));)
        list_push_back(&engine->deciding, node);
}

/* An archive that takes nothing holds up only those whose letters go there. */
static void postpone_spills(struct engine *engine, const struct err *err) {
    try_later(engine, err);
    LIST_EACH_SAFE(node, &engine->deciding) {
        struct flight *flight = CONTAINER_OF(node, struct flight, recording);
        if (flight->spill == SPILL_CHOSEN)
            postpone_one(engine, flight, err);
    }
}

/* ---- settling ---- */

static void let_go(struct flight *flight) {
    struct queue *queue = flight->queue;
    if (flight->postponed)
        queue->postponed--;
    queue->settling--;
    queue->engine->settling--;
    queue->arriving -= flight->arriving;
    queue_visit(queue);
    flight_free(flight);
}

static bool has_news(const struct flight *flight) {
    if (flight->duplicate || flight->skipped)
        return false;
    return flight->op != STORE_FORGET || flight->spill == SPILL_SYNCED;
}

/* It is not lost for its id. */
static void submit_renamed(struct flight *flight) {
    struct engine *engine = flight->queue->engine;
    intake_rename(flight);
    list_remove(&flight->recording);
    list_push_back(&engine->deciding, &flight->recording);
}

static void settle(struct flight *flight) {
    struct queue *queue = flight->queue;
    if (flight->duplicate && intake_is_another(flight)) {
        submit_renamed(flight);
        return;
    }
    if (lease_settle(flight))
        return;
    if (has_news(flight))
        notice_letter(flight);
    refusal_settled(flight);
    removal_settled(flight);
    tracing_settled(flight);
    if (flight->duplicate && !flight->report)
        queue->results[RESULT_DUPLICATE]++;
    if (flight->report)
        request_settle_report(flight, STATUS_OK);
    else if (flight->returning && flight->skipped)
        origin_put_off(flight);
    else if (intake_is_fresh(flight) || !intake_is_server(queue))
        queue->broker->vtable->settle(queue->broker, flight->held);
    let_go(flight);
}

/* It succeeded, and was never in the store: nothing of it has to be durable. */
static bool leaves_nothing(const struct flight *flight) {
    return flight->held->seq == 0 && flight->op == STORE_FORGET && flight->spill == SPILL_NONE &&
           flight->result.name.len == 0 && flight->key_done.name.len == 0 && !flight->report &&
           !flight->returning;
}

static void refuse_for_room(struct flight *flight) {
    struct err err;
    room_refusal(flight, &err);
    message_free(flight->held); /* it stays the reporter's */
    flight->held = NULL;
    record_abandon(flight, &err);
}

void record_decided(struct flight *flight) {
    bool full = room_is_lacking(flight);
    flight->queue->settling++;
    flight->queue->engine->settling++;
    if (full && flight->report) {
        refuse_for_room(flight);
        return;
    }
    if (full)
        room_await(flight);
    if (leaves_nothing(flight))
        settle(flight);
    else if (!mirror_publishes(flight))
        record_join(flight);
}

/* A report is not ours to keep before it is durable: whoever made it hears of the trouble. */
static void refuse_report(struct flight *flight, const struct batch *batch) {
    flight->report->err = batch->commit.err;
    request_settle_report(flight, batch->status);
    let_go(flight);
}

/* It is in no list: nothing of it is submitted any more. */
void record_abandon(struct flight *flight, const struct err *err) {
    release_refuse(flight->lease, err);
    removal_postponed(flight, err);
    if (flight->report) {
        flight->report->err = *err;
        request_settle_report(flight, STATUS_BUSY);
        let_go(flight);
        return;
    }
    flight->postponed = true;
    flight->queue->postponed++;
}

/* Nor is a lease a worker's. */
static void refuse_askers(struct batch *batch) {
    LIST_EACH_SAFE(node, &batch->flights) {
        struct flight *flight = CONTAINER_OF(node, struct flight, recording);
        if (flight->report)
            refuse_report(flight, batch);
        else if (batch->status == STATUS_CONFLICT && flight->held->seq == 0)
            submit_renamed(flight);
        else
            lease_refuse(flight, batch->status, &batch->commit.err);
    }
}

static void answer_all(struct batch *batch) {
    for (struct list *node; (node = list_pop_front(&batch->answers));) {
        struct answer *answer = CONTAINER_OF(node, struct answer, link);
        answer->request->err = batch->commit.err;
        answer->request->done(answer->request, batch->status);
        free(answer);
    }
}

static void batch_free(struct batch *batch) {
    list_remove(&batch->link);
    free(batch->commit.ops);
    free(batch);
}

/* What the store says of a commit is valid once it is done, not when it was submitted. */
static void read_outputs(const struct batch *batch) {
    const struct store_op *op = &batch->commit.ops[batch->commit.count - 1];
    batch->alone->duplicate = op->duplicate;
    batch->alone->skipped = op->skipped;
    batch->alone->stored_as = op->kind == STORE_PUT ? op->seq : 0;
}

/* ---- a queue that is not ours any more ---- */

/* Its new owner has the message, or will get it from its source: nothing of it is acknowledged or
 * given back here. */
static void drop_fenced(struct flight *flight, const struct batch *batch) {
    const struct err *err = &batch->commit.err;
    list_remove(&flight->recording);
    release_refuse(flight->lease, err);
    removal_postponed(flight, err);
    if (flight->report)
        refuse_report(flight, batch);
    else if (flight->lease && flight->lease->stage != LEASE_ENDED)
        lease_refuse(flight, batch->status, err);
    else
        let_go(flight);
}

/* Another owner has taken the queue over. Nothing of the commit happened: flights of other queues
 * are submitted again, this one's are dropped. */
static void open_fenced(struct engine *engine, struct batch *batch) {
    uint32_t number = batch->commit.ops[batch->commit.refused].queue;
    for (size_t i = 0; i < engine->queue_count; i++) {
        struct queue *queue = engine->queues[i];
        if (queue->number != number || queue->fenced)
            continue;
        queue->fenced = true;
        log_about(LOG_WARN, QUEUE_ABOUT(queue), "another node owns the queue now: %s",
                  batch->commit.err.text);
    }
    engine->facts_lost |= batch->has_facts;
    LIST_EACH_SAFE(node, &batch->flights) {
        struct flight *flight = CONTAINER_OF(node, struct flight, recording);
        if (flight->queue->number == number)
            drop_fenced(flight, batch);
        else
            record_join(flight);
    }
}

static void open_batch(struct engine *engine, struct engine_post *post) {
    struct batch *batch = CONTAINER_OF(post, struct batch, post);
    answer_all(batch);
    if (batch->status == STATUS_FENCED) {
        open_fenced(engine, batch);
    } else if (batch->status == STATUS_OK) {
        if (batch->alone && batch->commit.count > 0)
            read_outputs(batch);
        engine->record_retry_ms = RECORD_RETRY_FIRST_MS;
        while (!list_empty(&batch->flights))
            settle(CONTAINER_OF(batch->flights.next, struct flight, recording));
    } else {
        refuse_askers(batch);
        if (batch->has_facts)
            engine->facts_lost = true;
        if (batch->has_facts || !list_empty(&batch->flights))
            try_later(engine, &batch->commit.err);
        while (!list_empty(&batch->flights))
            postpone_one(engine, CONTAINER_OF(batch->flights.next, struct flight, recording),
                         &batch->commit.err);
    }
    batch_free(batch);
}

static void on_commit(struct store_commit *commit, enum status status) {
    struct batch *batch = CONTAINER_OF(commit, struct batch, commit);
    batch->status = status;
    engine_post(commit->arg, &batch->post);
}

void record_drop(struct engine *engine) {
    while (!list_empty(&engine->batches)) {
        struct batch *batch = CONTAINER_OF(engine->batches.next, struct batch, link);
        for (struct list *node; (node = list_pop_front(&batch->answers));)
            free(CONTAINER_OF(node, struct answer, link));
        list_clear(&batch->flights);
        batch_free(batch);
    }
}

/* ---- the commit ---- */

static struct batch *batch_new(struct engine *engine) {
    struct batch *batch = memory_new(sizeof *batch);
    batch->post.open = open_batch;
    batch->commit.done = on_commit;
    batch->commit.arg = engine;
    list_init(&batch->flights);
    list_init(&batch->answers);
    list_push_back(&engine->batches, &batch->link);
    return batch;
}

static void add_op(struct batch *batch, struct store_op op) {
    if (batch->commit.count == batch->ops_cap) {
        batch->ops_cap = batch->ops_cap ? batch->ops_cap * 2 : 4;
        batch->commit.ops =
            memory_grow(batch->commit.ops, batch->ops_cap * sizeof *batch->commit.ops);
    }
    batch->commit.ops[batch->commit.count++] = op;
}

static void add_keep(struct batch *batch, const struct flight *flight,
                     const struct store_keep *keep) {
    if (keep->name.len)
        add_op(batch, (struct store_op){
                          .kind = STORE_KEEP, .queue = flight->queue->number, .keep = *keep});
}

/* Once for all messages of one request. */
static void add_audit(struct batch *batch, const struct store_keep *audit) {
    if (!audit || bytes_eq(audit->name, batch->audit))
        return;
    add_op(batch, (struct store_op){.kind = STORE_KEEP, .keep = *audit});
    batch->audit = audit->name;
}

/* What may have been changed by somebody else is changed only from the state that it was found in.
 */
static uint32_t only_from(const struct flight *flight) {
    if (flight->returning)
        return 1u << STATE_RESOLVED;
    return flight->late_letter ? 1u << STATE_PENDING_REVIEW : 0;
}

/* What the store does not hold yet is put there, or, when it succeeded, never needs to be; that it
 * was spilled is counted all the same. */
static void add_flight(struct batch *batch, struct flight *flight) {
    bool held = flight->held->seq != 0, forget = flight->op == STORE_FORGET;
    bool spilled = flight->spill == SPILL_SYNCED;
    flight->stored_as = 0;
    flight->duplicate = flight->skipped = false;
    list_remove(&flight->recording);
    list_push_back(&batch->flights, &flight->recording);
    add_keep(batch, flight, &flight->result);
    add_keep(batch, flight, &flight->key_done);
    add_audit(batch, flight->audit);
    if (!held && forget && !spilled)
        return;
    if (!held && !forget)
        intake_complete(flight->held);
    add_op(batch,
           (struct store_op){.kind = held || forget ? flight->op : STORE_PUT,
                             .queue = flight->queue->number,
                             .seq = flight->held->seq,
                             .envelope = forget ? NULL : &flight->held->envelope,
                             .body = held ? BYTES_NONE : flight->held->body,
                             .check_id = !held,
                             .from = only_from(flight),
                             .spilled_dlq = spilled ? flight->held->envelope.dlq : BYTES_NONE});
}

static void add_facts(struct engine *engine, struct batch *batch, struct arena *scratch) {
    for (struct list *node; (node = list_pop_front(&engine->facts));) {
        struct queue *queue = CONTAINER_OF(node, struct queue, facts_changed);
        if (queue->fenced)
            continue;
        struct buf facts;
        buf_init_heap(&facts, FACTS_MAX);
        queue_facts_put(queue, &facts);
        assert(!facts.overflow);
        add_op(batch, (struct store_op){.kind = STORE_QUEUE,
                                        .queue = queue->number,
                                        .queue_facts = arena_dup(scratch, buf_view(&facts))});
        buf_free(&facts);
        batch->has_facts = true;
    }
}

/* Who wanted it stands in the commit that does it. */
static void add_answers(struct engine *engine, struct batch *batch) {
    for (struct list *node; (node = list_pop_front(&engine->answers));) {
        const struct store_keep *keep = CONTAINER_OF(node, struct answer, link)->request->keep;
        list_push_back(&batch->answers, node);
        if (keep)
            add_op(batch, (struct store_op){.kind = STORE_KEEP, .keep = *keep});
    }
}

static void submit(struct engine *engine, struct batch *batch) {
    if (list_empty(&batch->flights) && list_empty(&batch->answers) && batch->commit.count == 0) {
        batch_free(batch);
        return;
    }
    engine->store->vtable->submit(engine->store, &batch->commit);
}

/* What is put may be refused for its id, which must not touch anybody else, and a letter may have
 * been changed by somebody else: a commit of its own. */
static bool goes_alone(const struct flight *flight) {
    bool put = flight->held->seq == 0 && flight->op != STORE_FORGET;
    return put || flight->too_large || flight->report || flight->late_letter || flight->returning;
}

static void submit_alone(struct engine *engine, struct flight *flight) {
    struct batch *batch = batch_new(engine);
    add_flight(batch, flight);
    batch->alone = flight;
    engine->store->vtable->submit(engine->store, &batch->commit);
}

static void set_aside(struct engine *engine, struct list *waiting) {
    list_init(waiting);
    LIST_EACH_SAFE(node, &engine->deciding) {
        struct flight *flight = CONTAINER_OF(node, struct flight, recording);
        if (flight->spill != SPILL_WAITS)
            continue;
        list_remove(node);
        list_push_back(waiting, node);
    }
}

void record_commit(struct engine *engine) {
    struct arena scratch;
    struct list waiting;
    struct err err = {STATUS_OK, ""};
    if (spilling_decided(engine, &err) != STATUS_OK)
        postpone_spills(engine, &err);
    set_aside(engine, &waiting);
    arena_init_heap(&scratch, SCRATCH_BYTES);
    struct batch *batch = batch_new(engine);
    LIST_EACH_SAFE(node, &engine->deciding) {
        struct flight *flight = CONTAINER_OF(node, struct flight, recording);
        if (!goes_alone(flight))
            add_flight(batch, flight);
    }
    add_facts(engine, batch, &scratch);
    add_answers(engine, batch);
    submit(engine, batch);
    while (!list_empty(&engine->deciding))
        submit_alone(engine, CONTAINER_OF(engine->deciding.next, struct flight, recording));
    for (struct list *node; (node = list_pop_front(&waiting));)
        list_push_back(&engine->deciding, node);
    arena_free(&scratch);
}
