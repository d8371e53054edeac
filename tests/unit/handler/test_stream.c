/* Long-lived workers, written as small shell programs. */
#include "test.h"

#include <signal.h>
#include <stdio.h>

#include "base/memory.h"
#include "caller.h"
#include "handler/exec/exec_report.h"
#include "handler/stream/stream.h"

enum { LONG_MS = 3600 * 1000, SHORT_MS = 100 };

#define OK "{\"id\":\"m-1\",\"ok\":true}"

static int set_up(void **state) {
    *state = exec_pool_new(&caller_clock);
    return 0;
}

static int tear_down(void **state) {
    exec_pool_free(*state);
    return 0;
}

static struct handler *program(struct exec_pool *pool, const char *code, uint64_t max_messages,
                               int64_t timeout_ms) {
    struct bytes argv[] = {BYTES("sh"), BYTES("-c"), bytes_of(code)};
    struct stream_options options = {.exec = {.argv = argv, .argc = 3, .timeout_ms = timeout_ms},
                                     .workers = 1,
                                     .max_messages = max_messages};
    return stream_new(pool, &options);
}

static struct handler *shell(struct exec_pool *pool, const char *code) {
    return program(pool, code, 0, LONG_MS);
}

static struct outcome call(struct handler *handler, struct caller *caller) {
    caller_init(caller);
    caller->call.wants_answer = true;
    return *caller_run(caller, handler);
}

static void assert_succeeds(struct handler *handler) {
    struct caller caller;
    assert_int_equal(call(handler, &caller).ending, ENDING_OK);
    caller_free(&caller);
}

static void drop(struct handler *handler) {
    handler->vtable->free(handler);
}

/* ---- good workers ---- */

static void one_process_takes_one_message_after_another(void **state) {
    struct handler *handler =
        shell(*state, "while read -r l; do n=$((n + 1)); echo '{\"id\":\"m-1\",\"ok\":true,"
                      "\"result\":'$n'}'; done");
    for (int i = 1; i <= 50; i++) {
        struct caller caller;
        char expected[16];
        snprintf(expected, sizeof expected, "%d", i);
        struct outcome outcome = call(handler, &caller);
        assert_int_equal(outcome.ending, ENDING_OK);
        assert_bytes(outcome.answer, expected);
        assert_bytes(outcome.answer_type, "application/json");
        caller_free(&caller);
    }
    drop(handler);
}

static void a_worker_gets_the_line_of_the_contract(void **state) {
    static const struct rule_header headers[] = {{BYTES("h"), BYTES("v")}};
    struct handler *handler = shell(*state, "read -r l; test \"$l\" = '"
                                            "{\"id\":\"m-1\",\"queue\":\"orders\",\"key\":\"k\","
                                            "\"attempt\":2,\"replay\":1,\"headers\":{\"h\":\"v\"},"
                                            "\"content_type\":\"application/json\","
                                            "\"body\":{\"a\": 1.0, \"a\":2}}' && echo '" OK "'");
    struct caller caller;
    caller_init(&caller);
    caller.call.key = BYTES("k");
    caller.call.attempt = 2;
    caller.call.replay = 1;
    caller.call.headers = headers;
    caller.call.header_count = 1;
    caller.call.body = BYTES("{\"a\":\n1.0,\r\"a\":2}");
    assert_int_equal(caller_run(&caller, handler)->ending, ENDING_OK);
    caller_free(&caller);
    drop(handler);
}

static void a_worker_is_replaced_after_max_messages(void **state) {
    struct handler *handler =
        program(*state, "while read -r l; do n=$((n + 1)); test $n -lt 4 && echo '" OK "'; done", 3,
                LONG_MS);
    for (int i = 0; i < 10; i++)
        assert_succeeds(handler);
    drop(handler);
}

/* The next message may be in the pipe of a process that is ending: it was never read. */
static void a_worker_that_ends_by_itself_between_messages_blames_nobody(void **state) {
    struct handler *handler = shell(*state, "read -r l; echo '" OK "'");
    for (int i = 0; i < 10; i++)
        assert_succeeds(handler);
    drop(handler);
}

