#include "engine/origin.h"

#include <stdio.h>

#include "core/comeback.h"
#include "core/lifecycle.h"
#include "core/pointer.h"
#include "engine/body_room.h"
#include "engine/intake.h"
#include "engine/publish.h"

enum {
    ORIGIN_HOLD_FIRST_MS = 100, /* after an origin that took nothing; doubles … */
    ORIGIN_HOLD_LAST_MS = 5000, /* … up to this */
    ORIGIN_LOOK_MS = 200,       /* before one that cannot go or come yet is looked at again */
    ORIGIN_WHY_MAX = 255,       /* bytes, of … */
    ORIGIN_WORDS_MAX = 1024,    /* … what a sink said, and our words before it */
};

/* ---- going ---- */

/* What a sink says for good; it may take at another time what it refuses with any other. */
static bool is_final(enum status status) {
    return status == STATUS_NOT_FOUND || status == STATUS_INVALID || status == STATUS_TOO_LARGE ||
           status == STATUS_CONFLICT || status == STATUS_NOT_YET;
}

/* Those that fail together hold up what follows once. */
static struct mono hold(struct queue *queue) {
    struct mono now = queue->engine->now.mono;
    if (now.ms >= queue->origin_hold.ms) {
        queue->origin_hold_ms = queue->origin_hold_ms
                                    ? duration_doubled(queue->origin_hold_ms, ORIGIN_HOLD_LAST_MS)
                                    : ORIGIN_HOLD_FIRST_MS;
        queue->origin_hold = mono_after(now, queue->origin_hold_ms);
    }
    return queue->origin_hold;
}

/* It stays `replaying`, in the store, which gives it again. */
static void wait_in_store(struct flight *flight) {
    struct queue *queue = flight->queue;
    struct store *store = queue->engine->store;
    struct message *held = flight->held;
    flight->held = NULL;
    flight_free(flight);
    store->vtable->give_back(store, held, hold(queue));
    queue_visit(queue);
}

/* It was not sent, and is where it was. */
static void refuse(struct flight *flight, const char *words) {
    struct envelope *envelope = &flight->held->envelope;
    struct buf why;
    buf_init_heap(&why, ORIGIN_WORDS_MAX);
    buf_printf(&why, "it could not be sent to its origin: %s", words);
    envelope->why = arena_dup(&flight->held->arena, bytes_clip(buf_view(&why), ORIGIN_WHY_MAX));
    buf_free(&why);
    lifecycle_recall(envelope);
    envelope->to_origin = false;
    envelope->replays--;
    flight->op = STORE_UPDATE;
    record_decided(flight);
}

static void published(struct flight *flight, bool taken, const struct err *err) {
    if (taken) {
        flight->queue->origin_hold_ms = 0;
        judge_end(flight, RESOLUTION_REPLAYED);
        record_decided(flight);
    } else if (is_final(err->status)) {
        refuse(flight, err->text);
    } else {
        wait_in_store(flight);
    }
}

static void publish(struct flight *flight) {
    const struct engine_options *options = &flight->queue->engine->options;
    struct message *held = flight->held;
    const struct envelope *envelope = &held->envelope;
    struct sink *sink = options->origin ? options->origin(options->origin_arg, envelope) : NULL;
    if (!sink) {
        refuse(flight, "no source or adopt entry of the configuration leads there any more");
        return;
    }
    struct json origin;
    bool known = pointer_origin(envelope->source, &origin);
    struct sink_item item = {.id = publish_round(flight, ""),
                             .body = held->body,
                             .key = envelope->key,
                             .content_type = envelope->content_type,
                             .origin = known ? origin.text : envelope->source};
    item.header_count = comeback_headers(envelope, &held->arena, &item.headers);
    publish_once(flight, sink, PUBLISH_ORIGIN, item, published);
}

/* A kill sends twice what is on its way: no more than the concurrency (SEMANTICS 12.2). */
void origin_send(struct queue *queue, struct message *held) {
    struct store *store = queue->engine->store;
    if (queue->going >= queue->rules.concurrency) {
        store->vtable->give_back(store, held, mono_after(queue->engine->now.mono, ORIGIN_LOOK_MS));
        return;
    }
    struct flight *flight = flight_new(queue, held);
    flight->going = true;
    queue->going++;
    publish(flight);
}

