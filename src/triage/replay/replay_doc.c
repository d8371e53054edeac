/* replay_doc: a replay as JSON. The API shows the same text that is stored and read after a
 * restart. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/json/json_member.h"
#include "triage/replay/replay_state.h"

enum { DOC_MAX = 16 << 20, RATE_SIZE = 64 };

/* ---- writing ---- */

static void put_progress(struct json_out *json, const struct replay *replay) {
    const struct replay_counts *counts = &replay->counts;
    json_member_number(json, "selected", replay->selected);
    json_member_number(json, "sent", replay_sent(counts));
    json_member_number(json, "resolved", counts->by[REPLAYED_RESOLVED]);
    json_member_number(json, "failed", counts->by[REPLAYED_FAILED]);
    json_member_number(json, "skipped", replay_skipped(counts));
    json_key(json, "outcomes");
    json_open(json, '{');
    for (int i = 0; i < REPLAY_OUTCOME_COUNT; i++)
        if (counts->by[i] > 0)
            json_member_number(json, replay_outcome_text((enum replay_outcome)i), counts->by[i]);
    json_close(json, '}');
}

/* The order in which the limit selected letters; none: no limit. */
static struct bytes order_text(const struct selection *selection) {
    if (selection->limit == 0)
        return BYTES_NONE;
    return selection_oldest_first(selection) ? BYTES("oldest") : BYTES("newest");
}

void replay_doc_put_order(struct json_out *json, const struct replay_order *order) {
    char memory[RATE_SIZE];
    struct buf rate;
    buf_init_fixed(&rate, memory, sizeof memory);
    replay_rate_put(&order->rate, &rate);
    json_key(json, "filter");
    if (order->selection.as_json.len > 0)
        json_put_raw(json, order->selection.as_json);
    else
        json_put_null(json);
    json_key(json, "limit");
    if (order->selection.limit > 0)
        json_put_i64(json, (int64_t)order->selection.limit);
    else
        json_put_null(json);
    json_member_text(json, "order", order_text(&order->selection));
    json_member_text(json, "edit", order->edit);
    json_member_text(json, "to", order->to);
    json_member_text(json, "rate", buf_view(&rate));
    json_key(json, "canary");
    json_open(json, '[');
    for (size_t i = 0; i < order->canary_count; i++)
        json_put_i64(json, order->canary[i]);
    json_close(json, ']');
    json_key(json, "ramp");
    json_put_bool(json, order->ramp);
    json_key(json, "abort");
    json_put_bool(json, order->guarded);
    json_member_text(json, "stale", order->send_stale ? BYTES("send") : BYTES("skip"));
    json_member_text(json, "when_version", order->when_version);
    json_member_text(json, "who", order->who);
    json_member_text(json, "order_why", order->why);
}

void replay_doc_put(const struct replay *replay, struct buf *out) {
    assert(replay->id[0] != '\0');
    struct json_out json = json_out(out);
    json_open(&json, '{');
    json_member_text(&json, "id", bytes_of(replay->id));
    json_member_text(&json, "state", bytes_of(replay_state_text(replay->state)));
    json_member_text(&json, "why", bytes_of(replay->why));
    put_progress(&json, replay);
    json_member_time(&json, "created_at", replay->created_at);
    json_member_time(&json, "started_at", replay->started_at);
    json_member_time(&json, "ended_at", replay->ended_at);
    replay_doc_put_order(&json, &replay->order);
    json_member_names(&json, "queues", replay->queues, replay->queue_count);
    json_member_names(&json, "dlqs", replay->dlqs, replay->dlq_count);
    json_close(&json, '}');
}

/* ---- reading ---- */

struct replay_reading {
    struct json object;
    struct replay *replay;
};

static struct bytes text_at(const struct replay_reading *reading, const char *key) {
    struct json value;
    struct bytes text = BYTES_NONE;
    if (json_get(reading->object, key, &value))
        json_string(value, &reading->replay->arena, &text);
    return text.ptr ? arena_dup(&reading->replay->arena, text) : BYTES_NONE;
}

static struct wall time_at(const struct replay_reading *reading, const char *key) {
    struct wall at = WALL_NEVER;
    struct bytes text = text_at(reading, key);
    return text.ptr && wall_parse(text, &at) ? at : WALL_NEVER;
}

static void read_names(const struct replay_reading *reading, const char *key, struct bytes *names,
                       size_t *count) {
    struct json array;
    struct bytes name;
    if (!json_get(reading->object, key, &array))
        return;
    for (struct json_walk walk = json_walk(array); json_step(&walk);)
        if (json_string(walk.value, &reading->replay->arena, &name))
            replay_add_name(reading->replay, names, count, name);
}

