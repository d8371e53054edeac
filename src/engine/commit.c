/* Durable first, acknowledge second: the decisions of a turn become one commit; the source is
 * acknowledged and the attempt freed only after the store has made the commit durable. An attempt
 * that succeeded and leaves nothing to record needs no commit. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/feature.h"
#include "engine/settle.h"
#include "engine/source.h"
#include "engine/receive.h"
#include "engine/queue/queue_facts.h"

enum { FACTS_MAX = 64 * 1024 }; /* enough for all counts of a flood guard */
enum { SCRATCH_BYTES = 4096 };

/* Puts the attempt into the next commit. */
static void decide_again(struct attempt *attempt) {
    list_remove(&attempt->recording);
    list_push_back(&attempt->queue->engine->deciding, &attempt->recording);
}

void commit_join(struct attempt *attempt) {
    attempt_to(attempt, ATTEMPT_COMMITTING);
    decide_again(attempt);
}

void commit_answer(struct engine *engine, struct engine_request *request) {
    struct answer *answer = memory_new(sizeof *answer);
    answer->request = request;
    list_push_back(&engine->answers, &answer->link);
}

/* ---- failed commits ---- */

/* The failed commit changed nothing: the decision stays and is submitted again later. Its queue
 * receives nothing before it is durable. */
static void postpone_one(struct engine *engine, struct attempt *attempt, const struct err *err) {
    FEATURES_TELL(postponed, attempt, err);
    list_remove(&attempt->recording);
    list_push_back(&engine->unrecorded, &attempt->recording);
    if (attempt->state != ATTEMPT_POSTPONED)
        attempt->queue->postponed++;
    attempt_to(attempt, ATTEMPT_POSTPONED);
    attempt->too_large = err->status == STATUS_TOO_LARGE;
    snprintf(attempt->queue->postponed_why, sizeof attempt->queue->postponed_why,
             "what was decided cannot be stored: %.200s", err->text);
}

static void try_later(struct engine *engine, const struct err *err) {
    log_error("a commit failed, trying again in %lld ms: %s", (long long)engine->record_retry_ms,
              err->text);
    engine->commit_again = mono_after(engine->now.mono, engine->record_retry_ms);
    engine->record_retry_ms = duration_doubled(engine->record_retry_ms, RECORD_RETRY_LAST_MS);
}

bool commit_waits(const struct engine *engine) {
    return engine->facts_lost || !list_empty(&engine->unrecorded);
}

/* The failed commit does not list the queues whose facts it had, so the facts of all are written.
 */
static void facts_again(struct engine *engine) {
    engine->facts_lost = false;
    for (size_t i = 0; i < engine->queue_count; i++)
        queue_facts_changed(engine->queues[i]);
}

void commit_again(struct engine *engine) {
    if (!commit_waits(engine) || engine->now.mono.ms < engine->commit_again.ms)
        return;
    if (engine->facts_lost)
        facts_again(engine);
    for (struct list *node; (node = list_pop_front(&engine->unrecorded));)
        list_push_back(&engine->deciding, node);
}

/* An archive that is down delays only the attempts whose letters go there. */
static void postpone_spills(struct engine *engine, const struct err *err) {
    try_later(engine, err);
    LIST_EACH_SAFE(node, &engine->deciding) {
        struct attempt *attempt = CONTAINER_OF(node, struct attempt, recording);
        if (attempt->spill == SPILL_CHOSEN)
            postpone_one(engine, attempt, err);
    }
}

/* The message succeeded and was never in the store: nothing has to be durable. */
static bool leaves_nothing(const struct attempt *attempt) {
    return attempt->held->seq == 0 && attempt->op == STORE_FORGET && attempt->spill == SPILL_NONE &&
           attempt->result.name.len == 0 && attempt->key_done.name.len == 0 && !attempt->report &&
           !attempt->returning;
}

