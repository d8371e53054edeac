/* One message in the engine's hands: called, answered, and let go. */
#include <string.h>

#include "core/pointer.h"
#include "engine/answer.h"
#include "engine/compensate.h"
#include "engine/body_room.h"
#include "engine/bundle.h"
#include "engine/edit.h"
#include "engine/fetch.h"
#include "engine/idempotency.h"
#include "engine/lease.h"
#include "engine/origin.h"
#include "engine/publish.h"
#include "engine/recorder.h"
#include "engine/refusal.h"
#include "engine/removal.h"
#include "engine/reply.h"
#include "engine/suspect.h"
#include "engine/tracing.h"

struct flight *flight_new(struct queue *queue, struct message *held) {
    struct flight *flight = pool_get(queue->engine->flights, sizeof *flight);
    *flight = (struct flight){.queue = queue};
    flight->held = held;
    flight->first_failure_at = held->envelope.first_failure_at;
    flight->last_failure_at = held->envelope.last_failure_at;
    flight->replay = held->envelope.letter_id.len > 0;
    queue->replays += flight->replay;
    list_init(&flight->recording);
    list_init(&flight->bundling);
    list_push_back(&queue->flights, &flight->link);
    map_insert(&queue->by_id, &flight->by_id, bytes_print(held->envelope.id));
    body_room_enter(flight);
    return flight;
}

void flight_free(struct flight *flight) {
    recorder_clear(flight->queue->engine->recorder, flight->slot);
    idempotency_release(flight);
    publish_drop(flight);
    origin_free(flight);
    refusal_forget(flight);
    removal_drop(flight);
    flight->queue->replays -= flight->replay;
    flight->queue->going -= flight->going;
    body_room_leave(flight);
    list_remove(&flight->link);
    map_remove(&flight->queue->by_id, &flight->by_id);
    list_remove(&flight->recording);
    lease_free(flight->lease);
    message_free(flight->held);
    pool_put(flight);
}

static void open_outcome(struct engine *engine, struct engine_post *post) {
    struct flight *flight = CONTAINER_OF(post, struct flight, post);
    (void)engine;
    flight->calling = false;
    question_outcome(flight);
}

static struct bytes keep(struct arena *arena, struct bytes text, size_t max) {
    return text.len ? arena_dup(arena, bytes_clip(text, max)) : BYTES_NONE;
}

/* A worker's answer to a lease is always kept: who wanted it is known only later. */
static void keep_answer(struct flight *flight, const struct outcome *outcome) {
    struct arena *arena = &flight->held->arena;
    bool wanted = flight->keeps_answer || queue_leases(flight->queue);
    size_t count = wanted ? outcome->answer_header_count : 0;
    struct rule_header *headers = count ? arena_alloc(arena, count * sizeof *headers) : NULL;
    for (size_t i = 0; i < count; i++) {
        headers[i].name = arena_dup(arena, outcome->answer_headers[i].name);
        headers[i].value = arena_dup(arena, outcome->answer_headers[i].value);
    }
    flight->outcome.answer =
        wanted ? keep(arena, outcome->answer, outcome->answer.len) : BYTES_NONE;
    flight->outcome.answer_headers = headers;
    flight->outcome.answer_header_count = count;
}

void flight_ended(struct flight *flight, const struct outcome *outcome) {
    struct arena *arena = &flight->held->arena;
    flight->outcome = *outcome;
    flight->outcome.error_type = keep(arena, outcome->error_type, OUTCOME_TYPE_MAX);
    flight->outcome.error_message = keep(arena, outcome->error_message, OUTCOME_MESSAGE_MAX);
    flight->outcome.stack_trace = keep(arena, outcome->stack_trace, outcome->stack_trace.len);
    flight->outcome.reason = keep(arena, outcome->reason, OUTCOME_TYPE_MAX);
    flight->outcome.version = keep(arena, outcome->version, OUTCOME_TYPE_MAX);
    flight->outcome.instance = keep(arena, outcome->instance, OUTCOME_TYPE_MAX);
    keep_answer(flight, outcome);
    flight->outcome.answer_type = keep(arena, outcome->answer_type, OUTCOME_TYPE_MAX);
}

