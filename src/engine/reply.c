#include "engine/reply.h"

#include <stdio.h>

#include "base/json.h"
#include "base/steady.h"
#include "engine/publish.h"

/* \u0001 is six bytes for one; what is around is small. */
enum { RESULT_MAX = 8 * OUTCOME_ANSWER_MAX };

static const struct engine_reply *reply_of(const struct flight *flight) {
    const struct queue *queue = flight->queue;
    return queue_leases(queue) ? &queue->lease_reply : &flight_handler(flight)->reply;
}

bool reply_wants_answer(const struct flight *flight) {
    return reply_of(flight)->store_ms > 0 || reply_of(flight)->sink;
}

/* The work was done, but half an answer is none: people must see it. */
static void refuse(struct flight *flight, struct bytes why) {
    flight->outcome.ending = ENDING_FAILED;
    flight->outcome.kind = KIND_ANSWER;
    flight->outcome.error_type = BYTES(OUTCOME_TOO_LARGE);
    flight->outcome.error_message = why;
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
    if (letters_note(store->letters, flight->queue->number, SPACE_RESULT, first_id,
                     steady_wall(engine->began, engine->now), &flight->held->arena, &value,
                     NULL) == STATUS_OK)
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

/* The drain is over: it is handed back, and runs again in our next life. */
static void interrupt(struct flight *flight) {
    flight->outcome = (struct outcome){.ending = ENDING_INTERRUPTED,
                                       .retry_after_ms = -1,
                                       .duration_ms = flight->outcome.duration_ms};
    question_outcome(flight);
}

static void refuse_as(struct flight *flight, const struct err *err) {
    char why[sizeof err->text + 64];
    snprintf(why, sizeof why, "the answer is too large for its sink: %s", err->text);
    refuse(flight, arena_dup(&flight->held->arena, bytes_of(why)));
}

static void published(struct flight *flight, bool taken, const struct err *err) {
    bool refused = !taken && publish_refused(PUBLISH_ANSWER, err);
    flight->published = taken;
    if (refused)
        refuse_as(flight, err);
    if (taken || refused)
        question_outcome(flight);
    else
        interrupt(flight);
}

static bool publish_first(struct flight *flight, struct sink *sink) {
    struct sink_item item = {.id = flight->held->envelope.id,
                             .body = flight->outcome.answer,
                             .content_type = flight->outcome.answer_type};
    publish_begin(flight, sink, PUBLISH_ANSWER, item, published);
    return true;
}

bool reply_publishes(struct flight *flight) {
    struct sink *sink = reply_of(flight)->sink;
    if (flight->outcome.ending != ENDING_OK || flight->published)
        return false;
    if (reply_wants_answer(flight) && flight->outcome.answer.len > OUTCOME_ANSWER_MAX)
        refuse(flight, BYTES("the answer is larger than the 4MiB that can be kept"));
    return sink && flight->outcome.ending == ENDING_OK && publish_first(flight, sink);
}