void commit_decided(struct attempt *attempt) {
    attempt_to(attempt, ATTEMPT_DECIDED);
    attempt->queue->settling++;
    attempt->queue->engine->settling++;
    if (leaves_nothing(attempt))
        settle_attempt(attempt);
    else if (!FEATURES_ANY(in_commit, attempt))
        commit_join(attempt);
}

/* A report is not accepted before it is durable: the request fails with the error. */
static void refuse_report(struct attempt *attempt, const struct commit *commit) {
    attempt->report->err = commit->store.err;
    settle_report(attempt, commit->status);
    settle_let_go(attempt);
}

/* The attempt must be in no list: it is not submitted any more. */
void commit_abandon(struct attempt *attempt, const struct err *err) {
    FEATURES_TELL(postponed, attempt, err);
    if (attempt->report) {
        attempt->report->err = *err;
        settle_report(attempt, STATUS_BUSY);
        settle_let_go(attempt);
        return;
    }
    attempt_to(attempt, ATTEMPT_POSTPONED);
    attempt->queue->postponed++;
}

/* Answers requests for reports and leases, none of which is valid before it is durable. */
static void refuse_askers(struct commit *commit) {
    LIST_EACH_SAFE(node, &commit->attempts) {
        struct attempt *attempt = CONTAINER_OF(node, struct attempt, recording);
        if (attempt->report)
            refuse_report(attempt, commit);
        else if (commit->status == STATUS_CONFLICT && attempt->held->seq == 0)
            settle_renamed(attempt);
        else
            (void)FEATURES_ANY(refused, attempt, commit->status, &commit->store.err);
    }
}

static void answer_all(struct commit *commit) {
    for (struct list *node; (node = list_pop_front(&commit->answers));) {
        struct answer *answer = CONTAINER_OF(node, struct answer, link);
        answer->request->err = commit->store.err;
        answer->request->done(answer->request, commit->status);
        free(answer);
    }
}

static void commit_free(struct commit *commit) {
    list_remove(&commit->link);
    free(commit->store.ops);
    free(commit);
}

/* The outputs of a commit are valid when it is done, not when it was submitted. */
static void read_outputs(const struct commit *commit) {
    const struct store_op *op = &commit->store.ops[commit->store.count - 1];
    commit->alone->duplicate = op->duplicate;
    commit->alone->skipped = op->skipped;
    commit->alone->stored_as = op->kind == STORE_PUT ? op->seq : 0;
}

/* ---- fenced queues ---- */

/* The queue's new owner has the message, or will receive it from its source: it is neither
 * acknowledged nor given back here. */
static void drop_fenced(struct attempt *attempt, const struct commit *commit) {
    const struct err *err = &commit->store.err;
    list_remove(&attempt->recording);
    FEATURES_TELL(postponed, attempt, err);
    if (attempt->report)
        refuse_report(attempt, commit);
    else if (!FEATURES_ANY(refused, attempt, commit->status, err))
        settle_let_go(attempt);
}

/* Another node owns the queue now. Nothing of the commit took effect: attempts of other queues are
 * submitted again, attempts of this queue are dropped. */
static void open_fenced(struct engine *engine, struct commit *commit) {
    uint32_t number = commit->store.ops[commit->store.refused].queue;
    for (size_t i = 0; i < engine->queue_count; i++) {
        struct queue *queue = engine->queues[i];
        if (queue->number != number || queue->fenced)
            continue;
        queue->fenced = true;
        log_about(LOG_WARN, QUEUE_ABOUT(queue), "another node owns the queue now: %s",
                  commit->store.err.text);
    }
    engine->facts_lost |= commit->has_facts;
    LIST_EACH_SAFE(node, &commit->attempts) {
        struct attempt *attempt = CONTAINER_OF(node, struct attempt, recording);
        if (attempt->queue->number == number)
            drop_fenced(attempt, commit);
        else
            decide_again(attempt);
    }
}