/* ---- coming back ---- */

/* The letter that a flight's message is, and the message as it came. */
struct returning {
    struct message *letter;
    struct envelope came;
};

static void hand_back_soon(struct queue *queue, struct message *held) {
    struct instant now = queue->engine->now;
    queue->broker->vtable->hand_back(
        queue->broker, held, (struct instant){now.wall, mono_after(now.mono, ORIGIN_LOOK_MS)});
}

/* A round begins, as with any replay; its number was counted when it was sent. */
static struct envelope next_round(const struct envelope *letter, const struct message *held,
                                  struct arena *arena, struct wall now) {
    struct envelope envelope = *letter;
    comeback_join(&envelope, &held->envelope, arena);
    lifecycle_come_back(&envelope, now);
    envelope.attempts = 0;
    envelope.max_attempts = 0;
    envelope.crashes = 0;
    envelope.probes = 0;
    envelope.replayed_at = now;
    envelope.closes_key = false; /* it was let through when it was sent */
    return envelope;
}

/* Durable as that letter, then settled at its source; the store gives it when it is due. */
static void take_up(struct queue *queue, struct message *held, struct message *letter) {
    struct flight *flight = flight_new(queue, held);
    struct returning *returning = arena_alloc(&held->arena, sizeof *returning);
    *returning = (struct returning){letter, held->envelope};
    flight->returning = returning;
    held->envelope = next_round(&letter->envelope, held, &held->arena, queue->engine->now.wall);
    held->seq = letter->seq;
    flight->op = STORE_UPDATE;
    flight->arriving = true;
    queue->arriving++;
    record_decided(flight);
}

bool origin_comes_back(struct queue *queue, struct message *held) {
    struct store *store = queue->engine->store;
    const struct envelope *envelope = &held->envelope;
    struct comeback comeback;
    struct message *letter = NULL;
    struct err err;
    if (!comeback_read(envelope->headers, envelope->header_count, &comeback) ||
        letters_get(store->letters, queue->name, comeback.letter, &letter, &err) != STATUS_OK)
        return false;
    switch (comeback_judge(&comeback, &letter->envelope, queue->name,
                           bytes_eq(letter->body, held->body))) {
    case COMEBACK_SAME:
        take_up(queue, held, letter);
        return true;
    case COMEBACK_HELD:
        intake_settle_copy(queue, held);
        break;
    case COMEBACK_EARLY:
        hand_back_soon(queue, held);
        break;
    case COMEBACK_STRANGER:
        message_free(letter);
        return false;
    }
    message_free(letter);
    return true;
}

void origin_put_off(struct flight *flight) {
    struct message *held = flight->held;
    held->envelope = flight->returning->came;
    held->seq = 0;
    origin_free(flight);
    flight->held = NULL;
    hand_back_soon(flight->queue, held);
}

void origin_free(struct flight *flight) {
    if (flight->returning)
        message_free(flight->returning->letter);
    flight->returning = NULL;
}

/* ---- queues that are not ours ---- */

static size_t receive_nothing(struct broker *broker, struct instant now, struct message **out,
                              size_t max) {
    (void)broker, (void)now, (void)out, (void)max;
    return 0;
}

static void settle_nothing(struct broker *broker, struct message *held) {
    (void)broker, (void)held;
}

static const struct broker_vtable no_broker = {
    .kind = "none", .receive = receive_nothing, .settle = settle_nothing};
struct broker origin_no_broker = {&no_broker};

/* What else is due there waits until its queue is in the configuration again. */
void origin_feed(struct queue *queue) {
    struct engine *engine = queue->engine;
    struct store *store = engine->store;
    struct message *held;
    while (queue->going < queue->rules.concurrency && body_room(queue) &&
           store->vtable->take(store, queue->number, TAKE_DUE, engine->now, &held, 1)) {
        if (held->envelope.to_origin)
            origin_send(queue, held);
        else
            store->vtable->give_back(store, held, MONO_NEVER);
    }
}

struct mono origin_next_wake(const struct queue *queue) {
    struct store *store = queue->engine->store;
    return queue->going < queue->rules.concurrency
               ? store->vtable->next_ready(store, queue->number, TAKE_DUE)
               : MONO_NEVER;
}
