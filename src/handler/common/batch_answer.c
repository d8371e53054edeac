/* batch_answer: see the header. */
#include "handler/common/batch_answer.h"

#include "handler/common/fault.h"

static bool find_item(struct task task, struct bytes id, size_t *index) {
    for (size_t i = 0; i < task_count(task); i++) {
        if (bytes_eq(task_at(task, i)->id, id)) {
            *index = i;
            return true;
        }
    }
    return false;
}

static void fail_plainly(struct outcome *out, struct bytes message) {
    out->error_type = BYTES(OUTCOME_BATCH_ITEM);
    out->error_message = message;
}

static bool read_failure(struct json failure, struct task task, struct arena *arena,
                         struct outcome *items) {
    struct json identifier;
    struct bytes id;
    size_t index;
    if (failure.type != JSON_OBJECT || !json_get(failure, "itemIdentifier", &identifier) ||
        !json_string(identifier, arena, &id) || !find_item(task, id, &index))
        return false;
    if (!fault_read(failure, arena, &items[index]))
        fail_plainly(&items[index], BYTES("listed in batchItemFailures"));
    return true;
}

bool batch_answer_read(struct json answer, struct task task, struct arena *arena,
                       struct outcome *items) {
    struct json failures;
    for (size_t i = 0; i < task_count(task); i++)
        items[i] = (struct outcome){.ending = ENDING_OK, .retry_after_ms = -1};
    if (!json_get(answer, "batchItemFailures", &failures) || failures.type == JSON_NULL)
        return true;
    if (failures.type != JSON_ARRAY)
        return false;
    for (struct json_walk walk = json_walk(failures); json_step(&walk);) {
        if (!read_failure(walk.value, task, arena, items))
            return false;
    }
    return true;
}

bool batch_answer_parse(struct bytes text, struct task task, struct arena *arena,
                        struct outcome *items) {
    struct json answer;
    if (json_parse(text, &answer, NULL) != STATUS_OK)
        answer = (struct json){JSON_NULL, BYTES("null")};
    return batch_answer_read(answer, task, arena, items);
}

void batch_answer_distrust(struct outcome *out) {
    *out = (struct outcome){.ending = ENDING_FAILED, .kind = KIND_REPORTED, .retry_after_ms = -1};
    fail_plainly(out, BYTES("batchItemFailures names an item that is not in the batch"));
}
