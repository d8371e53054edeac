#include "engine/features/lease/lease_answer.h"

#include <stdlib.h>

#include "base/memory.h"
#include "engine/attempt/body_room.h"
#include "engine/features/idempotency.h"
#include "engine/features/lease/lease.h"

static const char run_out[] = "the lease has run out";
static const char over[] = "the lease is over: it was answered, or the message was leased again";

/* A request with answers that are not processed yet. */
struct lease_answers {
    struct engine_request *request;
    size_t pending;
};

/* ---- answering ---- */

static void leave(struct lease_answers *all) {
    struct engine_request *request = all->request;
    if (--all->pending > 0)
        return;
    free(all);
    request->done(request, STATUS_OK);
}

static void answer(struct lease_answer *release) {
    struct lease_answers *all = release->all;
    release->all = NULL;
    if (all)
        leave(all);
}

static void refuse(struct lease_answer *release, enum status status, const char *why) {
    release->one->status = err_set(&release->one->err, status, "%s", why);
    answer(release);
}

/* An answer that was not published before the engine stopped does not count: the message runs
 * again. */
void lease_answer_settle(struct lease *lease) {
    bool interrupted = lease->attempt->outcome.ending == ENDING_INTERRUPTED;
    if (interrupted && lease->answer.all)
        refuse(&lease->answer, STATUS_BUSY, "impound is stopping");
    else if (lease->attempt->skipped && lease->answer.all)
        refuse(&lease->answer, STATUS_BUSY, "the letter is being changed; say it again");
    else
        answer(&lease->answer);
}

static void refuse_unrecorded(struct lease_answer *release, const struct err *err) {
    if (release->all)
        refuse(release, err->status == STATUS_OK ? STATUS_IO : err->status, err->text);
}

void lease_answer_refuse(struct lease *lease, const struct err *err) {
    if (!lease)
        return;
    refuse_unrecorded(&lease->answer, err);
    if (lease->stage == LEASE_ENDED)
        refuse_unrecorded(&lease->parked, err);
}

static void forsake(struct lease_answer *release) {
    if (release->all && --release->all->pending == 0)
        free(release->all);
    release->all = NULL;
}

void lease_answer_forsake(struct lease *lease) {
    forsake(&lease->answer);
    forsake(&lease->parked);
}

/* ---- live leases ---- */

static void extend(struct lease *lease, struct lease_answer release) {
    int64_t lease_ms = release.one->lease_ms;
    if (lease_ms == 0)
        lease_ms = lease->attempt->held->envelope.lease_ms;
    if (lease_extend(lease, lease_ms))
        lease->answer = release;
    else
        answer(&release);
}

static void end(struct lease *lease, struct lease_answer release) {
    struct envelope *envelope = &lease->attempt->held->envelope;
    lease->answer = release;
    envelope->suspect = false; /* its worker did not crash */
    envelope->lease = 0;       /* the lease is answered: a second answer is refused */
    lease_end(lease, &release.one->outcome);
}

/* A commit of the lease is in progress: an ack or fail waits until it is durable. */
static void park(struct lease *lease, struct lease_answer release) {
    bool extends = release.one->kind == RELEASE_EXTEND;
    if (extends && lease->stage == LEASE_ENDED)
        refuse(&release, STATUS_CONFLICT, run_out);
    else if (extends && release.one->lease_ms <= lease->stored_ms)
        extend(lease, release);
    else if (extends || lease->parked.all)
        refuse(&release, STATUS_BUSY, "another answer to this lease is being recorded");
    else
        lease->parked = release;
}

static void while_known(struct lease *lease, uint64_t secret, struct lease_answer release) {
    if (lease->attempt->held->envelope.lease != secret)
        refuse(&release, STATUS_CONFLICT, over);
    else if (lease->stage != LEASE_ALIVE)
        park(lease, release);
    else if (release.one->kind == RELEASE_EXTEND)
        extend(lease, release);
    else
        end(lease, release);
}

/* ---- expired leases ---- */

static struct mono due_of(const struct engine *engine, const struct envelope *envelope) {
    int64_t left = envelope->next_attempt_at.ms - engine->now.wall.ms;
    return mono_after(engine->now.mono, left > 0 ? left : 0);
}

