/* Whatever an AI provider answers with a 200: no crash, and texts that can be kept. The first byte
 * chooses the content type and whether the body was cut. */
#include <stdlib.h>

#include "core/outcome.h"
#include "handler/http/ai_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct bytes text, size_t max) {
    if (text.len > max || !bytes_is_utf8(text))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const types[] = {"application/json", "text/event-stream; charset=utf-8",
                                        "application/x-ndjson", "text/plain"};
    if (size == 0)
        return 0;
    struct arena arena;
    struct ai_answer fault;
    arena_init_heap(&arena, 1024);
    struct bytes body = {(const char *)data + 1, size - 1};
    if (ai_answer_faulty(body, data[0] & 4, bytes_of(types[data[0] & 3]), &arena, &fault)) {
        check(fault.problem.error_type, OUTCOME_TYPE_MAX);
        check(fault.problem.error_message, OUTCOME_MESSAGE_MAX);
        if (fault.problem.error_message.len == 0 ||
            (fault.status != 0 && (fault.status < 400 || fault.status > 599)))
            abort();
    }
    arena_free(&arena);
    return 0;
}
