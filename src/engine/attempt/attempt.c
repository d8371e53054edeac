/* One message in the engine: called, answered and freed. */
#include <assert.h>
#include <string.h>

#include "core/pointer.h"
#include "engine/attempt/answer.h"
#include "engine/attempt/body_room.h"
#include "engine/features/call_batch.h"
#include "engine/attempt/edit.h"
#include "engine/publish.h"
#include "engine/attempt/attempt_log.h"
#include "engine/feature.h"

struct attempt *attempt_new(struct queue *queue, struct message *held) {
    struct attempt *attempt = pool_get(queue->engine->attempts, sizeof *attempt);
    *attempt = (struct attempt){.queue = queue, .post = {.open = queue->engine->advance}};
    attempt->held = held;
    attempt->first_failure_at = held->envelope.first_failure_at;
    attempt->last_failure_at = held->envelope.last_failure_at;
    attempt->replay = held->envelope.letter_id.len > 0;
    queue->replays += attempt->replay;
    list_init(&attempt->recording);
    list_init(&attempt->batching);
    list_push_back(&queue->attempts, &attempt->link);
    map_insert(&queue->by_id, &attempt->by_id, bytes_print(held->envelope.id));
    body_room_enter(attempt);
    return attempt;
}

void attempt_free(struct attempt *attempt) {
    attempt_log_clear(attempt->queue->engine->attempt_log, attempt->slot);
    FEATURES_TELL(freed, attempt);
    publish_drop(attempt);
    attempt->queue->replays -= attempt->replay;
    attempt->queue->going -= attempt->purpose == PURPOSE_TO_ORIGIN;
    body_room_leave(attempt);
    list_remove(&attempt->link);
    map_remove(&attempt->queue->by_id, &attempt->by_id);
    list_remove(&attempt->recording);
    message_free(attempt->held);
    pool_put(attempt);
}

static struct bytes keep(struct arena *arena, struct bytes text, size_t max) {
    return text.len ? arena_dup(arena, bytes_clip(text, max)) : BYTES_NONE;
}

/* A worker's answer to a lease is always kept, because it is decided only later whether it is
 * needed. */
static void keep_answer(struct attempt *attempt, const struct outcome *outcome) {
    struct arena *arena = &attempt->held->arena;
    bool wanted = attempt->notes_answer || queue_leases(attempt->queue);
    size_t count = wanted ? outcome->answer_header_count : 0;
    struct rule_header *headers = count ? arena_alloc(arena, count * sizeof *headers) : NULL;
    for (size_t i = 0; i < count; i++) {
        headers[i].name = arena_dup(arena, outcome->answer_headers[i].name);
        headers[i].value = arena_dup(arena, outcome->answer_headers[i].value);
    }
    attempt->outcome.answer =
        wanted ? keep(arena, outcome->answer, outcome->answer.len) : BYTES_NONE;
    attempt->outcome.answer_headers = headers;
    attempt->outcome.answer_header_count = count;
}

void attempt_ended(struct attempt *attempt, const struct outcome *outcome) {
    struct arena *arena = &attempt->held->arena;
    attempt->outcome = *outcome;
    attempt->outcome.error_type = keep(arena, outcome->error_type, OUTCOME_TYPE_MAX);
    attempt->outcome.error_message = keep(arena, outcome->error_message, OUTCOME_MESSAGE_MAX);
    attempt->outcome.stack_trace = keep(arena, outcome->stack_trace, outcome->stack_trace.len);
    attempt->outcome.reason = keep(arena, outcome->reason, OUTCOME_TYPE_MAX);
    attempt->outcome.version = keep(arena, outcome->version, OUTCOME_TYPE_MAX);
    attempt->outcome.instance = keep(arena, outcome->instance, OUTCOME_TYPE_MAX);
    keep_answer(attempt, outcome);
    attempt->outcome.answer_type = keep(arena, outcome->answer_type, OUTCOME_TYPE_MAX);
}

