/* stream_line: see the header. */
#include "handler/stream/stream_line.h"

#include "handler/common/batch_answer.h"
#include "handler/common/fault.h"
#include "handler/common/item.h"

static void put_group(const struct call_group *group, uint64_t batch, struct json_out *out) {
    json_open(out, '{');
    json_key(out, "batch");
    json_put_i64(out, (int64_t)batch);
    json_key(out, "messages");
    json_open(out, '[');
    for (size_t i = 0; i < group->count; i++)
        item_put_line(out, group->calls[i]);
    json_close(out, ']');
    json_close(out, '}');
}

void stream_line_put(struct task task, uint64_t batch, struct buf *out) {
    struct json_out json = json_out(out);
    if (task.call)
        item_put_line(&json, task.call);
    else
        put_group(task.group, batch, &json);
    buf_char(out, '\n');
}

static bool is_about_call(struct json answer, const struct call *call, struct arena *arena) {
    struct json value;
    struct bytes id;
    return json_get(answer, "id", &value) && json_string(value, arena, &id) &&
           bytes_eq(id, call->id);
}

static bool is_about_batch(struct json answer, uint64_t batch) {
    struct json value;
    int64_t number;
    return json_get(answer, "batch", &value) && json_i64(value, &number) &&
           number == (int64_t)batch;
}

static void succeed(struct json answer, struct task task, struct outcome *whole) {
    struct json result;
    *whole = (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1};
    if (!task_at(task, 0)->wants_answer)
        return;
    if (task.group || json_get(answer, "result", &result)) {
        whole->answer = task.group ? answer.text : result.text;
        whole->answer_type = BYTES("application/json");
    }
}

const char *stream_line_read(struct bytes line, struct task task, uint64_t batch,
                             struct arena *arena, struct outcome *whole, struct outcome *items) {
    struct json answer, value;
    bool ok;
    if (json_parse(line, &answer, NULL) != STATUS_OK || answer.type != JSON_OBJECT)
        return "the worker's answer is not a JSON object";
    if (task.call && !is_about_call(answer, task.call, arena))
        return "the worker's answer has the id of another message, or none";
    if (task.group && !is_about_batch(answer, batch))
        return "the worker's answer has the number of another batch, or none";
    if (!json_get(answer, "ok", &value) || !json_bool(value, &ok))
        return "the worker's answer says neither \"ok\":true nor \"ok\":false";
    if (!ok)
        fault_read(answer, arena, whole);
    else if (task.group && !batch_answer_read(answer, task, arena, items))
        batch_answer_distrust(whole);
    else
        succeed(answer, task, whole);
    return NULL;
}
