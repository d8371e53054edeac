#include "test.h"

#include <stdio.h>

#include "core/outcome.h"
#include "handler/http/problem_body.h"

struct body_case {
    const char *body, *type, *message, *stack;
};

/* Shapes as their makers document them. */
static const struct body_case cases[] = {
    {"{\"error\":{\"type\":\"rate_limit\",\"message\":\"slow down\"}}", "rate_limit", "slow down",
     ""},
    {"{\"error\":{\"code\":\"E42\",\"message\":\"no\"}}", "E42", "no", ""},
    {"{\"error\":{\"code\":42,\"message\":\"no\"}}", "42", "no", ""},
    {"{\"error\":\"it broke\"}", "", "it broke", ""},
    {"{\"error\":\"invalid_client\",\"error_description\":\"who?\"}", "invalid_client", "who?", ""},
    {"{\"status\":500,\"error\":\"Internal Server Error\",\"message\":\"boom\"}",
     "Internal Server Error", "boom", ""},
    {"{\"errors\":[{\"code\":\"bad\",\"detail\":\"name is empty\"},{\"code\":\"x\"}]}", "bad",
     "name is empty", ""},
    {"{\"errors\":[\"first\",\"second\"]}", "", "first", ""},
    {"{\"type\":\"https://example.com/probs/out-of-credit\",\"title\":\"You lack credit.\","
     "\"detail\":\"Your balance is 30.\",\"status\":403}",
     "out-of-credit", "Your balance is 30.", ""},
    {"{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404}", "Not Found", "Not Found",
     ""},
    {"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
     "overloaded_error", "Overloaded", ""},
    {"{\"error\":{\"message\":\"The model `x` does not exist\",\"type\":\"invalid_request_error\","
     "\"param\":null,\"code\":\"model_not_found\"}}",
     "model_not_found", "The model `x` does not exist", ""},
    {"{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"Quota exceeded\"}}",
     "RESOURCE_EXHAUSTED", "Quota exceeded", ""},
    {"[{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"Quota\"}}]",
     "RESOURCE_EXHAUSTED", "Quota", ""},
    {"{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"field required\",\"type\":\"missing\"}]}",
     "missing", "field required", ""},
    {"{\"errorType\":\"ValueError\",\"errorMessage\":\"bad\"}", "ValueError", "bad", ""},
    {"{\"name\":\"TypeError\",\"message\":\"x is not a function\",\"stack\":\"TypeError: x\\n at "
     "f\"}",
     "TypeError", "x is not a function", "TypeError: x\n at f"},
    {"{\"error\":{\"message\":\"m\"},\"stack_trace\":\"here\"}", "", "m", "here"},
    {"{\"message\":\"only this\"}", "", "only this", ""},
    {"{\"unknown\":1}", "", "{\"unknown\":1}", ""},
    {"{\"message\":\"cut o", "", "{\"message\":\"cut o", ""},
    {"\"a bare string\"", "", "a bare string", ""},
    {"  upstream down \n", "", "upstream down", ""},
    {"a\xff z", "", "a\xef\xbf\xbd z", ""},
    {"{\"message\":\"a\\u0000b\"}", "",
     "a\xef\xbf\xbd"
     "b",
     ""},
    {"", "", "", ""},
};

static void every_known_shape_gives_type_message_and_stack(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        arena_init_heap(&arena, 1024);
        struct problem problem;
        problem_read(bytes_of(cases[i].body), &arena, &problem);
        assert_bytes(problem.error_type, cases[i].type);
        assert_bytes(problem.error_message, cases[i].message);
        assert_bytes(problem.stack_trace, cases[i].stack);
        arena_free(&arena);
    }
}

static void a_delay_in_the_body_is_told(void **state) {
    (void)state;
    static const struct {
        const char *delay;
        int64_t ms;
    } delays[] = {{"34s", 34000}, {"34.074824224s", 35000},
                  {"0s", 0},      {"0.1s", 1000},
                  {"34", -1},     {"s", -1},
                  {"", -1},       {"x.5s", -1},
                  {"-3s", -1},    {"99999999999999s", -1},
                  {"1s ", -1}};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        char body[256];
        struct arena arena;
        struct problem problem;
        snprintf(body, sizeof body,
                 "{\"error\":{\"message\":\"m\",\"details\":[{\"x\":1},{\"retryDelay\":\"%s\"}]}}",
                 delays[i].delay);
        arena_init_heap(&arena, 1024);
        problem_read(bytes_of(body), &arena, &problem);
        assert_int_equal(problem.retry_after_ms, delays[i].ms);
        arena_free(&arena);
    }
}

static void long_texts_are_clipped_between_characters(void **state) {
    (void)state;
    struct arena arena;
    arena_init_heap(&arena, 1024);
    char body[6001];
    for (int i = 0; i < 6000; i += 2)
        memcpy(body + i, "\xc3\xa9", 2);
    struct problem problem;
    problem_read((struct bytes){body, 6000}, &arena, &problem);
    assert_int_equal(problem.error_message.len, OUTCOME_MESSAGE_MAX);
    assert_true(bytes_is_utf8(problem.error_message));
    problem_read((struct bytes){body + 1, 5999}, &arena, &problem);
    assert_true(problem.error_message.len > OUTCOME_MESSAGE_MAX - 4);
    assert_true(problem.error_message.len <= OUTCOME_MESSAGE_MAX);
    assert_true(bytes_is_utf8(problem.error_message));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_known_shape_gives_type_message_and_stack),
        cmocka_unit_test(a_delay_in_the_body_is_told),
        cmocka_unit_test(long_texts_are_clipped_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