static void a_large_message_and_a_large_answer_go_through(void **state) {
    enum { LARGE = 1 << 20 };
    char *body = memory_new(LARGE);
    memset(body, ' ', LARGE);
    body[0] = '1';
    struct handler *handler =
        shell(*state, "read -r l; printf '{\"id\":\"m-1\",\"ok\":true,\"result\":\"'; "
                      "head -c 1000000 /dev/zero | tr '\\0' x; echo '\"}'");
    struct caller caller;
    caller_init(&caller);
    caller.call.wants_answer = true;
    caller.call.body = (struct bytes){body, LARGE};
    assert_int_equal(caller_run(&caller, handler)->ending, ENDING_OK);
    assert_int_equal(caller.outcome.answer.len, 1000002);
    caller_free(&caller);
    drop(handler);
    free(body);
}

/* ---- failures ---- */

static void what_a_worker_says_of_a_failure_is_the_outcome(void **state) {
    struct handler *handler =
        shell(*state, "read -r l; echo '{\"id\":\"m-1\",\"ok\":false,\"error_type\":\"Busy\","
                      "\"error_message\":\"later\",\"stack_trace\":\"at till\",\"status\":503,"
                      "\"verdict\":\"retry\",\"reason\":\"full\",\"retry_after\":2}'");
    struct caller caller;
    struct outcome outcome = call(handler, &caller);
    assert_int_equal(outcome.ending, ENDING_FAILED);
    assert_int_equal(outcome.kind, KIND_REPORTED);
    assert_int_equal(outcome.status, 503);
    assert_int_equal(outcome.retry_after_ms, 2000);
    assert_true(outcome.has_verdict && outcome.verdict == VERDICT_RETRY);
    assert_bytes(outcome.reason, "full");
    assert_bytes(outcome.error_type, "Busy");
    assert_bytes(outcome.error_message, "later");
    assert_bytes(outcome.stack_trace, "at till");
    caller_free(&caller);
    drop(handler);
}

static void a_death_with_a_message_in_hand_is_that_messages(void **state) {
    struct handler *handler =
        shell(*state, "read -r l; echo before >&2; echo 'went down' >&2; kill -SEGV $$");
    struct caller caller;
    struct outcome outcome = call(handler, &caller);
    assert_int_equal(outcome.kind, KIND_SIGNAL);
    assert_int_equal(outcome.signal, SIGSEGV);
    assert_bytes(outcome.error_message, "went down");
    caller_free(&caller);
    drop(handler);
    handler = shell(*state, "read -r l; exit 75");
    outcome = call(handler, &caller);
    assert_int_equal(outcome.kind, KIND_EXIT);
    assert_int_equal(outcome.exit_code, 75);
    caller_free(&caller);
    drop(handler);
}

static void a_timeout_kills_the_worker_and_its_children(void **state) {
    struct handler *handler = program(*state, "read -r l; sleep 1000", 0, SHORT_MS);
    struct caller caller;
    assert_int_equal(call(handler, &caller).kind, KIND_TIMEOUT);
    caller_free(&caller);
    drop(handler);
}

/* From one that has ended since, and from one that goes on. */
static void an_answer_that_came_before_we_saw_that_its_time_is_over_was_in_time(void **state) {
    static const char *const codes[] = {
        "read -r l; echo '" OK "'",
        "read -r l; echo '" OK "'; kill -TTOU $$; read -r l",
    };
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct late_clock late;
        struct caller caller;
        late_clock_init(&late, 1); /* the reading when it is given the message */
        struct exec_pool *pool = exec_pool_new(&late.clock);
        struct handler *handler = shell(pool, codes[i]);
        struct outcome outcome = call(handler, &caller);
        assert_true(late.late);
        assert_int_equal(outcome.ending, ENDING_OK);
        kill(late.pid, SIGCONT);
        caller_free(&caller);
        drop(handler);
        exec_pool_free(pool);
    }
}

