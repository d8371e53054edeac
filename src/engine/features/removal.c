#include "engine/features/removal.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/lifecycle.h"
#include "engine/features/lease/lease.h"
#include "engine/features/refusal.h"
#include "engine/features/dlq/spilling.h"
#include "engine/features/tracing/tracing.h"
#include "engine/feature.h"

/* A request with messages whose change is not durable yet. */
struct removing {
    struct engine_request *request;
    size_t pending;
};

/* ---- answering ---- */

static void leave(struct removing *all) {
    struct engine_request *request = all->request;
    if (--all->pending > 0)
        return;
    free(all);
    request->done(request, STATUS_OK);
}

static void answer(struct attempt *attempt) {
    struct removing *all = attempt->removing;
    attempt->removing = NULL;
    attempt->removal = NULL;
    attempt->audit = NULL;
    leave(all);
}

void removal_settled(struct attempt *attempt) {
    enum { ENVELOPE_MAX = 128 << 20 };
    if (!attempt->removing)
        return;
    const struct engine_request *request = attempt->removing->request;
    bool may_be_gone = attempt->spill == SPILL_SYNCED || request->kind == ENGINE_RETRY;
    if (may_be_gone && request->removal_count == 1) {
        buf_init_heap(&attempt->removal->spilled, ENVELOPE_MAX);
        envelope_encode(&attempt->held->envelope, ENVELOPE_WITH_BODY, attempt->held->body,
                        &attempt->removal->spilled);
    }
    answer(attempt);
}

void removal_drop(struct attempt *attempt) {
    if (attempt->removing && --attempt->removing->pending == 0)
        free(attempt->removing);
    attempt->removing = NULL;
}

/* The audit's text belongs to the request: a commit that is made later needs a copy. */
static const struct store_keep *copy_audit(struct attempt *attempt) {
    struct arena *arena = &attempt->held->arena;
    struct store_keep *copy = arena_alloc(arena, sizeof *copy);
    *copy = *attempt->audit;
    copy->name = arena_dup(arena, copy->name);
    copy->value = arena_dup(arena, copy->value);
    return copy;
}

void removal_postponed(struct attempt *attempt, const struct err *err) {
    if (!attempt->removing)
        return;
    const struct store_keep *audit = attempt->audit ? copy_audit(attempt) : NULL;
    err_set(&attempt->removal->err, STATUS_BUSY,
            "it cannot be recorded now, and will be as soon as possible: %s", err->text);
    attempt->removal->status = STATUS_BUSY;
    answer(attempt);
    attempt->audit = audit;
}

static void refuse(struct removing *all, struct engine_removal *removal, enum status status,
                   const char *why) {
    removal->status = err_set(&removal->err, status, "%s", why);
    leave(all);
}

/* ---- one message ---- */

/* A message that waits for room in a full DLQ has its DLQ already. */
static struct bytes dlq_of(const struct queue *queue, const struct envelope *envelope) {
    return envelope_awaits_room(envelope) && queue_dlq(queue, envelope->dlq)
               ? envelope->dlq
               : policy_dlq(queue->rules.policy, envelope->category);
}

/* A message that never failed has neither category nor reason. */
static void make_letter(struct removing *all, struct attempt *attempt,
                        struct engine_removal *removal) {
    struct queue *queue = attempt->queue;
    struct envelope *envelope = &attempt->held->envelope;
    bool bury = all->request->kind == ENGINE_BURY;
    envelope->why = arena_dup(&attempt->held->arena, all->request->why);
    if (envelope->category.len == 0)
        envelope->category = BYTES("unknown");
    if (envelope->reason.len == 0)
        envelope->reason = BYTES("operator");
    envelope->instance = queue->engine->options.instance;
    envelope->blocked_by = BYTES_NONE;
    envelope->refused = false;
    envelope->suspect = false;
    judge_bury(attempt, dlq_of(queue, envelope), CAUSE_OPERATOR,
               bury ? STATE_PENDING_REVIEW : STATE_DISCARDED);
    attempt->removing = all;
    attempt->removal = removal;
    attempt->audit = all->request->keep;
    removal->status = STATUS_OK;
    judge_result(attempt, bury ? RESULT_DLQ : RESULT_DISCARD);
    commit_decided(attempt);
}

static void make_due(struct removing *all, struct attempt *attempt,
                     struct engine_removal *removal) {
    lifecycle_retry(&attempt->held->envelope, attempt->queue->engine->now.wall, 0);
    attempt->op = STORE_UPDATE;
    attempt->removing = all;
    attempt->removal = removal;
    attempt->audit = all->request->keep;
    removal->status = STATUS_OK;
    commit_decided(attempt);
}

