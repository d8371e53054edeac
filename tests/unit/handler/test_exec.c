#include "exec_bench.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static void exit_zero_is_ok_and_the_body_comes_on_stdin(void **state) {
    struct caller caller;
    exec_bench_run_shell(*state, &caller, "test \"$(cat)\" = '{\"n\":1}'");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_true(caller.outcome.duration_ms >= 0);
    caller_free(&caller);
}

static void run_for_answer(struct exec_bench *bench, struct caller *caller, const char *code) {
    caller_init(caller);
    caller->call.wants_answer = true;
    exec_bench_run(caller, exec_bench_shell(bench, code));
}

static void what_it_writes_to_stdout_is_its_answer(void **state) {
    static const struct {
        const char *code, *answer, *type;
    } cases[] = {
        {"cat; echo no >&2", "{\"n\":1}", "application/json"},
        {"echo done", "done\n", "text/plain; charset=utf-8"},
        {"printf '\\377'", "\xff", "application/octet-stream"},
        {":", "", "text/plain; charset=utf-8"},
        {"cat >/dev/null; (sleep 60 & echo $$) | head -c 0; echo x", "x\n",
         "text/plain; charset=utf-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct caller caller;
        run_for_answer(*state, &caller, cases[i].code);
        assert_int_equal(caller.outcome.ending, ENDING_OK);
        assert_bytes(caller.outcome.answer, cases[i].answer);
        assert_bytes(caller.outcome.answer_type, cases[i].type);
        caller_free(&caller);
    }
}

static void a_process_that_fails_has_no_answer(void **state) {
    struct caller caller;
    run_for_answer(*state, &caller, "echo half; exit 3");
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.answer.len, 0);
    caller_free(&caller);
}

static void a_process_that_says_too_much_can_end_all_the_same(void **state) {
    struct caller caller;
    run_for_answer(*state, &caller, "head -c 20000000 /dev/zero");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_int_equal(caller.outcome.answer.len, OUTCOME_ANSWER_MAX + 1);
    caller_free(&caller);
}

static void the_environment_says_where_the_message_belongs_in_a_trace(void **state) {
    static const char code[] = "test \"${TRACEPARENT-none} ${TRACESTATE-none}\" = ";
    static const struct {
        const char *parent, *trace_state, *expected;
    } cases[] = {
        {" 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1,b=2",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 a=1,b=2"},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "a\nb",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00 none"},
        {"nonsense", "a=1", "none none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rule_header headers[] = {{BYTES("Traceparent"), bytes_of(cases[i].parent)},
                                        {BYTES("tracestate"), bytes_of(cases[i].trace_state)}};
        struct caller caller;
        char line[256];
        snprintf(line, sizeof line, "%s'%s'", code, cases[i].expected);
        caller_init(&caller);
        caller.call.headers = headers;
        caller.call.header_count = 2;
        exec_bench_run(&caller, exec_bench_shell(*state, line));
        assert_int_equal(caller.outcome.ending, ENDING_OK);
        caller_free(&caller);
    }
}

static void the_environment_names_the_message_and_keeps_ours(void **state) {
    struct caller caller;
    caller_init(&caller);
    caller.call.key = BYTES("k 1");
    caller.call.fallback = 1;
    caller.call.attempt = 3;
    caller.call.replay = 2;
    exec_bench_run(&caller,
                   exec_bench_shell(
                       *state, "test -n \"$PATH\" && test \"$IMPOUND_MESSAGE_ID:$IMPOUND_QUEUE:"
                               "$IMPOUND_KEY:$IMPOUND_ATTEMPT:$IMPOUND_REPLAY:$IMPOUND_FALLBACK\" "
                               "= 'm-1:orders:k 1:3:2:1'"));
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
    exec_bench_run_shell(*state, &caller, "test \"${IMPOUND_KEY-unset}\" = ''");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
}

static void it_runs_in_its_directory(void **state) {
    struct exec_bench *bench = *state;
    char path[64];
    snprintf(path, sizeof path, "%s/here", bench->dir);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    struct caller caller;
    exec_bench_run_shell(bench, &caller, "test -f here");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
}

static void an_exit_code_fails_with_the_last_line_of_stderr(void **state) {
    struct caller caller;
    exec_bench_run_shell(*state, &caller,
                         "echo first >&2; echo 'no such order' >&2; echo >&2; exit 65");
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_EXIT);
    assert_int_equal(caller.outcome.exit_code, 65);
    assert_bytes(caller.outcome.error_message, "no such order");
    assert_bytes(caller.outcome.error_type, "");
    caller_free(&caller);
}

static void what_node_signs_with_is_no_message(void **state) {
    struct caller caller;
    exec_bench_run_shell(*state, &caller,
                         "echo '{ code: 5 }' >&2; echo >&2; echo Node.js v20.1.0 >&2; exit 1");
    assert_bytes(caller.outcome.error_message, "{ code: 5 }");
    caller_free(&caller);
}