static void a_breach_of_the_protocol_is_named(void **state) {
    static const char *const breaches[] = {
        "echo hello",
        "echo '{\"id\":\"m-2\",\"ok\":true}'",
        "echo '{\"ok\":true}'",
        "echo '{\"id\":\"m-1\"}'",
        "echo '{\"id\":\"m-1\",\"ok\":1}'",
        "echo '[" OK "]'",
        "echo",
        "head -c 5000000 /dev/zero | tr '\\0' x",
        "exit 0",
    };
    for (size_t i = 0; i < sizeof breaches / sizeof *breaches; i++) {
        char code[256];
        snprintf(code, sizeof code, "read -r l; %s; read -r more", breaches[i]);
        struct handler *handler = shell(*state, code);
        struct caller caller;
        struct outcome outcome = call(handler, &caller);
        assert_int_equal(outcome.ending, ENDING_FAILED);
        assert_int_equal(outcome.kind, KIND_REPORTED);
        assert_bytes(outcome.error_type, EXEC_BREACH_TYPE);
        assert_true(outcome.error_message.len > 0);
        caller_free(&caller);
        drop(handler);
    }
}

static void what_follows_an_answer_kills_the_worker_and_blames_nobody(void **state) {
    struct handler *handler = shell(*state, "read -r l; printf '" OK "\\nmore\\n'; read -r l");
    for (int i = 0; i < 5; i++)
        assert_succeeds(handler);
    drop(handler);
}

static void a_cancelled_call_is_interrupted_wherever_it_is(void **state) {
    struct handler *handler = shell(*state, "read -r l; sleep 1000");
    struct caller running, waiting;
    caller_init(&running);
    caller_init(&waiting);
    caller_start(&running, handler);
    caller_start(&waiting, handler); /* the one worker is busy */
    handler->vtable->cancel(handler, &waiting.call);
    assert_int_equal(caller_wait(&waiting)->ending, ENDING_INTERRUPTED);
    handler->vtable->cancel(handler, &running.call);
    assert_int_equal(caller_wait(&running)->ending, ENDING_INTERRUPTED);
    caller_free(&running);
    caller_free(&waiting);
    drop(handler);
}

static void a_program_that_cannot_be_run_is_a_config_exit(void **state) {
    struct bytes argv[] = {BYTES("/no/such/program")};
    struct stream_options options = {.exec = {.argv = argv, .argc = 1, .timeout_ms = LONG_MS},
                                     .workers = 2};
    struct handler *handler = stream_new(*state, &options);
    struct caller caller;
    struct outcome outcome = call(handler, &caller);
    assert_int_equal(outcome.kind, KIND_EXIT);
    assert_int_equal(outcome.exit_code, EXEC_UNRUNNABLE_EXIT);
    caller_free(&caller);
    drop(handler);
}

static void a_program_that_never_reads_is_a_config_exit_in_the_end(void **state) {
    struct handler *handler = shell(*state, "echo 'no licence' >&2; exit 3");
    struct caller caller;
    struct outcome outcome = call(handler, &caller);
    assert_int_equal(outcome.kind, KIND_EXIT);
    assert_int_equal(outcome.exit_code, EXEC_UNRUNNABLE_EXIT);
    assert_bytes(outcome.error_message, "no licence: exit status 3 of sh before it read a message");
    caller_free(&caller);
    drop(handler);
}

/* Closing stdin, then SIGTERM, then SIGKILL: whoever frees the pool waits that long at most. */
static void a_worker_that_does_not_leave_is_killed(void **state) {
    struct handler *handler =
        shell(*state, "trap '' TERM; read -r l; echo '" OK "'; while :; do sleep 1; done");
    assert_succeeds(handler);
    drop(handler);
}

/* ---- batches ---- */

