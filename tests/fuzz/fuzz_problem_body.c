/* Whatever a server answers: no crash, and texts that can be kept. */
#include <stdlib.h>

#include "core/outcome.h"
#include "handler/http/problem_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct bytes text, size_t max) {
    if (text.len > max || !bytes_is_utf8(text))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    arena_init_heap(&arena, 1024);
    struct problem problem;
    problem_read((struct bytes){(const char *)data, size}, &arena, &problem);
    check(problem.error_type, OUTCOME_TYPE_MAX);
    check(problem.error_message, OUTCOME_MESSAGE_MAX);
    check(problem.stack_trace, OUTCOME_STACK_MAX);
    arena_free(&arena);
    return 0;
}