static void a_silent_failure_says_its_exit_status(void **state) {
    struct caller caller;
    exec_bench_run_shell(*state, &caller, "exit 75");
    assert_int_equal(caller.outcome.exit_code, 75);
    assert_bytes(caller.outcome.error_message, "exit status 75");
    caller_free(&caller);
}

static void a_python_exception_gives_type_message_and_trace(void **state) {
    struct caller caller;
    caller_init(&caller);
    exec_bench_run(&caller, exec_bench_program(*state, "python3", "-c",
                                               "def price(o):\n  return o['sku']\nprice({})",
                                               EXEC_BENCH_LONG_MS));
    assert_int_equal(caller.outcome.kind, KIND_EXIT);
    assert_int_equal(caller.outcome.exit_code, 1);
    assert_bytes(caller.outcome.error_type, "KeyError");
    assert_bytes(caller.outcome.error_message, "'sku'");
    assert_true(bytes_has_nocase(caller.outcome.stack_trace, BYTES("in price")));
    caller_free(&caller);
}

static void a_signal_is_a_crash_with_its_number(void **state) {
    struct caller caller;
    exec_bench_run_shell(*state, &caller, "kill -SEGV $$");
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_SIGNAL);
    assert_int_equal(caller.outcome.signal, SIGSEGV);
    assert_bytes(caller.outcome.error_message, "killed by signal 11 (SIGSEGV)");
    caller_free(&caller);
}

static void what_outlives_its_timeout_is_killed_with_its_group(void **state) {
    struct exec_bench *bench = *state;
    /* The grandchild holds the FIFO open for writing: reading it ends when the grandchild is dead.
     */
    char path[64], left;
    snprintf(path, sizeof path, "%s/fifo", bench->dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fifo = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(fcntl(fifo, F_SETFL, 0), 0);
    struct caller caller;
    caller_init(&caller);
    exec_bench_run(&caller, exec_bench_program(bench, "sh", "-c",
                                               "sleep 1000 3>fifo & sleep 1000 4>fifo", 300));
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_TIMEOUT);
    assert_bytes(caller.outcome.error_message, "killed: it did not end within 300ms");
    assert_int_equal(read(fifo, &left, 1), 0);
    close(fifo);
    caller_free(&caller);
}

static void what_left_its_group_is_killed_at_its_timeout_too(void **state) {
    struct exec_bench *bench = *state;
    char path[64], left;
    snprintf(path, sizeof path, "%s/strays", bench->dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fifo = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(fcntl(fifo, F_SETFL, 0), 0);
    struct caller caller;
    caller_init(&caller);
    /* One in a session of its own, and one whose parent has ended as well. */
    exec_bench_run(&caller, exec_bench_program(bench, "sh", "-c",
                                               "setsid sleep 1000 3>strays & "
                                               "setsid sh -c 'sleep 1000 4>strays & exit 0' & "
                                               "exec sleep 1000 5>strays",
                                               500));
    assert_int_equal(caller.outcome.kind, KIND_TIMEOUT);
    assert_int_equal(read(fifo, &left, 1), 0); /* nobody holds it open any more */
    close(fifo);
    caller_free(&caller);
}

static void what_ended_before_we_saw_that_its_time_is_over_was_in_time(void **state) {
    static const struct {
        const char *code;
        enum ending ending;
        int exit_code;
    } cases[] = {{"exit 0", ENDING_OK, 0}, {"exit 7", ENDING_FAILED, 7}};
    struct exec_bench bench = *(struct exec_bench *)*state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct late_clock late;
        struct caller caller;
        late_clock_init(&late, 0);
        bench.pool = exec_pool_new(&late.clock);
        exec_bench_run_shell(&bench, &caller, cases[i].code);
        assert_true(late.late);
        assert_int_equal(caller.outcome.ending, cases[i].ending);
        assert_int_equal(caller.outcome.exit_code, cases[i].exit_code);
        caller_free(&caller);
        exec_pool_free(bench.pool);
    }
}

static void a_cancelled_call_is_interrupted(void **state) {
    struct caller caller;
    caller_init(&caller);
    struct handler *handler = exec_bench_shell(*state, "exec sleep 1000");
    caller_start(&caller, handler);
    handler->vtable->cancel(handler, &caller.call);
    handler->vtable->cancel(handler, &caller.call);
    assert_int_equal(caller_wait(&caller)->ending, ENDING_INTERRUPTED);
    handler->vtable->cancel(handler, &caller.call); /* too late: nothing */
    handler->vtable->free(handler);
    caller_free(&caller);
}

static void a_grandchild_that_keeps_the_pipes_does_not_hang_the_call(void **state) {
    struct caller caller;
    exec_bench_run_shell(*state, &caller, "sleep 1000 & echo gone >&2; exit 3");
    assert_int_equal(caller.outcome.exit_code, 3);
    assert_bytes(caller.outcome.error_message, "gone");
    caller_free(&caller);
}

