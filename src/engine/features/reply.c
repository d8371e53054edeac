#include "engine/features/reply.h"

#include <stdio.h>

#include "base/json/json.h"
#include "base/steady.h"
#include "engine/publish.h"
#include "engine/feature.h"

/* \u0001 takes six bytes for one; the members around are small. */
enum { RESULT_MAX = 8 * OUTCOME_ANSWER_MAX };

/* The work was done, but a truncated answer is useless: the message becomes a letter. */
static void refuse(struct attempt *attempt, struct bytes why) {
    attempt->outcome.ending = ENDING_FAILED;
    attempt->outcome.kind = KIND_ANSWER;
    attempt->outcome.error_type = BYTES(OUTCOME_TOO_LARGE);
    attempt->outcome.error_message = why;
}

/* ---- kept in the store ---- */

static void put_result(struct json_out *json, const struct attempt *attempt) {
    char at[INSTANT_TEXT_SIZE];
    json_open(json, '{');
    json_key(json, "id");
    json_put(json, attempt->held->envelope.id);
    json_key(json, "queue");
    json_put(json, attempt->queue->name);
    json_key(json, "content_type");
    json_put(json, attempt->outcome.answer_type.len ? attempt->outcome.answer_type : BYTES_NONE);
    envelope_put_body(json, attempt->outcome.answer_type, attempt->outcome.answer);
    json_key(json, "at");
    json_put_str(json, wall_text(attempt->queue->engine->now.wall, at));
    json_close(json, '}');
}

static void keep_for(struct attempt *attempt, struct bytes value, int64_t ms) {
    attempt->result = (struct store_keep){
        .space = SPACE_RESULT,
        .name = attempt->held->envelope.id,
        .value = value,
        .expires = {attempt->queue->engine->now.wall.ms + ms},
    };
}

void reply_copy(struct attempt *attempt, struct bytes first_id, int64_t dedupe_ms) {
    struct engine *engine = attempt->queue->engine;
    struct store *store = engine->store;
    int64_t store_ms = attempt_reply(attempt)->store_ms;
    struct bytes value;
    if (letters_note(store->letters, attempt->queue->number, SPACE_RESULT, first_id,
                     steady_wall(engine->began, engine->now), &attempt->held->arena, &value,
                     NULL) == STATUS_OK)
        keep_for(attempt, value, store_ms > 0 ? store_ms : dedupe_ms);
}

void reply_keep(struct attempt *attempt) {
    int64_t store_ms = attempt_reply(attempt)->store_ms;
    if (store_ms <= 0)
        return;
    struct buf text;
    buf_init_heap(&text, RESULT_MAX);
    struct json_out json = json_out(&text);
    put_result(&json, attempt);
    keep_for(attempt, arena_dup(&attempt->held->arena, buf_view(&text)), store_ms);
    buf_free(&text);
}

/* ---- published to a sink ---- */

/* The drain is over: the message is given back, and runs again after the restart. */
static void interrupt(struct attempt *attempt) {
    attempt->outcome = (struct outcome){.ending = ENDING_INTERRUPTED,
                                        .retry_after_ms = -1,
                                        .duration_ms = attempt->outcome.duration_ms};
    evaluate_rules(attempt);
}

static void refuse_as(struct attempt *attempt, const struct err *err) {
    char why[sizeof err->text + 64];
    snprintf(why, sizeof why, "the answer is too large for its sink: %s", err->text);
    refuse(attempt, arena_dup(&attempt->held->arena, bytes_of(why)));
}

static void published(struct attempt *attempt, bool taken, const struct err *err) {
    bool refused = !taken && publish_refused(PUBLISH_ANSWER, err);
    if (refused)
        refuse_as(attempt, err);
    if (taken || refused)
        evaluate_rules(attempt);
    else
        interrupt(attempt);
}

static bool publish_first(struct attempt *attempt, struct sink *sink) {
    struct sink_item item = {.id = attempt->held->envelope.id,
                             .body = attempt->outcome.answer,
                             .content_type = attempt->outcome.answer_type};
    publish_begin(attempt, sink, PUBLISH_ANSWER, item, published);
    return true;
}

bool reply_publishes(struct attempt *attempt) {
    struct sink *sink = attempt_reply(attempt)->sink;
    if (attempt->outcome.ending != ENDING_OK || attempt->state == ATTEMPT_REPLYING)
        return false;
    if (attempt_wants_answer(attempt) && attempt->outcome.answer.len > OUTCOME_ANSWER_MAX)
        refuse(attempt, BYTES("the answer is larger than the 4MiB that can be kept"));
    return sink && attempt->outcome.ending == ENDING_OK && publish_first(attempt, sink);
}

/* ---- the feature ---- */

const struct engine_feature reply_feature = {
    .name = "replies",
    .before_judging = reply_publishes,
    .succeeded = reply_keep,
};