static void read_canary(const struct replay_reading *reading, struct replay_order *order) {
    struct json array;
    int64_t number;
    order->canary_count = 0;
    if (!json_get(reading->object, "canary", &array))
        return;
    for (struct json_walk walk = json_walk(array); json_step(&walk);)
        if (order->canary_count < REPLAY_STAGES_MAX && json_i64(walk.value, &number) &&
            number > 0 && number <= UINT32_MAX)
            order->canary[order->canary_count++] = (uint32_t)number;
}

static bool read_order(const struct replay_reading *reading, struct replay_order *order) {
    struct json value;
    int64_t number;
    replay_order_init(order);
    if (json_get(reading->object, "filter", &value) && value.type == JSON_OBJECT)
        order->selection.as_json = arena_dup(&reading->replay->arena, value.text);
    if (json_get(reading->object, "limit", &value) && json_i64(value, &number) && number > 0)
        order->selection.limit = (uint64_t)number;
    /* Replays of earlier versions selected the newest letters, and all were guarded. */
    order->selection.newest = !bytes_is(text_at(reading, "order"), "oldest");
    if (json_get(reading->object, "abort", &value))
        json_bool(value, &order->guarded);
    order->edit = text_at(reading, "edit");
    order->to = text_at(reading, "to");
    order->when_version = text_at(reading, "when_version");
    order->who = text_at(reading, "who");
    order->why = text_at(reading, "order_why");
    order->send_stale = bytes_is(text_at(reading, "stale"), "send");
    read_canary(reading, order);
    return json_get(reading->object, "ramp", &value) && json_bool(value, &order->ramp) &&
           replay_rate_parse(text_at(reading, "rate"), &order->rate);
}

enum status replay_doc_read(struct bytes json, struct replay *replay, struct err *err) {
    struct replay_reading reading = {.replay = replay};
    struct json selected;
    int64_t number;
    if (json_parse(json, &reading.object, err) != STATUS_OK ||
        !json_get(reading.object, "selected", &selected) || !json_i64(selected, &number) ||
        number < 0 || !replay_state_parse(text_at(&reading, "state"), &replay->state) ||
        !read_order(&reading, &replay->order))
        return err_set(err, STATUS_CORRUPT, "the stored state of replay %s is damaged", replay->id);
    replay->selected = (uint64_t)number;
    snprintf(replay->why, sizeof replay->why, "%.*s", BYTES_ARG(text_at(&reading, "why")));
    replay->created_at = time_at(&reading, "created_at");
    replay->started_at = time_at(&reading, "started_at");
    replay->ended_at = time_at(&reading, "ended_at");
    read_names(&reading, "queues", replay->queues, &replay->queue_count);
    read_names(&reading, "dlqs", replay->dlqs, &replay->dlq_count);
    return STATUS_OK;
}

/* ---- in the store ---- */

static struct bytes name_of(const char *kind, struct bytes id, struct arena *arena) {
    char text[UUID_TEXT_SIZE + 8];
    snprintf(text, sizeof text, "%s/%.*s", kind, BYTES_ARG(bytes_clip(id, UUID_TEXT_SIZE)));
    return arena_dup(arena, bytes_of(text));
}

struct bytes replay_doc_name(struct bytes id, struct arena *arena) {
    return name_of("r", id, arena);
}

static struct store_op keep_op(const struct replay *replay, struct bytes name, struct bytes value) {
    return (struct store_op){.kind = STORE_KEEP,
                             .keep = {.space = SPACE_REPLAY,
                                      .name = name,
                                      .value = value,
                                      .expires = {replay->replays->now.wall.ms + REPLAY_KEPT_MS}}};
}

struct store_op replay_doc_op(const struct replay *replay, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, DOC_MAX);
    replay_doc_put(replay, &text);
    struct bytes value = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return keep_op(replay, replay_doc_name(bytes_of(replay->id), arena), value);
}

/* Marks a replay as active: recovery after a restart resumes replays with this mark. */
struct store_op replay_mark_op(const struct replay *replay, bool open, struct arena *arena) {
    return keep_op(replay, name_of("a", bytes_of(replay->id), arena),
                   open ? BYTES("{}") : BYTES_NONE);
}

/* Marks a replay as aborted because letters failed again: after a restart it is still reported. */
struct store_op replay_relapse_op(const struct replay *replay, struct arena *arena) {
    return keep_op(replay, name_of("w", bytes_of(replay->id), arena), BYTES("{}"));
}
