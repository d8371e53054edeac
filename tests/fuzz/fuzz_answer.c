/* Whatever a worker answers, to one message or to a batch: no crash, texts that can be kept, and
 * nothing is taken for a success that does not say so. */
#include "fuzz.h"

#include <string.h>

#include "core/outcome.h"
#include "handler/common/batch_answer.h"
#include "handler/stream/stream_line.h"

enum { BATCH = 7, CALLS = 2 };

static void check_text(struct bytes text, size_t max) {
    FUZZ_CHECK(text.len <= max && bytes_is_utf8(text));
}

static void check_outcome(const struct outcome *outcome) {
    if (outcome->ending == ENDING_OK)
        return;
    FUZZ_CHECK(outcome->ending == ENDING_FAILED && outcome->kind == KIND_REPORTED);
    FUZZ_CHECK(outcome->status == 0 || (outcome->status >= 100 && outcome->status <= 599));
    FUZZ_CHECK(outcome->retry_after_ms >= -1);
    check_text(outcome->error_type, OUTCOME_TYPE_MAX);
    check_text(outcome->error_message, OUTCOME_MESSAGE_MAX);
    check_text(outcome->stack_trace, OUTCOME_STACK_MAX);
    check_text(outcome->reason, OUTCOME_TYPE_MAX);
}

static void check_line(struct bytes line, struct task task, struct arena *arena) {
    struct outcome whole, items[CALLS];
    if (stream_line_read(line, task, BATCH, arena, &whole, items))
        return;
    check_outcome(&whole);
    if (whole.ending == ENDING_OK)
        FUZZ_CHECK(bytes_find(line, BYTES("true")) < line.len);
    for (size_t i = 0; task.group && whole.ending == ENDING_OK && i < CALLS; i++)
        check_outcome(&items[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct call calls[CALLS] = {{.id = BYTES("m-1"), .wants_answer = true}, {.id = BYTES("m-2")}};
    struct call *list[CALLS] = {&calls[0], &calls[1]};
    struct call_group group = {.calls = list, .count = CALLS};
    struct outcome items[CALLS];
    struct arena arena;
    arena_init_heap(&arena, 1024);
    check_line(fuzz_text(data, size), (struct task){.call = &calls[0]}, &arena);
    check_line(fuzz_text(data, size), (struct task){.group = &group}, &arena);
    if (batch_answer_parse(fuzz_text(data, size), (struct task){.group = &group}, &arena, items))
        for (size_t i = 0; i < CALLS; i++)
            check_outcome(&items[i]);
    arena_free(&arena);
    return 0;
}