static void a_large_body_reaches_a_child_and_need_not_be_read(void **state) {
    enum { LARGE = 3 * 1024 * 1024 };
    char *body = memory_new(LARGE);
    memset(body, 'x', LARGE);
    struct caller caller;
    caller_init(&caller);
    caller.call.body = (struct bytes){body, LARGE};
    exec_bench_run(&caller, exec_bench_shell(*state, "test $(wc -c) = 3145728"));
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
    const char *const deaf[] = {"exit 0", "exec <&-; echo x >/dev/null"};
    for (size_t i = 0; i < 2; i++) {
        caller_init(&caller);
        caller.call.body = (struct bytes){body, LARGE};
        exec_bench_run(&caller, exec_bench_shell(*state, deaf[i]));
        assert_int_equal(caller.outcome.ending, ENDING_OK);
        caller_free(&caller);
    }
    free(body);
}

static void of_a_flood_on_stderr_the_end_is_kept(void **state) {
    struct caller caller;
    caller_init(&caller);
    exec_bench_run(&caller, exec_bench_program(*state, "python3", "-c",
                                               "import sys\nsys.stderr.write('x\\n' * 1000000)\n"
                                               "sys.stderr.write('the end')\nsys.exit(1)",
                                               EXEC_BENCH_LONG_MS));
    assert_bytes(caller.outcome.error_message, "the end");
    caller_free(&caller);
}

static void stdout_is_ignored_however_much_it_is(void **state) {
    struct caller caller;
    exec_bench_run_shell(*state, &caller, "head -c 5000000 /dev/zero");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
}

static void stderr_that_is_not_text_is_made_safe(void **state) {
    struct caller caller;
    exec_bench_run_shell(*state, &caller, "printf 'bad \\377 byte' >&2; exit 1");
    assert_bytes(caller.outcome.error_message, "bad \xef\xbf\xbd byte");
    caller_free(&caller);
}

static void a_program_that_cannot_be_run_is_a_config_exit_and_says_why(void **state) {
    struct caller caller;
    caller_init(&caller);
    exec_bench_run(&caller,
                   exec_bench_program(*state, "no-such-program", NULL, NULL, EXEC_BENCH_LONG_MS));
    assert_int_equal(caller.outcome.kind, KIND_EXIT);
    assert_int_equal(caller.outcome.exit_code, 78); /* sysexits: EX_CONFIG */
    assert_bytes(caller.outcome.error_message,
                 "cannot run no-such-program: No such file or directory");
    caller_free(&caller);
    caller_init(&caller);
    exec_bench_run(&caller, exec_bench_program(*state, "/tmp", NULL, NULL, EXEC_BENCH_LONG_MS));
    assert_bytes(caller.outcome.error_message, "cannot run /tmp: Permission denied");
    caller_free(&caller);
}

int main(void) {
    setenv("TRACEPARENT", "of whoever started us", 1); /* is none of the messages' */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_zero_is_ok_and_the_body_comes_on_stdin),
        cmocka_unit_test(what_it_writes_to_stdout_is_its_answer),
        cmocka_unit_test(a_process_that_fails_has_no_answer),
        cmocka_unit_test(a_process_that_says_too_much_can_end_all_the_same),
        cmocka_unit_test(the_environment_names_the_message_and_keeps_ours),
        cmocka_unit_test(the_environment_says_where_the_message_belongs_in_a_trace),
        cmocka_unit_test(it_runs_in_its_directory),
        cmocka_unit_test(an_exit_code_fails_with_the_last_line_of_stderr),
        cmocka_unit_test(what_node_signs_with_is_no_message),
        cmocka_unit_test(a_silent_failure_says_its_exit_status),
        cmocka_unit_test(a_python_exception_gives_type_message_and_trace),
        cmocka_unit_test(a_signal_is_a_crash_with_its_number),
        cmocka_unit_test(what_outlives_its_timeout_is_killed_with_its_group),
        cmocka_unit_test(what_left_its_group_is_killed_at_its_timeout_too),
        cmocka_unit_test(what_ended_before_we_saw_that_its_time_is_over_was_in_time),
        cmocka_unit_test(a_cancelled_call_is_interrupted),
        cmocka_unit_test(a_grandchild_that_keeps_the_pipes_does_not_hang_the_call),
        cmocka_unit_test(a_large_body_reaches_a_child_and_need_not_be_read),
        cmocka_unit_test(of_a_flood_on_stderr_the_end_is_kept),
        cmocka_unit_test(stdout_is_ignored_however_much_it_is),
        cmocka_unit_test(stderr_that_is_not_text_is_made_safe),
        cmocka_unit_test(a_program_that_cannot_be_run_is_a_config_exit_and_says_why),
    };
    return cmocka_run_group_tests(tests, exec_bench_set_up, exec_bench_tear_down);
}