static void a_batch_is_one_line_and_its_failures_are_listed(void **state) {
    struct handler *handler = shell(
        *state, "while read -r l; do n=${l#*:}; n=${n%%,*}; echo '{\"batch\":'$n',\"ok\":true,"
                "\"batchItemFailures\":[{\"itemIdentifier\":\"m-2\",\"status\":422},"
                "{\"itemIdentifier\":\"m-3\"}]}'; done");
    for (int round = 0; round < 3; round++) {
        struct group_caller caller;
        group_caller_init(&caller, 4);
        group_caller_run(&caller, handler);
        assert_int_equal(caller.whole.ending, ENDING_OK);
        assert_int_equal(caller.items[0].ending, ENDING_OK);
        assert_int_equal(caller.items[1].status, 422);
        assert_bytes(caller.items[2].error_type, "batch_item");
        assert_int_equal(caller.items[3].ending, ENDING_OK);
        group_caller_free(&caller);
    }
    drop(handler);
}

static void a_batch_may_fail_as_a_whole(void **state) {
    static const struct {
        const char *code;
        enum kind kind;
        const char *error_type;
    } cases[] = {
        {"echo '{\"batch\":1,\"ok\":false,\"error_type\":\"Busy\"}'", KIND_REPORTED, "Busy"},
        {"echo '{\"batch\":2,\"ok\":true}'", KIND_REPORTED, EXEC_BREACH_TYPE},
        {"echo '{\"id\":\"m-1\",\"ok\":true}'", KIND_REPORTED, EXEC_BREACH_TYPE},
        {"echo '{\"batch\":1,\"ok\":true,\"batchItemFailures\":[{\"itemIdentifier\":\"m-9\"}]}'",
         KIND_REPORTED, "batch_item"},
        {"kill -KILL $$", KIND_SIGNAL, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char code[256];
        snprintf(code, sizeof code, "read -r l; %s; read -r more", cases[i].code);
        struct handler *handler = shell(*state, code);
        struct group_caller caller;
        group_caller_init(&caller, 2);
        group_caller_run(&caller, handler);
        assert_int_equal(caller.whole.ending, ENDING_FAILED);
        assert_int_equal(caller.whole.kind, cases[i].kind);
        assert_bytes(caller.whole.error_type, cases[i].error_type);
        group_caller_free(&caller);
        drop(handler);
    }
}

static void a_cancelled_batch_is_interrupted(void **state) {
    struct handler *handler = shell(*state, "read -r l; sleep 1000");
    struct group_caller caller;
    group_caller_init(&caller, 3);
    handler->vtable->start_group(handler, &caller.group);
    handler->vtable->cancel_group(handler, &caller.group);
    group_caller_wait(&caller);
    assert_int_equal(caller.whole.ending, ENDING_INTERRUPTED);
    group_caller_free(&caller);
    drop(handler);
}

#define STREAM_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        STREAM_TEST(one_process_takes_one_message_after_another),
        STREAM_TEST(a_worker_gets_the_line_of_the_contract),
        STREAM_TEST(a_worker_is_replaced_after_max_messages),
        STREAM_TEST(a_worker_that_ends_by_itself_between_messages_blames_nobody),
        STREAM_TEST(a_large_message_and_a_large_answer_go_through),
        STREAM_TEST(what_a_worker_says_of_a_failure_is_the_outcome),
        STREAM_TEST(a_death_with_a_message_in_hand_is_that_messages),
        STREAM_TEST(a_timeout_kills_the_worker_and_its_children),
        STREAM_TEST(an_answer_that_came_before_we_saw_that_its_time_is_over_was_in_time),
        STREAM_TEST(a_breach_of_the_protocol_is_named),
        STREAM_TEST(what_follows_an_answer_kills_the_worker_and_blames_nobody),
        STREAM_TEST(a_cancelled_call_is_interrupted_wherever_it_is),
        STREAM_TEST(a_program_that_cannot_be_run_is_a_config_exit),
        STREAM_TEST(a_program_that_never_reads_is_a_config_exit_in_the_end),
        STREAM_TEST(a_worker_that_does_not_leave_is_killed),
        STREAM_TEST(a_batch_is_one_line_and_its_failures_are_listed),
        STREAM_TEST(a_batch_may_fail_as_a_whole),
        STREAM_TEST(a_cancelled_batch_is_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
