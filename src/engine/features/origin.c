#include "engine/features/origin.h"

#include <stdio.h>

#include "core/comeback.h"
#include "core/lifecycle.h"
#include "core/pointer.h"
#include "engine/attempt/body_room.h"
#include "engine/receive.h"
#include "engine/source.h"
#include "engine/publish.h"
#include "engine/feature.h"

enum {
    ORIGIN_HOLD_FIRST_MS = 100, /* first backoff after an origin refused a letter; doubles … */
    ORIGIN_HOLD_LAST_MS = 5000, /* … up to this */
    /* Before a letter that cannot be sent or received yet is checked again. */
    ORIGIN_LOOK_MS = 200,
    ORIGIN_WHY_MAX = 255,    /* bytes of the reason … */
    ORIGIN_WORDS_MAX = 1024, /* … and of a sink's text with our own before it */
};

/* ---- sending ---- */

/* True if the sink will never take the letter; after any other status it may later. */
static bool is_final(enum status status) {
    return status == STATUS_NOT_FOUND || status == STATUS_INVALID || status == STATUS_TOO_LARGE ||
           status == STATUS_CONFLICT || status == STATUS_NOT_YET;
}

/* Several failures at the same time raise the backoff once. */
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

/* The letter stays `replaying` in the store, which returns it when it is due. */
static void wait_in_store(struct attempt *attempt) {
    struct queue *queue = attempt->queue;
    struct store *store = queue->engine->store;
    struct message *held = attempt->held;
    attempt->held = NULL;
    attempt_free(attempt);
    store->vtable->give_back(store, held, hold(queue));
    queue_visit(queue);
}

/* The letter was not sent, and goes back to its former state. */
static void refuse(struct attempt *attempt, const char *words) {
    struct envelope *envelope = &attempt->held->envelope;
    struct buf why;
    buf_init_heap(&why, ORIGIN_WORDS_MAX);
    buf_printf(&why, "it could not be sent to its origin: %s", words);
    envelope->why = arena_dup(&attempt->held->arena, bytes_clip(buf_view(&why), ORIGIN_WHY_MAX));
    buf_free(&why);
    lifecycle_recall(envelope);
    envelope->to_origin = false;
    envelope->replays--;
    attempt->op = STORE_UPDATE;
    commit_decided(attempt);
}

static void published(struct attempt *attempt, bool taken, const struct err *err) {
    if (taken) {
        attempt->queue->origin_hold_ms = 0;
        judge_end(attempt, RESOLUTION_REPLAYED);
        commit_decided(attempt);
    } else if (is_final(err->status)) {
        refuse(attempt, err->text);
    } else {
        wait_in_store(attempt);
    }
}

static void publish(struct attempt *attempt) {
    const struct engine_options *options = &attempt->queue->engine->options;
    struct message *held = attempt->held;
    const struct envelope *envelope = &held->envelope;
    struct sink *sink = options->origin ? options->origin(options->origin_arg, envelope) : NULL;
    if (!sink) {
        refuse(attempt, "no source or adopt entry of the configuration leads there any more");
        return;
    }
    struct json origin;
    bool known = pointer_origin(envelope->source, &origin);
    struct sink_item item = {.id = publish_round(attempt, ""),
                             .body = held->body,
                             .key = envelope->key,
                             .content_type = envelope->content_type,
                             .origin = known ? origin.text : envelope->source};
    item.header_count = comeback_headers(envelope, &held->arena, &item.headers);
    publish_once(attempt, sink, PUBLISH_ORIGIN, item, published);
}

/* A crash publishes letters in flight twice: no more of them than the concurrency (SEMANTICS 12.2).
 */
void origin_send(struct queue *queue, struct message *held) {
    struct store *store = queue->engine->store;
    if (queue->going >= queue->rules.concurrency) {
        store->vtable->give_back(store, held, mono_after(queue->engine->now.mono, ORIGIN_LOOK_MS));
        return;
    }
    struct attempt *attempt = attempt_new(queue, held);
    attempt->purpose = PURPOSE_TO_ORIGIN;
    queue->going++;
    publish(attempt);
}

/* ---- coming back ---- */

/* The letter that an attempt's message belongs to, and the message as received. */
struct returning {
    struct message *letter;
    struct envelope came;
};

static void hand_back_soon(struct queue *queue, struct message *held) {
    struct instant now = queue->engine->now;
    queue->broker->vtable->hand_back(
        queue->broker, held, (struct instant){now.wall, mono_after(now.mono, ORIGIN_LOOK_MS)});
}

/* A round begins, as with any replay; its number was counted when the letter was sent. */
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
    envelope.closes_key = false; /* the key was opened when the letter was sent */
    return envelope;
}

/* Recorded as that letter, then acknowledged at its source; the store returns it when it is due. */
static void take_up(struct queue *queue, struct message *held, struct message *letter) {
    struct attempt *attempt = attempt_new(queue, held);
    struct returning *returning = arena_alloc(&held->arena, sizeof *returning);
    *returning = (struct returning){letter, held->envelope};
    attempt->returning = returning;
    held->envelope = next_round(&letter->envelope, held, &held->arena, queue->engine->now.wall);
    held->seq = letter->seq;
    attempt->op = STORE_UPDATE;
    attempt->purpose = PURPOSE_COME_BACK;
    queue->arriving++;
    commit_decided(attempt);
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
        source_settle_copy(queue, held);
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

void origin_put_off(struct attempt *attempt) {
    struct message *held = attempt->held;
    held->envelope = attempt->returning->came;
    held->seq = 0;
    origin_free(attempt);
    attempt->held = NULL;
    hand_back_soon(attempt->queue, held);
}

void origin_free(struct attempt *attempt) {
    if (attempt->returning)
        message_free(attempt->returning->letter);
    attempt->returning = NULL;
}

/* ---- queues in no configuration ---- */

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

/* Other due messages wait until their queue is in the configuration again. */
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

/* ---- the feature ---- */

static bool keeps_source(struct attempt *attempt) {
    if (!attempt->returning || !attempt->skipped)
        return false;
    origin_put_off(attempt);
    return true;
}

const struct engine_feature origin_feature = {
    .name = "origin",
    .keeps_source = keeps_source,
    .freed = origin_free,
};
