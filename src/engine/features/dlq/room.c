#include "engine/features/dlq/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/outage/cap.h"
#include "core/lifecycle.h"
#include "engine/features/tracing/tracing.h"
#include "engine/feature.h"

enum {
    AT_ONCE = 256, /* messages that become letters in one turn of their queue */
    WHY_MAX = 1024,
};

/* A DLQ that was seen full, by name: several queues may share it. In engine->full_dlqs. */
struct full_dlq {
    struct list link;
    size_t length;
    char name[];
};

/* ---- which DLQs are full ---- */

static struct full_dlq *find_full(const struct engine *engine, struct bytes name) {
    LIST_EACH(node, &engine->full_dlqs) {
        struct full_dlq *full = CONTAINER_OF(node, struct full_dlq, link);
        if (bytes_eq((struct bytes){full->name, full->length}, name))
            return full;
    }
    return NULL;
}

bool room_was_full(const struct engine *engine, struct bytes dlq) {
    return find_full(engine, dlq) != NULL;
}

static void add_full(struct engine *engine, struct bytes name) {
    struct full_dlq *full = memory_new(sizeof *full + name.len);
    full->length = name.len;
    memcpy(full->name, name.ptr, name.len);
    list_push_back(&engine->full_dlqs, &full->link);
}

static void remove_full(struct full_dlq *full) {
    list_remove(&full->link);
    free(full);
}

void room_free(struct engine *engine) {
    while (!list_empty(&engine->full_dlqs))
        remove_full(CONTAINER_OF(engine->full_dlqs.next, struct full_dlq, link));
}

static uint64_t depth_of(const struct engine *engine, const struct engine_dlq *dlq) {
    return engine->store->vtable->dlq_depth(engine->store, dlq->name);
}

static bool blocks(const struct engine_dlq *dlq) {
    return dlq && dlq->on_full == ON_FULL_BLOCK;
}

static bool is_full(const struct engine *engine, const struct engine_dlq *dlq) {
    return blocks(dlq) &&
           cap_is_full(depth_of(engine, dlq), dlq->cap, find_full(engine, dlq->name) != NULL);
}

static void note_full(struct queue *queue, const struct engine_dlq *dlq) {
    struct engine *engine = queue->engine;
    struct full_dlq *was = find_full(engine, dlq->name);
    bool full = is_full(engine, dlq);
    if (full == (was != NULL))
        return;
    if (full)
        add_full(engine, dlq->name);
    else
        remove_full(was);
    log_about(LOG_WARN, QUEUE_ABOUT(queue), "dlq %.*s %s", BYTES_ARG(dlq->name),
              full ? "is full: messages whose letters belong there wait for room"
                   : "has room again");
}

/* ---- room ---- */

static uint64_t letters_of(const struct queue *queue, struct bytes dlq, const struct attempt *but) {
    uint64_t count = 0;
    LIST_EACH(node, &queue->attempts) {
        const struct attempt *attempt = CONTAINER_OF(node, struct attempt, link);
        const struct envelope *envelope = &attempt->held->envelope;
        count += attempt != but && envelope->state == STATE_PENDING_REVIEW &&
                 bytes_eq(envelope->dlq, dlq);
    }
    return count;
}

/* Letters for this DLQ whose commit is in progress, of all queues that share it. Some of them may
 * already be in its depth: then the room seems smaller than it is, until they are settled. */
static uint64_t letters_arriving(const struct engine *engine, struct bytes dlq,
                                 const struct attempt *but) {
    uint64_t count = 0;
    for (size_t i = 0; i < engine->queue_count; i++)
        if (engine->queues[i]->settling > 0 && queue_dlq(engine->queues[i], dlq))
            count += letters_of(engine->queues[i], dlq, but);
    return count;
}

/* `but` is not counted among the letters in progress. */
static uint64_t room_in(const struct engine *engine, const struct engine_dlq *dlq,
                        const struct attempt *but) {
    if (!blocks(dlq)) /* it spills, or is no longer in the configuration */
        return UINT64_MAX;
    uint64_t depth = depth_of(engine, dlq);
    if (depth + engine->settling < dlq->cap) /* fits whatever the commits in progress add */
        return dlq->cap - depth - engine->settling;
    return cap_left(depth, letters_arriving(engine, dlq->name, but), dlq->cap,
                    is_full(engine, dlq));
}

static bool is_lacking(const struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    if (envelope->state != STATE_PENDING_REVIEW || attempt->op != STORE_UPDATE || attempt->replay ||
        attempt->purpose == PURPOSE_LATE_LETTER || attempt->purpose == PURPOSE_ROOM ||
        attempt_compensates(attempt))
        return false;
    const struct engine *engine = attempt->queue->engine;
    const struct engine_dlq *dlq = queue_dlq(attempt->queue, envelope->dlq);
    return is_full(engine, dlq) || room_in(engine, dlq, attempt) == 0;
}

/* ---- waiting ---- */

static void put_why(struct buf *out, struct bytes dlq) {
    buf_printf(out, "dlq %.*s is full", BYTES_ARG(dlq));
}

/* The reason for its letter: for a poison message, for example, its delivery count. */
static struct bytes own_why(struct bytes why, struct bytes dlq) {
    char memory[WHY_MAX];
    struct buf prefix;
    buf_init_fixed(&prefix, memory, sizeof memory);
    put_why(&prefix, dlq);
    if (!bytes_starts(why, buf_view(&prefix)))
        return why;
    struct bytes rest = {why.ptr + prefix.len, why.len - prefix.len};
    return bytes_starts(rest, BYTES("; ")) ? (struct bytes){rest.ptr + 2, rest.len - 2}
                                           : BYTES_NONE;
}