static void open_commit(struct engine *engine, struct engine_post *post) {
    struct commit *commit = CONTAINER_OF(post, struct commit, post);
    answer_all(commit);
    if (commit->status == STATUS_FENCED) {
        open_fenced(engine, commit);
    } else if (commit->status == STATUS_OK) {
        if (commit->alone && commit->store.count > 0)
            read_outputs(commit);
        engine->record_retry_ms = RECORD_RETRY_FIRST_MS;
        while (!list_empty(&commit->attempts))
            settle_attempt(CONTAINER_OF(commit->attempts.next, struct attempt, recording));
    } else {
        refuse_askers(commit);
        if (commit->has_facts)
            engine->facts_lost = true;
        if (commit->has_facts || !list_empty(&commit->attempts))
            try_later(engine, &commit->store.err);
        while (!list_empty(&commit->attempts))
            postpone_one(engine, CONTAINER_OF(commit->attempts.next, struct attempt, recording),
                         &commit->store.err);
    }
    commit_free(commit);
}

static void on_commit(struct store_commit *store, enum status status) {
    struct commit *commit = CONTAINER_OF(store, struct commit, store);
    commit->status = status;
    engine_post(store->arg, &commit->post);
}

void commit_drop(struct engine *engine) {
    while (!list_empty(&engine->commits)) {
        struct commit *commit = CONTAINER_OF(engine->commits.next, struct commit, link);
        for (struct list *node; (node = list_pop_front(&commit->answers));)
            free(CONTAINER_OF(node, struct answer, link));
        list_clear(&commit->attempts);
        commit_free(commit);
    }
}

/* ---- the commit ---- */

static struct commit *commit_new(struct engine *engine) {
    struct commit *commit = memory_new(sizeof *commit);
    commit->post.open = open_commit;
    commit->store.done = on_commit;
    commit->store.arg = engine;
    list_init(&commit->attempts);
    list_init(&commit->answers);
    list_push_back(&engine->commits, &commit->link);
    return commit;
}

static void add_op(struct commit *commit, struct store_op op) {
    if (commit->store.count == commit->ops_cap) {
        commit->ops_cap = commit->ops_cap ? commit->ops_cap * 2 : 4;
        commit->store.ops =
            memory_grow(commit->store.ops, commit->ops_cap * sizeof *commit->store.ops);
    }
    commit->store.ops[commit->store.count++] = op;
}

static void add_keep(struct commit *commit, const struct attempt *attempt,
                     const struct store_keep *keep) {
    if (keep->name.len)
        add_op(commit, (struct store_op){
                           .kind = STORE_KEEP, .queue = attempt->queue->number, .keep = *keep});
}

/* Added once for all messages of one request. */
static void add_audit(struct commit *commit, const struct store_keep *audit) {
    if (!audit || bytes_eq(audit->name, commit->audit))
        return;
    add_op(commit, (struct store_op){.kind = STORE_KEEP, .keep = *audit});
    commit->audit = audit->name;
}

/* A message that another operation may have changed is changed only from the state in which it was
 * read. */
static uint32_t only_from(const struct attempt *attempt) {
    if (attempt->returning)
        return 1u << STATE_RESOLVED;
    return attempt->purpose == PURPOSE_LATE_LETTER ? 1u << STATE_PENDING_REVIEW : 0;
}

/* A message that is not in the store yet is put there, unless it succeeded; a spilled letter is
 * counted in either case. */
static void add_attempt(struct commit *commit, struct attempt *attempt) {
    bool held = attempt->held->seq != 0, forget = attempt->op == STORE_FORGET;
    bool spilled = attempt->spill == SPILL_SYNCED;
    attempt->stored_as = 0;
    attempt->duplicate = attempt->skipped = false;
    list_remove(&attempt->recording);
    list_push_back(&commit->attempts, &attempt->recording);
    add_keep(commit, attempt, &attempt->result);
    add_keep(commit, attempt, &attempt->key_done);
    add_audit(commit, attempt->audit);
    if (!held && forget && !spilled)
        return;
    if (!held && !forget)
        source_complete(attempt->held);
    add_op(commit,
           (struct store_op){.kind = held || forget ? attempt->op : STORE_PUT,
                             .queue = attempt->queue->number,
                             .seq = attempt->held->seq,
                             .envelope = forget ? NULL : &attempt->held->envelope,
                             .body = held ? BYTES_NONE : attempt->held->body,
                             .check_id = !held,
                             .from = only_from(attempt),
                             .spilled_dlq = spilled ? attempt->held->envelope.dlq : BYTES_NONE});
}

