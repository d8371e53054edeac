#include "engine/attempt/body_room.h"
#include "engine/features/dlq/spilling.h"
#include "engine/feature.h"

enum {
    SPILL_LINE_MAX = 128 << 20,
    SPILL_NEAR = 16 * QUEUE_SETTLING_MAX, /* room that commits in progress could take */
};

static struct attempt *attempt_at(const struct list *node) {
    return CONTAINER_OF(node, struct attempt, recording);
}

/* The DLQ that this letter arrives in, if that one spills. */
static const struct engine_dlq *spilling_dlq(const struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    if (envelope->state != STATE_PENDING_REVIEW || envelope->replays > 0 ||
        attempt->purpose == PURPOSE_LATE_LETTER ||
        attempt_compensates(attempt) || /* the letter is in the DLQ already */
        envelope->closes_key)           /* its key waits for it in the store */
        return NULL;
    const struct engine_dlq *dlq = queue_dlq(attempt->queue, envelope->dlq);
    return dlq && dlq->on_full == ON_FULL_SPILL ? dlq : NULL;
}

/* The number of these attempts, up to `end`, whose letters need room in the DLQ. */
static uint64_t count_letters(const struct list *attempts, const struct list *end,
                              struct bytes dlq) {
    uint64_t count = 0;
    for (const struct list *node = attempts->next; node != end; node = node->next) {
        const struct attempt *attempt = attempt_at(node);
        const struct envelope *envelope = &attempt->held->envelope;
        count += envelope->state == STATE_PENDING_REVIEW && attempt->op != STORE_FORGET &&
                 attempt->spill != SPILL_CHOSEN && bytes_eq(envelope->dlq, dlq);
    }
    return count;
}

static uint64_t letters_under_way(struct engine *engine, struct bytes dlq) {
    uint64_t count = 0;
    LIST_EACH(node, &engine->commits) {
        struct commit *batch = CONTAINER_OF(node, struct commit, link);
        count += count_letters(&batch->attempts, &batch->attempts, dlq);
    }
    return count;
}

/* Whether a letter fits, is spilled, or is undecided, because a commit in progress may or may not
 * be in the depth already. An undecided letter waits for that commit, so that the cap is kept
 * exactly. */
static enum spill_stage choose(const struct attempt *attempt, const struct engine_dlq *dlq) {
    struct engine *engine = attempt->queue->engine;
    uint64_t depth = engine->store->vtable->dlq_depth(engine->store, dlq->name);
    if (depth >= dlq->cap)
        return SPILL_CHOSEN;
    if (dlq->cap - depth > SPILL_NEAR)
        return SPILL_NONE;
    uint64_t under_way = letters_under_way(engine, dlq->name);
    uint64_t ahead = count_letters(&engine->deciding, &attempt->recording, dlq->name);
    if (depth + under_way + ahead < dlq->cap)
        return SPILL_NONE;
    return under_way > 0 ? SPILL_WAITS : SPILL_CHOSEN;
}

static enum status append(struct attempt *attempt, const struct engine_dlq *dlq, struct err *err) {
    struct engine *engine = attempt->queue->engine;
    struct spill *spill = engine->options.spill;
    struct buf line;
    bool dropped = attempt->held->body_dropped;
    if (body_room_reload(attempt, err) != STATUS_OK)
        return err->status;
    buf_init_heap(&line, SPILL_LINE_MAX);
    envelope_encode(&attempt->held->envelope, ENVELOPE_LINE, attempt->held->body, &line);
    enum status status = spill->vtable->append(spill, dlq->archive, dlq->name, engine->now.wall,
                                               buf_view(&line), err);
    buf_free(&line);
    if (dropped && !attempt->removing) /* a removal returns the body to its request */
        body_room_drop(attempt);
    return status;
}

static enum status sync_chosen(struct engine *engine, struct err *err) {
    struct spill *spill = engine->options.spill;
    enum status status = spill->vtable->sync(spill, err);
    if (status != STATUS_OK)
        return status;
    LIST_EACH(node, &engine->deciding) {
        struct attempt *attempt = attempt_at(node);
        if (attempt->spill != SPILL_CHOSEN)
            continue;
        attempt->spill = SPILL_SYNCED;
        attempt->op = STORE_FORGET;
    }
    return STATUS_OK;
}

/* Attempts that were chosen in an earlier turn and not written are chosen anew: the DLQ may have
 * room by now, or spill no longer. */
enum status spilling_decided(struct engine *engine, struct err *err) {
    enum status status = STATUS_OK;
    bool any = false;
    LIST_EACH(node, &engine->deciding) {
        struct attempt *attempt = attempt_at(node);
        if (attempt->spill == SPILL_SYNCED)
            continue;
        const struct engine_dlq *dlq = spilling_dlq(attempt);
        attempt->spill = dlq ? choose(attempt, dlq) : SPILL_NONE;
        if (attempt->spill != SPILL_CHOSEN || status != STATUS_OK)
            continue;
        status = append(attempt, dlq, err);
        any = true;
    }
    return any && status == STATUS_OK ? sync_chosen(engine, err) : status;
}

/* ---- the feature ---- */

static bool before_commit(struct engine *engine, struct err *err) {
    return spilling_decided(engine, err) != STATUS_OK;
}

const struct engine_feature spilling_feature = {
    .name = "spilling",
    .before_commit = before_commit,
};