static struct message *take_waiting(struct engine *engine, uint64_t message, struct queue **queue) {
    struct message *held = NULL;
    for (size_t i = 0; !held && i < engine->queue_count; i++) {
        *queue = engine->queues[i];
        held = engine->store->vtable->take_one(engine->store, (*queue)->number, message);
    }
    return held;
}

/* A late answer continues the attempt that expired, if that one was counted. */
static void end_late(struct queue *queue, struct message *held, struct lease_answer release) {
    const struct envelope *envelope = &held->envelope;
    struct attempt *attempt = attempt_new(queue, held);
    if (envelope->state == STATE_PENDING_REVIEW)
        attempt->purpose = PURPOSE_LATE_LETTER;
    idempotency_claim(attempt);
    attempt->started = queue->engine->now;
    if (envelope->history_count > 0 && envelope->history[envelope->history_count - 1].counted) {
        attempt->counted_before = true;
        attempt->call.attempt = envelope->attempts;
    } else {
        attempt->probed_before = true;
    }
    queue->running++;
    body_room_drop(attempt);
    end(lease_late(attempt), release);
}

/* The letter died of the expiry, or of an earlier answer. A letter that was resolved or discarded
 * since stays so, whatever the worker answers. */
static void while_dead(struct queue *queue, struct message *held, struct lease_answer release) {
    enum state state = held->envelope.state;
    if (release.one->kind == RELEASE_EXTEND) {
        refuse(&release, STATUS_CONFLICT, run_out);
    } else if (state == STATE_PENDING_REVIEW) {
        end_late(queue, held, release);
        return;
    } else if (state == STATE_RESOLVED || state == STATE_DISCARDED) {
        answer(&release);
    } else {
        refuse(&release, STATUS_CONFLICT, "the message is being run again");
    }
    message_free(held);
}

static void while_held(struct engine *engine, uint64_t message, uint64_t secret,
                       struct lease_answer release) {
    struct store *store = engine->store;
    struct message *held = NULL;
    struct err err;
    /* A letter that cannot be read counts as missing. */
    letters_get_seq(store->letters, message, &held, &err);
    struct queue *queue = held ? engine_queue(engine, held->envelope.queue) : NULL;
    if (queue && held->envelope.lease == secret) {
        while_dead(queue, held, release);
        return;
    }
    if (queue)
        refuse(&release, STATUS_CONFLICT, over);
    else
        refuse(&release, STATUS_NOT_FOUND, "there is no such lease, or its message is done");
    message_free(held);
}

static void while_waiting(struct engine *engine, uint64_t message, uint64_t secret,
                          struct lease_answer release) {
    struct queue *queue;
    struct message *held = take_waiting(engine, message, &queue);
    if (!held) {
        while_held(engine, message, secret, release);
        return;
    }
    bool same = held->envelope.lease == secret;
    if (same && release.one->kind != RELEASE_EXTEND) {
        end_late(queue, held, release);
        return;
    }
    queue_give_back(queue, held, due_of(engine, &held->envelope));
    refuse(&release, STATUS_CONFLICT, same ? run_out : over);
}

void lease_answer_unpark(struct lease *lease) {
    struct lease_answer release = lease->parked;
    const struct message *held = lease->attempt->held;
    lease->parked.all = NULL;
    if (!release.all)
        return;
    if (lease->stage == LEASE_ALIVE)
        end(lease, release);
    else
        while_waiting(lease->attempt->queue->engine, held->seq, held->envelope.lease, release);
}

/* ---- the request ---- */

static void open_one(struct engine *engine, struct lease_answer release) {
    uint64_t message, secret;
    if (!lease_parse(release.one->lease, &message, &secret) || secret == 0) {
        refuse(&release, STATUS_NOT_FOUND, "there is no such lease");
        return;
    }
    struct lease *lease = lease_find(engine, message);
    if (lease && lease->stage != LEASE_GRANTING)
        while_known(lease, secret, release);
    else
        while_waiting(engine, message, secret, release);
}

void lease_answer_open(struct engine *engine, struct engine_request *request) {
    struct lease_answers *all = memory_new(sizeof *all);
    all->request = request;
    /* One for this function, so that the request is answered only once. */
    all->pending = request->release_count + 1;
    for (size_t i = 0; i < request->release_count; i++) {
        request->release[i].status = STATUS_OK;
        open_one(engine, (struct lease_answer){all, &request->release[i]});
    }
    leave(all);
}
