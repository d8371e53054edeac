#include "engine/reply.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"

enum {
    PUBLISH_RETRY_FIRST_MS = 100,        /* after a sink that took nothing; doubles … */
    PUBLISH_RETRY_LAST_MS = 5000,        /* … up to this */
    RESULT_MAX = 8 * OUTCOME_ANSWER_MAX, /* \u0001 is six bytes for one; what is around is small */
};

struct publication {
    struct sink_item item;
    struct sink *sink;
    struct flight *flight;
    struct heap_node again; /* in engine->publications while it waits */
    int64_t retry_ms;
    bool taken;
    struct err err;
};

static const struct engine_reply *reply_of(const struct flight *flight) {
    const struct queue *queue = flight->queue;
    return queue_leases(queue) ? &queue->lease_reply : &flight_handler(flight)->reply;
}

bool reply_wants_answer(const struct flight *flight) {
    return reply_of(flight)->store_ms > 0 || reply_of(flight)->sink;
}

/* The work was done, but half an answer is none: people must see it. */
static void refuse(struct flight *flight) {
    flight->outcome.ending = ENDING_FAILED;
    flight->outcome.kind = KIND_ANSWER;
    flight->outcome.error_type = BYTES("answer_too_large");
    flight->outcome.error_message = BYTES("the answer is larger than the 4MiB that can be kept");
}

/* ---- kept in the store ---- */

static void put_result(struct json_out *json, const struct flight *flight) {
    char at[INSTANT_TEXT_SIZE];
    json_open(json, '{');
    json_key(json, "id");
    json_put(json, flight->held->envelope.id);
    json_key(json, "queue");
    json_put(json, flight->queue->name);
    json_key(json, "content_type");
    json_put(json, flight->outcome.answer_type.len ? flight->outcome.answer_type : BYTES_NONE);
    envelope_put_body(json, flight->outcome.answer_type, flight->outcome.answer);
    json_key(json, "at");
    json_put_str(json, wall_text(flight->queue->engine->now.wall, at));
    json_close(json, '}');
}

static void keep_for(struct flight *flight, struct bytes value, int64_t ms) {
    flight->result = (struct store_keep){
        .space = SPACE_RESULT,
        .name = flight->held->envelope.id,
        .value = value,
        .expires = {flight->queue->engine->now.wall.ms + ms},
    };
}

void reply_copy(struct flight *flight, struct bytes first_id, int64_t dedupe_ms) {
    struct engine *engine = flight->queue->engine;
    struct store *store = engine->store;
    int64_t store_ms = reply_of(flight)->store_ms;
    struct bytes value;
    if (store->vtable->kept(store, flight->queue->number, SPACE_RESULT, first_id, engine->now.wall,
                            &flight->held->arena, &value, NULL) == STATUS_OK)
        keep_for(flight, value, store_ms > 0 ? store_ms : dedupe_ms);
}

void reply_keep(struct flight *flight) {
    int64_t store_ms = reply_of(flight)->store_ms;
    if (store_ms <= 0)
        return;
    struct buf text;
    buf_init_heap(&text, RESULT_MAX);
    struct json_out json = json_out(&text);
    put_result(&json, flight);
    keep_for(flight, arena_dup(&flight->held->arena, buf_view(&text)), store_ms);
    buf_free(&text);
}

/* ---- published to a sink ---- */

static void publish(struct publication *publication) {
    publication->sink->vtable->publish(publication->sink, &publication->item);
}

/* Told once when it begins and once when it is over, not for every answer. */
static void note_trouble(struct queue *queue, const struct publication *publication) {
    if (!publication->taken && !queue->reply_trouble)
        log_error("queue %.*s: an answer could not be published, trying again: %s",
                  BYTES_ARG(queue->name), publication->err.text);
    if (publication->taken && queue->reply_trouble)
        log_info("queue %.*s: answers are published again", BYTES_ARG(queue->name));
    queue->reply_trouble = !publication->taken;
}

static void wait_a_little(struct engine *engine, struct publication *publication) {
    publication->again.at = mono_after(engine->now.mono, publication->retry_ms).ms;
    publication->again.tie = publication->flight->held->seq;
    publication->retry_ms = duration_doubled(publication->retry_ms, PUBLISH_RETRY_LAST_MS);
    heap_insert(&engine->publications, &publication->again);
}

/* The drain is over: it is handed back, and runs again in our next life. */
static void interrupt(struct flight *flight) {
    flight->publication = NULL;
    flight->outcome = (struct outcome){.ending = ENDING_INTERRUPTED,
                                       .retry_after_ms = -1,
                                       .duration_ms = flight->outcome.duration_ms};
    question_outcome(flight);
}

static void open_published(struct engine *engine, struct engine_post *post) {
    struct flight *flight = CONTAINER_OF(post, struct flight, post);
    struct publication *publication = flight->publication;
    note_trouble(flight->queue, publication);
    if (publication->taken) {
        flight->publication = NULL;
        flight->published = true;
        question_outcome(flight);
    } else if (engine->cancelled) {
        interrupt(flight);
    } else {
        wait_a_little(engine, publication);
    }
}

static void on_done(struct sink_item *item, enum status status, const struct err *err) {
    struct publication *publication = CONTAINER_OF(item, struct publication, item);
    publication->taken = status == STATUS_OK;
    if (!publication->taken)
        publication->err = *err;
    engine_post(publication->flight->queue->engine, &publication->flight->post);
}

static bool publish_first(struct flight *flight, struct sink *sink) {
    struct publication *publication = arena_alloc(&flight->held->arena, sizeof *publication);
    *publication = (struct publication){.item = {.id = flight->held->envelope.id,
                                                 .body = flight->outcome.answer,
                                                 .content_type = flight->outcome.answer_type,
                                                 .done = on_done},
                                        .sink = sink,
                                        .flight = flight,
                                        .retry_ms = PUBLISH_RETRY_FIRST_MS};
    flight->publication = publication;
    flight->post.open = open_published;
    publish(publication);
    return true;
}

bool reply_publishes(struct flight *flight) {
    struct sink *sink = reply_of(flight)->sink;
    if (flight->outcome.ending != ENDING_OK || flight->published)
        return false;
    if (flight->outcome.answer.len > OUTCOME_ANSWER_MAX)
        refuse(flight);
    return sink && flight->outcome.ending == ENDING_OK && publish_first(flight, sink);
}

void reply_again(struct engine *engine) {
    struct heap_node *node;
    while ((node = heap_first(&engine->publications)) &&
           (node->at <= engine->now.mono.ms || engine->cancelled)) {
        struct publication *publication = CONTAINER_OF(node, struct publication, again);
        heap_remove(&engine->publications, node);
        if (engine->cancelled)
            interrupt(publication->flight);
        else
            publish(publication);
    }
}

struct mono reply_next(const struct engine *engine) {
    return heap_next(&engine->publications);
}

void reply_drop(struct flight *flight) {
    if (flight->publication)
        heap_remove(&flight->queue->engine->publications, &flight->publication->again);
}