/* Runs on the handler's thread. No other thread touches the attempt until the engine opens the
 * post, so its arena may take the outcome's texts. */
static void on_done(struct call *call, const struct outcome *outcome) {
    struct attempt *attempt = CONTAINER_OF(call, struct attempt, call);
    attempt_ended(attempt, outcome);
    engine_post(attempt->queue->engine, &attempt->post);
}

static void fill_call(struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    attempt->call = (struct call){
        .queue = attempt->queue->name,
        .id = envelope->id,
        .key = envelope->key,
        .body = attempt->held->body,
        .tombstone = pointer_is_tombstone(envelope->source, attempt->held->body),
        .content_type = envelope->content_type,
        .headers = envelope->headers,
        .header_count = envelope->header_count,
        .attempt = envelope_tries(envelope) + 1,
        .replay = envelope->replays,
        .fallback = attempt->handler,
        .first_attempt_at = envelope->first_attempt_at,
        .done = on_done,
    };
    answer_ask(attempt);
    FEATURES_TELL(fill_call, attempt);
}

void attempt_call(struct attempt *attempt) {
    if (FEATURES_ANY(before_call, attempt))
        return;
    fill_call(attempt);
    if (attempt_handler(attempt)->edit.len)
        edit_begin(attempt);
    else
        attempt_start(attempt);
}

void attempt_start(struct attempt *attempt) {
    const struct engine_handler *chosen = attempt_handler(attempt);
    struct handler *handler = chosen->handler;
    if (FEATURES_ANY(before_start, attempt))
        return;
    attempt_to(attempt, ATTEMPT_CALLING);
    handler->vtable->start(handler, &attempt->call);
    if (handler->vtable->rouse && list_empty(&attempt->queue->rousing))
        list_push_back(&attempt->queue->engine->rousing, &attempt->queue->rousing);
}

static void rouse(const struct engine_handler *chosen) {
    if (chosen->handler->vtable->rouse)
        chosen->handler->vtable->rouse(chosen->handler);
}

void attempt_rouse(struct engine *engine) {
    for (struct list *node; (node = list_pop_front(&engine->rousing));) {
        const struct queue *queue = CONTAINER_OF(node, struct queue, rousing);
        for (size_t i = 0; i < queue->handler_count; i++)
            rouse(&queue->handlers[i]);
        if (queue->compensate)
            rouse(queue->compensate);
    }
}

/* Adds an attempt that a crash interrupted to the history, uncounted. Returns its slot in the
 * attempt log. */
static uint32_t note_interrupted(struct attempt *attempt) {
    struct attempt_log_entry entry;
    struct envelope *envelope = &attempt->held->envelope;
    if (!attempt_log_claim(attempt->queue->engine->attempt_log, attempt->held->seq, &entry))
        return ATTEMPT_LOG_NO_SLOT;
    struct envelope_note note = {.attempt = entry.attempt,
                                 .replay = envelope->replays,
                                 .at = entry.started_at,
                                 .interrupted = true,
                                 .delay_ms = -1};
    envelope_note(envelope, &attempt->held->arena, &note);
    return entry.slot;
}

void attempt_hand_over(struct attempt *attempt, bool probe) {
    struct engine *engine = attempt->queue->engine;
    struct envelope *envelope = &attempt->held->envelope;
    uint32_t noted_before = note_interrupted(attempt);
    attempt->probe = probe;
    attempt->number = ++attempt->queue->begun;
    attempt->started = engine->now;
    if (envelope->first_attempt_at.ms == WALL_NEVER.ms) {
        envelope->first_attempt_at = engine->now.wall;
        rate_count(&attempt->queue->in, engine->now.mono);
    }
    attempt->slot = ATTEMPT_LOG_NO_SLOT;
    FEATURES_TELL(prepare, attempt);
    attempt_log_clear(engine->attempt_log, noted_before);
    attempt->queue->running++;
    attempt_call(attempt);
}
