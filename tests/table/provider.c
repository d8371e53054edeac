/* What the preset ai-api makes of the answers that providers give when they fail: the body is read
 * as the http handler reads it, and judged. */
#include "table.h"

#include "core/classify.h"
#include "handler/problem.h"

enum { CASES_AT_LEAST = 50 };

static struct classification judge(int status, const struct problem *problem) {
    struct policy policy;
    policy_init(&policy, BYTES("q"), BYTES("q.dlq"), HANDLER_HTTP);
    policy.presets[0] = PRESET_AI_API;
    policy.preset_count = 1;
    struct outcome outcome = {.ending = ENDING_FAILED,
                              .kind = KIND_STATUS,
                              .status = status,
                              .error_type = problem->error_type,
                              .error_message = problem->error_message,
                              .retry_after_ms = problem->retry_after_ms};
    struct rule_subject subject = {.outcome = &outcome, .attempt = 1};
    return classify(&policy, &subject, NULL);
}

/* given: STATUS BODY. wanted: ERROR_TYPE VERDICT CATEGORY/REASON [after=…ms]; "-": no type. */
static void answer(const struct table_case *c, struct buf *actual) {
    struct bytes status, body;
    struct problem problem;
    struct arena arena;
    table_split(c->given, ' ', &status, &body);
    arena_init_heap(&arena, 1024);
    problem_read(body, &arena, &problem);
    struct classification class = judge((int)table_number(status), &problem);
    buf_bytes(actual, problem.error_type.len ? problem.error_type : BYTES("-"));
    buf_printf(actual, " %s %.*s/%.*s", verdict_text(class.verdict), BYTES_ARG(class.category),
               BYTES_ARG(class.reason));
    if (problem.retry_after_ms >= 0)
        buf_printf(actual, " after=%lldms", (long long)problem.retry_after_ms);
    arena_free(&arena);
}

int main(int argc, char **argv) {
    return argc == 2 ? table_run(argv[1], CASES_AT_LEAST, answer) : 2;
}