/* From the handler's thread. Until the mail is read nobody else touches the flight, so its arena
 * may take the outcome's texts. */
static void on_done(struct call *call, const struct outcome *outcome) {
    struct flight *flight = CONTAINER_OF(call, struct flight, call);
    flight_ended(flight, outcome);
    engine_post(flight->queue->engine, &flight->post);
}

const struct engine_handler *flight_handler(const struct flight *flight) {
    const struct queue *queue = flight->queue;
    return compensate_is(flight) && queue->compensate ? queue->compensate
                                                      : &queue->handlers[flight->handler];
}

static void fill_call(struct flight *flight) {
    const struct envelope *envelope = &flight->held->envelope;
    flight->call = (struct call){
        .queue = flight->queue->name,
        .id = envelope->id,
        .key = envelope->key,
        .body = flight->held->body,
        .tombstone = pointer_is_tombstone(envelope->source, flight->held->body),
        .content_type = envelope->content_type,
        .attempt = envelope_tries(envelope) + 1,
        .replay = envelope->replays,
        .fallback = flight->handler,
        .first_attempt_at = envelope->first_attempt_at,
        .done = on_done,
    };
    answer_ask(flight);
    tracing_headers(flight, &flight->call.headers, &flight->call.header_count);
}

void flight_call(struct flight *flight) {
    fill_call(flight);
    if (flight_handler(flight)->edit.len)
        edit_begin(flight);
    else
        flight_start(flight);
}

void flight_start(struct flight *flight) {
    const struct engine_handler *chosen = flight_handler(flight);
    struct handler *handler = chosen->handler;
    if (chosen->batch > 1) {
        bundle_add(flight);
        return;
    }
    flight->post.open = open_outcome;
    flight->calling = true;
    handler->vtable->start(handler, &flight->call);
    if (handler->vtable->rouse && list_empty(&flight->queue->rousing))
        list_push_back(&flight->queue->engine->rousing, &flight->queue->rousing);
}

static void rouse(const struct engine_handler *chosen) {
    if (chosen->handler->vtable->rouse)
        chosen->handler->vtable->rouse(chosen->handler);
}

void flight_rouse(struct engine *engine) {
    for (struct list *node; (node = list_pop_front(&engine->rousing));) {
        const struct queue *queue = CONTAINER_OF(node, struct queue, rousing);
        for (size_t i = 0; i < queue->handler_count; i++)
            rouse(&queue->handlers[i]);
        if (queue->compensate)
            rouse(queue->compensate);
    }
}

/* What our last death cut short stands in the history, uncounted. Returns the slot that said so. */
static uint32_t note_interrupted(struct flight *flight) {
    struct recorder_entry entry;
    struct envelope *envelope = &flight->held->envelope;
    if (!recorder_claim(flight->queue->engine->recorder, flight->held->seq, &entry))
        return RECORDER_NO_SLOT;
    struct envelope_note note = {.attempt = entry.attempt,
                                 .replay = envelope->replays,
                                 .at = entry.started_at,
                                 .interrupted = true,
                                 .delay_ms = -1};
    envelope_note(envelope, &flight->held->arena, &note);
    return entry.slot;
}

void flight_hand_over(struct flight *flight, bool probe) {
    struct engine *engine = flight->queue->engine;
    struct envelope *envelope = &flight->held->envelope;
    uint32_t noted_before = note_interrupted(flight);
    flight->probe = probe;
    flight->number = ++flight->queue->begun;
    flight->started = engine->now;
    if (envelope->first_attempt_at.ms == WALL_NEVER.ms) {
        envelope->first_attempt_at = engine->now.wall;
        rate_count(&flight->queue->in, engine->now.mono);
    }
    bool leases = queue_leases(flight->queue); /* a lease is noted in the store, not here */
    flight->slot = leases ? RECORDER_NO_SLOT : suspect_note(flight);
    recorder_clear(engine->recorder, noted_before);
    flight->queue->running++;
    if (!leases)
        tracing_begin(flight);
    if (leases)
        fetch_give(flight);
    else if (envelope->compensating)
        compensate_begin(flight);
    else
        flight_call(flight);
}