static void add_facts(struct engine *engine, struct commit *commit, struct arena *scratch) {
    for (struct list *node; (node = list_pop_front(&engine->facts));) {
        struct queue *queue = CONTAINER_OF(node, struct queue, facts_changed);
        if (queue->fenced)
            continue;
        struct buf facts;
        buf_init_heap(&facts, FACTS_MAX);
        queue_facts_put(queue, &facts);
        assert(!facts.overflow);
        add_op(commit, (struct store_op){.kind = STORE_QUEUE,
                                         .queue = queue->number,
                                         .queue_facts = arena_dup(scratch, buf_view(&facts))});
        buf_free(&facts);
        commit->has_facts = true;
    }
}

/* The audit entry of a request is in the commit that carries it out. */
static void add_answers(struct engine *engine, struct commit *commit) {
    for (struct list *node; (node = list_pop_front(&engine->answers));) {
        const struct store_keep *keep = CONTAINER_OF(node, struct answer, link)->request->keep;
        list_push_back(&commit->answers, node);
        if (keep)
            add_op(commit, (struct store_op){.kind = STORE_KEEP, .keep = *keep});
    }
}

static void submit(struct engine *engine, struct commit *commit) {
    if (list_empty(&commit->attempts) && list_empty(&commit->answers) && commit->store.count == 0) {
        commit_free(commit);
        return;
    }
    engine->store->vtable->submit(engine->store, &commit->store);
}

/* A put may be refused for its id, and a letter may have been changed by another operation. Such an
 * attempt gets a commit of its own, so that a refusal affects no other message. */
static bool goes_alone(const struct attempt *attempt) {
    bool put = attempt->held->seq == 0 && attempt->op != STORE_FORGET;
    return put || attempt->too_large || attempt->report ||
           attempt->purpose == PURPOSE_LATE_LETTER || attempt->returning;
}

static void submit_alone(struct engine *engine, struct attempt *attempt) {
    struct commit *commit = commit_new(engine);
    add_attempt(commit, attempt);
    commit->alone = attempt;
    engine->store->vtable->submit(engine->store, &commit->store);
}

static void set_aside(struct engine *engine, struct list *waiting) {
    list_init(waiting);
    LIST_EACH_SAFE(node, &engine->deciding) {
        struct attempt *attempt = CONTAINER_OF(node, struct attempt, recording);
        if (attempt->spill != SPILL_WAITS)
            continue;
        list_remove(node);
        list_push_back(waiting, node);
    }
}

void commit_turn(struct engine *engine) {
    struct arena scratch;
    struct list waiting;
    struct err err = {STATUS_OK, ""};
    if (FEATURES_ANY(before_commit, engine, &err))
        postpone_spills(engine, &err);
    set_aside(engine, &waiting);
    arena_init_heap(&scratch, SCRATCH_BYTES);
    struct commit *commit = commit_new(engine);
    LIST_EACH_SAFE(node, &engine->deciding) {
        struct attempt *attempt = CONTAINER_OF(node, struct attempt, recording);
        if (!goes_alone(attempt))
            add_attempt(commit, attempt);
    }
    add_facts(engine, commit, &scratch);
    add_answers(engine, commit);
    submit(engine, commit);
    while (!list_empty(&engine->deciding))
        submit_alone(engine, CONTAINER_OF(engine->deciding.next, struct attempt, recording));
    for (struct list *node; (node = list_pop_front(&waiting));)
        list_push_back(&engine->deciding, node);
    arena_free(&scratch);
}
