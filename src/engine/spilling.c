#include "engine/body_room.h"
#include "engine/compensate.h"
#include "engine/spilling.h"

enum {
    SPILL_LINE_MAX = 128 << 20,
    SPILL_NEAR = 16 * QUEUE_SETTLING_MAX, /* places that commits under way could take */
};

static struct flight *flight_at(const struct list *node) {
    return CONTAINER_OF(node, struct flight, recording);
}

/* The DLQ that this letter arrives in, if that one spills. */
static const struct engine_dlq *spilling_dlq(const struct flight *flight) {
    const struct envelope *envelope = &flight->held->envelope;
    if (envelope->state != STATE_PENDING_REVIEW || envelope->replays > 0 || flight->late_letter ||
        compensate_is(flight) || /* it is there already */
        envelope->closes_key)    /* its key waits for it here */
        return NULL;
    const struct engine_dlq *dlq = queue_dlq(flight->queue, envelope->dlq);
    return dlq && dlq->on_full == ON_FULL_SPILL ? dlq : NULL;
}

/* Of these flights, up to `end`, the letters that take a place in the DLQ. */
static uint64_t count_letters(const struct list *flights, const struct list *end,
                              struct bytes dlq) {
    uint64_t count = 0;
    for (const struct list *node = flights->next; node != end; node = node->next) {
        const struct flight *flight = flight_at(node);
        const struct envelope *envelope = &flight->held->envelope;
        count += envelope->state == STATE_PENDING_REVIEW && flight->op != STORE_FORGET &&
                 flight->spill != SPILL_CHOSEN && bytes_eq(envelope->dlq, dlq);
    }
    return count;
}

static uint64_t letters_under_way(struct engine *engine, struct bytes dlq) {
    uint64_t count = 0;
    LIST_EACH(node, &engine->batches) {
        struct batch *batch = CONTAINER_OF(node, struct batch, link);
        count += count_letters(&batch->flights, &batch->flights, dlq);
    }
    return count;
}

/* Whether a letter fits, is spilled, or cannot be told: a commit under way may be in the depth
 * already or not. Then it waits for that commit's answer, so that the cap is kept exactly. */
static enum spill_stage choose(const struct flight *flight, const struct engine_dlq *dlq) {
    struct engine *engine = flight->queue->engine;
    uint64_t depth = engine->store->vtable->dlq_depth(engine->store, dlq->name);
    if (depth >= dlq->cap)
        return SPILL_CHOSEN;
    if (dlq->cap - depth > SPILL_NEAR)
        return SPILL_NONE;
    uint64_t under_way = letters_under_way(engine, dlq->name);
    uint64_t ahead = count_letters(&engine->deciding, &flight->recording, dlq->name);
    if (depth + under_way + ahead < dlq->cap)
        return SPILL_NONE;
    return under_way > 0 ? SPILL_WAITS : SPILL_CHOSEN;
}

static enum status append(struct flight *flight, const struct engine_dlq *dlq, struct err *err) {
    struct engine *engine = flight->queue->engine;
    struct spill *spill = engine->options.spill;
    struct buf line;
    bool dropped = flight->held->body_dropped;
    if (body_room_reload(flight, err) != STATUS_OK)
        return err->status;
    buf_init_heap(&line, SPILL_LINE_MAX);
    envelope_encode(&flight->held->envelope, ENVELOPE_LINE, flight->held->body, &line);
    enum status status = spill->vtable->append(spill, dlq->archive, dlq->name, engine->now.wall,
                                               buf_view(&line), err);
    buf_free(&line);
    if (dropped && !flight->removing) /* whoever removed it is shown its body */
        body_room_drop(flight);
    return status;
}

static enum status sync_chosen(struct engine *engine, struct err *err) {
    struct spill *spill = engine->options.spill;
    enum status status = spill->vtable->sync(spill, err);
    if (status != STATUS_OK)
        return status;
    LIST_EACH(node, &engine->deciding) {
        struct flight *flight = flight_at(node);
        if (flight->spill != SPILL_CHOSEN)
            continue;
        flight->spill = SPILL_SYNCED;
        flight->op = STORE_FORGET;
    }
    return STATUS_OK;
}

/* What was chosen in an earlier turn, and not made safe, is chosen anew: its DLQ may have room by
 * now, or spill no longer. */
enum status spilling_decided(struct engine *engine, struct err *err) {
    enum status status = STATUS_OK;
    bool any = false;
    LIST_EACH(node, &engine->deciding) {
        struct flight *flight = flight_at(node);
        if (flight->spill == SPILL_SYNCED)
            continue;
        const struct engine_dlq *dlq = spilling_dlq(flight);
        flight->spill = dlq ? choose(flight, dlq) : SPILL_NONE;
        if (flight->spill != SPILL_CHOSEN || status != STATUS_OK)
            continue;
        status = append(flight, dlq, err);
        any = true;
    }
    return any && status == STATUS_OK ? sync_chosen(engine, err) : status;
}