static void retry_waiting(struct removing *all, struct queue *queue, struct message *held,
                          struct engine_removal *removal) {
    const char *why = envelope_keeps_from_retry(&held->envelope);
    if (why) {
        int64_t wait_ms = held->envelope.next_attempt_at.ms - queue->engine->now.wall.ms;
        queue_give_back(queue, held,
                        mono_after(queue->engine->now.mono, wait_ms > 0 ? wait_ms : 0));
        refuse(all, removal, STATUS_CONFLICT, why);
    } else {
        make_due(all, attempt_new(queue, held), removal);
    }
}

static void end_lease(struct removing *all, struct lease *lease, struct engine_removal *removal) {
    struct attempt *attempt = lease->attempt;
    struct queue *queue = attempt->queue;
    if (all->request->kind == ENGINE_RETRY) {
        refuse(all, removal, STATUS_CONFLICT, "a worker has it: its lease must end first");
        return;
    }
    if (attempt->replay) {
        refuse(all, removal, STATUS_CONFLICT, "the letter is being replayed; wait for it");
        return;
    }
    if (!lease_is_alive(lease)) {
        refuse(all, removal, STATUS_CONFLICT, "its lease is being recorded; ask again");
        return;
    }
    lease_revoke(lease);
    queue->running--;
    if (attempt->probe)
        breaker_probe_withdrawn(&queue->breaker);
    refusal_forget(attempt);
    queue_visit(queue);
    make_letter(all, attempt, removal);
}

static struct attempt *find_attempt(const struct queue *queue, uint64_t seq) {
    LIST_EACH(node, &queue->attempts) {
        struct attempt *attempt = CONTAINER_OF(node, struct attempt, link);
        if (attempt->held && attempt->held->seq == seq)
            return attempt;
    }
    return NULL;
}

static void refuse_running(struct removing *all, const struct attempt *attempt,
                           struct engine_removal *removal) {
    const struct queue *queue = attempt->queue;
    int64_t timeout_ms = queue_leases(queue) ? 0 : attempt_handler(attempt)->timeout_ms;
    int64_t left_ms = attempt->started.mono.ms + timeout_ms - queue->engine->now.mono.ms;
    char memory[64];
    struct buf left;
    buf_init_fixed(&left, memory, sizeof memory);
    duration_put(&left, left_ms > 0 ? left_ms : 0);
    if (timeout_ms > 0 && left_ms > 0)
        err_set(&removal->err, STATUS_CONFLICT,
                "it is running; its handler has %s left, then ask again", buf_cstr(&left));
    else
        err_set(&removal->err, STATUS_CONFLICT, "it is running or being recorded; ask again");
    removal->status = STATUS_CONFLICT;
    leave(all);
}

static void take_waiting(struct removing *all, struct queue *queue,
                         struct engine_removal *removal) {
    struct store *store = queue->engine->store;
    struct message *held = store->vtable->take_any(store, queue->number, removal->seq);
    if (held && held->envelope.letter_id.len > 0) {
        queue_give_back(queue, held, queue->engine->now.mono);
        refuse(all, removal, STATUS_CONFLICT, "the letter is being replayed; wait for it");
        return;
    }
    const struct attempt *attempt = held ? NULL : find_attempt(queue, removal->seq);
    if (held && all->request->kind == ENGINE_RETRY)
        retry_waiting(all, queue, held, removal);
    else if (held)
        make_letter(all, attempt_new(queue, held), removal);
    else if (attempt)
        refuse_running(all, attempt, removal);
    else
        refuse(all, removal, STATUS_NOT_FOUND, "it does not wait any more");
}

static void open_one(struct removing *all, struct queue *queue, struct engine_removal *removal) {
    struct lease *lease = lease_find(queue->engine, removal->seq);
    if (lease && lease->stage != LEASE_ENDED)
        end_lease(all, lease, removal);
    else
        take_waiting(all, queue, removal);
}

void removal_open(struct queue *queue, struct engine_request *request) {
    struct removing *all = memory_new(sizeof *all);
    all->request = request;
    /* One for this function, so that the request is answered only once. */
    all->pending = request->removal_count + 1;
    for (size_t i = 0; i < request->removal_count; i++)
        open_one(all, queue, &request->removal[i]);
    leave(all);
}

/* ---- the feature ---- */

const struct engine_feature removal_feature = {
    .name = "removal",
    .postponed = removal_postponed,
    .delayed = removal_postponed,
    .settled = removal_settled,
    .freed = removal_drop,
};