static void await(struct attempt *attempt) {
    struct envelope *envelope = &attempt->held->envelope;
    struct bytes own = own_why(envelope->why, envelope->dlq);
    char memory[WHY_MAX];
    struct buf why;
    buf_init_fixed(&why, memory, sizeof memory);
    put_why(&why, envelope->dlq);
    if (own.len > 0)
        buf_printf(&why, "; %.*s", BYTES_ARG(bytes_clip(own, WHY_MAX / 2)));
    envelope->why = arena_dup(&attempt->held->arena, buf_view(&why));
    lifecycle_defer_death(envelope); /* lifecycle_die has cleared its due time */
    queue_visit(attempt->queue);
}

/* A report that cannot be stored is refused: the reporter keeps the message. */
static void refuse_report(struct attempt *attempt) {
    struct err err;
    err_set(&err, STATUS_BUSY,
            "dlq %.*s is full; resolve or discard letters or raise its cap, then report again",
            BYTES_ARG(bytes_clip(attempt->held->envelope.dlq, 128)));
    message_free(attempt->held);
    attempt->held = NULL;
    commit_abandon(attempt, &err);
}

static bool in_commit(struct attempt *attempt) {
    if (!is_lacking(attempt))
        return false;
    if (attempt->report) {
        refuse_report(attempt);
        return true;
    }
    await(attempt);
    return false;
}

/* ---- becoming letters ---- */

/* The time of death is that of the judgement. */
static void become_letter(struct queue *queue, struct message *held) {
    struct attempt *attempt = attempt_new(queue, held);
    struct envelope *envelope = &held->envelope;
    envelope->why = own_why(envelope->why, envelope->dlq);
    judge_bury(attempt, envelope->dlq, envelope->cause, STATE_PENDING_REVIEW);
    if (envelope->last_failure_at.ms != WALL_NEVER.ms)
        envelope->dead_at = envelope->last_failure_at;
    attempt->purpose = PURPOSE_ROOM;
    judge_result(attempt, RESULT_DLQ);
    commit_decided(attempt);
}

static void feed_dlq(struct queue *queue, struct bytes dlq) {
    struct store *store = queue->engine->store;
    struct message *held[AT_ONCE];
    uint64_t most = room_in(queue->engine, queue_dlq(queue, dlq), NULL);
    if (is_full(queue->engine, queue_dlq(queue, dlq)) || queue->settling >= QUEUE_SETTLING_MAX)
        return;
    if (most > AT_ONCE)
        most = AT_ONCE;
    if (most > QUEUE_SETTLING_MAX - queue->settling)
        most = QUEUE_SETTLING_MAX - queue->settling;
    size_t count =
        most ? store->vtable->take_for_room(store, queue->number, dlq, held, (size_t)most) : 0;
    for (size_t i = 0; i < count; i++)
        become_letter(queue, held[i]);
}

void room_feed(struct queue *queue) {
    struct store *store = queue->engine->store;
    struct store_queue_counts counts;
    for (size_t i = 0; i < queue->rules.dlq_count; i++)
        note_full(queue, &queue->rules.dlqs[i]);
    store->vtable->counts(store, queue->number, &counts);
    queue->awaiting_room = counts.awaiting_room;
    if (counts.awaiting_room == 0 || queue->fenced || queue->engine->stopping ||
        queue->postponed > 0)
        return;
    struct arena arena;
    struct store_count *rooms;
    arena_init_heap(&arena, 1024);
    size_t count = store->vtable->awaiting_room(store, queue->number, &arena, &rooms);
    for (size_t i = 0; i < count; i++)
        feed_dlq(queue, rooms[i].name);
    arena_free(&arena);
}

void room_recover(struct queue *queue) {
    struct store *store = queue->engine->store;
    struct arena arena;
    struct store_count *rooms;
    arena_init_heap(&arena, 1024);
    size_t count = store->vtable->awaiting_room(store, queue->number, &arena, &rooms);
    for (size_t i = 0; i < count; i++) {
        const struct engine_dlq *dlq = queue_dlq(queue, rooms[i].name);
        if (blocks(dlq) && cap_is_full(depth_of(queue->engine, dlq), dlq->cap, true) &&
            !find_full(queue->engine, dlq->name))
            add_full(queue->engine, dlq->name);
    }
    arena_free(&arena);
}

/* ---- effects on receiving, and the view ---- */

bool room_stops_receiving(const struct queue *queue) {
    return cap_stops_receiving(queue->awaiting_room, queue->rules.concurrency);
}

size_t room_describe(const struct queue *queue, char *out, size_t size) {
    struct buf names;
    size_t count = 0;
    buf_init_fixed(&names, out, size);
    for (size_t i = 0; i < queue->rules.dlq_count; i++) {
        const struct engine_dlq *dlq = &queue->rules.dlqs[i];
        if (is_full(queue->engine, dlq))
            buf_printf(&names, "%s%.*s", count++ ? ", " : "", BYTES_ARG(dlq->name));
    }
    buf_cstr(&names);
    return count;
}

struct mono room_next_wake(const struct queue *queue) {
    bool waits = queue->awaiting_room > 0;
    for (size_t i = 0; !waits && i < queue->rules.dlq_count; i++)
        waits = find_full(queue->engine, queue->rules.dlqs[i].name) != NULL;
    return waits ? mono_after(queue->engine->now.mono, QUEUE_FULL_POLL_MS) : MONO_NEVER;
}

/* ---- the feature ---- */

const struct engine_feature room_feature = {
    .name = "room in DLQs",
    .in_commit = in_commit,
    .recover = room_recover,
    .queue_wake = room_next_wake,
    .drop = room_free,
};
