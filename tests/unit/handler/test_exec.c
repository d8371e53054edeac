#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "caller.h"
#include "handler/exec.h"
#include "handler/tail.h"

enum { LONG_MS = 60 * 1000 };

struct bench {
    struct exec_pool *pool;
    char dir[32];
};

static int set_up(void **state) {
    struct bench *bench = memory_new(sizeof *bench);
    bench->pool = exec_pool_new(&caller_clock);
    strcpy(bench->dir, "/tmp/exec-XXXXXX");
    assert_non_null(mkdtemp(bench->dir));
    *state = bench;
    return 0;
}

static int tear_down(void **state) {
    struct bench *bench = *state;
    exec_pool_free(bench->pool);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", bench->dir);
    int removed = system(command);
    free(bench);
    return removed;
}

static struct handler *program(struct bench *bench, const char *name, const char *flag,
                               const char *code, int64_t timeout_ms) {
    struct bytes argv[] = {bytes_of(name), bytes_of(flag), bytes_of(code)};
    struct exec_options options = {
        .argv = argv,
        .argc = code ? 3 : 1,
        .cwd = bytes_of(bench->dir),
        .timeout_ms = timeout_ms,
    };
    return exec_new(bench->pool, &options);
}

static struct handler *shell(struct bench *bench, const char *code) {
    return program(bench, "sh", "-c", code, LONG_MS);
}

/* Runs the code on a plain call and hands the outcome to the checks. */
static void run(struct caller *caller, struct handler *handler) {
    caller_run(caller, handler);
    handler->vtable->free(handler);
}

static void run_shell(struct bench *bench, struct caller *caller, const char *code) {
    caller_init(caller);
    run(caller, shell(bench, code));
}

static void exit_zero_is_ok_and_the_body_comes_on_stdin(void **state) {
    struct caller caller;
    run_shell(*state, &caller, "test \"$(cat)\" = '{\"n\":1}'");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_true(caller.outcome.duration_ms >= 0);
    caller_free(&caller);
}

static void run_for_answer(struct bench *bench, struct caller *caller, const char *code) {
    caller_init(caller);
    caller->call.wants_answer = true;
    run(caller, shell(bench, code));
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

static void the_environment_names_the_message_and_keeps_ours(void **state) {
    struct caller caller;
    caller_init(&caller);
    caller.call.key = BYTES("k 1");
    caller.call.fallback = 1;
    caller.call.attempt = 3;
    caller.call.replay = 2;
    run(&caller, shell(*state, "test -n \"$PATH\" && test \"$IMPOUND_MESSAGE_ID:$IMPOUND_QUEUE:"
                               "$IMPOUND_KEY:$IMPOUND_ATTEMPT:$IMPOUND_REPLAY:$IMPOUND_FALLBACK\" "
                               "= 'm-1:orders:k 1:3:2:1'"));
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
    run_shell(*state, &caller, "test \"${IMPOUND_KEY-unset}\" = ''");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
}

static void it_runs_in_its_directory(void **state) {
    struct bench *bench = *state;
    char path[64];
    snprintf(path, sizeof path, "%s/here", bench->dir);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    struct caller caller;
    run_shell(bench, &caller, "test -f here");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
}

static void an_exit_code_fails_with_the_last_line_of_stderr(void **state) {
    struct caller caller;
    run_shell(*state, &caller, "echo first >&2; echo 'no such order' >&2; echo >&2; exit 65");
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_EXIT);
    assert_int_equal(caller.outcome.exit_code, 65);
    assert_bytes(caller.outcome.error_message, "no such order");
    assert_bytes(caller.outcome.error_type, "");
    caller_free(&caller);
}

static void what_node_signs_with_is_no_message(void **state) {
    struct caller caller;
    run_shell(*state, &caller,
              "echo '{ code: 5 }' >&2; echo >&2; echo Node.js v20.1.0 >&2; exit 1");
    assert_bytes(caller.outcome.error_message, "{ code: 5 }");
    caller_free(&caller);
}

static void a_silent_failure_says_its_exit_status(void **state) {
    struct caller caller;
    run_shell(*state, &caller, "exit 75");
    assert_int_equal(caller.outcome.exit_code, 75);
    assert_bytes(caller.outcome.error_message, "exit status 75");
    caller_free(&caller);
}

static void a_python_exception_gives_type_message_and_trace(void **state) {
    struct caller caller;
    caller_init(&caller);
    run(&caller,
        program(*state, "python3", "-c", "def price(o):\n  return o['sku']\nprice({})", LONG_MS));
    assert_int_equal(caller.outcome.kind, KIND_EXIT);
    assert_int_equal(caller.outcome.exit_code, 1);
    assert_bytes(caller.outcome.error_type, "KeyError");
    assert_bytes(caller.outcome.error_message, "'sku'");
    assert_true(bytes_has_nocase(caller.outcome.stack_trace, BYTES("in price")));
    caller_free(&caller);
}

static void a_signal_is_a_crash_with_its_number(void **state) {
    struct caller caller;
    run_shell(*state, &caller, "kill -SEGV $$");
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_SIGNAL);
    assert_int_equal(caller.outcome.signal, SIGSEGV);
    assert_bytes(caller.outcome.error_message, "killed by signal 11 (SIGSEGV)");
    caller_free(&caller);
}

static void what_outlives_its_timeout_is_killed_with_its_group(void **state) {
    struct bench *bench = *state;
    /* The grandchild holds the FIFO open for writing: reading it ends when the grandchild is dead.
     */
    char path[64], left;
    snprintf(path, sizeof path, "%s/fifo", bench->dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fifo = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(fcntl(fifo, F_SETFL, 0), 0);
    struct caller caller;
    caller_init(&caller);
    run(&caller, program(bench, "sh", "-c", "sleep 1000 3>fifo & sleep 1000 4>fifo", 300));
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_TIMEOUT);
    assert_bytes(caller.outcome.error_message, "killed: it did not end within 300ms");
    assert_int_equal(read(fifo, &left, 1), 0);
    close(fifo);
    caller_free(&caller);
}

static void a_cancelled_call_is_interrupted(void **state) {
    struct caller caller;
    caller_init(&caller);
    struct handler *handler = shell(*state, "exec sleep 1000");
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
    run_shell(*state, &caller, "sleep 1000 & echo gone >&2; exit 3");
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
    run(&caller, shell(*state, "test $(wc -c) = 3145728"));
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
    const char *const deaf[] = {"exit 0", "exec <&-; echo x >/dev/null"};
    for (size_t i = 0; i < 2; i++) {
        caller_init(&caller);
        caller.call.body = (struct bytes){body, LARGE};
        run(&caller, shell(*state, deaf[i]));
        assert_int_equal(caller.outcome.ending, ENDING_OK);
        caller_free(&caller);
    }
    free(body);
}

static void of_a_flood_on_stderr_the_end_is_kept(void **state) {
    struct caller caller;
    caller_init(&caller);
    run(&caller, program(*state, "python3", "-c",
                         "import sys\nsys.stderr.write('x\\n' * 1000000)\n"
                         "sys.stderr.write('the end')\nsys.exit(1)",
                         LONG_MS));
    assert_bytes(caller.outcome.error_message, "the end");
    caller_free(&caller);
}

static void stdout_is_ignored_however_much_it_is(void **state) {
    struct caller caller;
    run_shell(*state, &caller, "head -c 5000000 /dev/zero");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
}

static void stderr_that_is_not_text_is_made_safe(void **state) {
    struct caller caller;
    run_shell(*state, &caller, "printf 'bad \\377 byte' >&2; exit 1");
    assert_bytes(caller.outcome.error_message, "bad \xef\xbf\xbd byte");
    caller_free(&caller);
}

static void a_program_that_cannot_be_run_is_a_config_exit_and_says_why(void **state) {
    struct caller caller;
    caller_init(&caller);
    run(&caller, program(*state, "no-such-program", NULL, NULL, LONG_MS));
    assert_int_equal(caller.outcome.kind, KIND_EXIT);
    assert_int_equal(caller.outcome.exit_code, 78); /* sysexits: EX_CONFIG */
    assert_bytes(caller.outcome.error_message,
                 "cannot run no-such-program: No such file or directory");
    caller_free(&caller);
    caller_init(&caller);
    run(&caller, program(*state, "/tmp", NULL, NULL, LONG_MS));
    assert_bytes(caller.outcome.error_message, "cannot run /tmp: Permission denied");
    caller_free(&caller);
}

static void a_child_gets_no_file_signal_or_core_of_ours(void **state) {
    int ours = open("/dev/null", O_RDONLY); /* without O_CLOEXEC, as a careless library would */
    assert_true(ours > 2);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    struct caller caller;
    caller_init(&caller);
    run(&caller, program(*state, "python3", "-c",
                         "import os, resource, signal\n"
                         "fds = [f for f in os.listdir('/proc/self/fd') if int(f) > 2]\n"
                         "assert len(fds) == 1, fds\n" /* the listing itself */
                         "status = open('/proc/self/status').read()\n"
                         "ignored = int(status.split('SigIgn:')[1].split()[0], 16)\n"
                         "blocked = int(status.split('SigBlk:')[1].split()[0], 16)\n"
                         /* Python itself ignores SIGPIPE and SIGXFSZ */
                         "assert blocked == 0, blocked\n"
                         "assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0\n"
                         "assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= 1024\n"
                         "assert os.getpgid(0) == os.getpid()\n",
                         LONG_MS));
    assert_bytes(caller.outcome.error_message, "");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
    /* Signals 32 and 33 are the C library's own: what made us may ignore them, and nobody can reset
     * them. */
    run_shell(*state, &caller, "grep -qE 'SigIgn:.0{7}[01][08]0{7}$' /proc/self/status");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
    sigaction(SIGPIPE, &before, NULL);
    close(ours);
}

static void many_children_run_at_once_and_each_has_its_own_end(void **state) {
    enum { MANY = 200 };
    struct bench *bench = *state;
    struct caller *callers = memory_array(MANY, sizeof *callers);
    struct handler *handler = shell(bench, "read n; exit $n");
    char bodies[MANY][8];
    for (int i = 0; i < MANY; i++) {
        caller_init(&callers[i]);
        snprintf(bodies[i], sizeof bodies[i], "%d\n", i);
        callers[i].call.body = bytes_of(bodies[i]);
        caller_start(&callers[i], handler);
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(caller_wait(&callers[i])->exit_code, i);
        caller_free(&callers[i]);
    }
    handler->vtable->free(handler);
    free(callers);
}

/* ---- tests that need a process of their own: this program again, with a role ---- */

static pid_t play(const char *role, const char *dir) {
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "test_exec", role, dir, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* The limit on files would starve the test itself. */
static int run_without_room(struct bench *bench, struct outcome *outcome, bool make_room) {
    struct rlimit limit, none;
    getrlimit(RLIMIT_NOFILE, &limit);
    none = (struct rlimit){3, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    struct caller caller;
    caller_init(&caller);
    struct handler *handler = program(bench, "sh", "-c", "exit 9", make_room ? LONG_MS : 100);
    caller_start(&caller, handler);
    if (make_room)
        setrlimit(RLIMIT_NOFILE, &limit);
    *outcome = *caller_wait(&caller);
    setrlimit(RLIMIT_NOFILE, &limit);
    int told = bytes_has_nocase(outcome->error_message, BYTES("Too many open files"));
    handler->vtable->free(handler);
    caller_free(&caller);
    return told;
}

static int starve(struct bench *bench) {
    struct outcome outcome;
    if (!run_without_room(bench, &outcome, false) || outcome.kind != KIND_TIMEOUT)
        return 1;
    run_without_room(bench, &outcome, true);
    return outcome.kind == KIND_EXIT && outcome.exit_code == 9 ? 0 : 2;
}

static void without_room_for_a_process_it_waits_and_times_out_at_last(void **state) {
    struct bench *bench = *state;
    int status;
    waitpid(play("starve", bench->dir), &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int run_to_exit_nine(struct bench *bench) {
    struct caller caller;
    run_shell(bench, &caller, "exit 9");
    bool right = caller.outcome.kind == KIND_EXIT && caller.outcome.exit_code == 9;
    caller_free(&caller);
    return right ? 0 : 1;
}

static void an_inherited_ignored_sigchld_hides_no_end(void **state) {
    struct bench *bench = *state;
    signal(SIGCHLD, SIG_IGN);
    pid_t pid = play("exit_nine", bench->dir);
    signal(SIGCHLD, SIG_DFL);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int own_a_sleeper(struct bench *bench) {
    struct caller caller;
    caller_init(&caller);
    caller_run(&caller, shell(bench, "exec 3>alive; echo >&3; exec sleep 1000"));
    return 1;
}

static void children_die_with_us_even_by_sigkill(void **state) {
    struct bench *bench = *state;
    char path[64], byte;
    snprintf(path, sizeof path, "%s/alive", bench->dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fifo = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(fcntl(fifo, F_SETFL, 0), 0);
    int held_open = open(path, O_WRONLY | O_CLOEXEC); /* so that the first read waits */
    pid_t owner = play("own", bench->dir);
    assert_int_equal(read(fifo, &byte, 1), 1);
    close(held_open);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    assert_int_equal(read(fifo, &byte, 1), 0);
    close(fifo);
}

static const struct {
    const char *name;
    int (*play)(struct bench *bench);
} roles[] = {
    {"starve", starve},
    {"exit_nine", run_to_exit_nine},
    {"own", own_a_sleeper},
};

static int play_role(const char *name, const char *dir) {
    struct bench bench = {.pool = exec_pool_new(&caller_clock)};
    snprintf(bench.dir, sizeof bench.dir, "%s", dir);
    int result = 127;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (strcmp(name, roles[i].name) == 0)
            result = roles[i].play(&bench);
    }
    exec_pool_free(bench.pool);
    return result;
}

static void a_tail_keeps_the_last_bytes_in_order(void **state) {
    (void)state;
    struct tail tail = {0};
    struct arena arena;
    arena_init_heap(&arena, 1024);
    assert_int_equal(tail_text(&tail, &arena).len, 0);
    for (int i = 0; i < 50000; i++) {
        char line[8];
        snprintf(line, sizeof line, "%06d\n", i);
        tail_put(&tail, bytes_of(line));
    }
    struct bytes text = tail_text(&tail, &arena);
    assert_int_equal(text.len, TAIL_MAX);
    assert_true(bytes_ends(text, BYTES("049998\n049999\n")));
    char *flood = memory_new(TAIL_MAX + 10);
    memset(flood, 'y', TAIL_MAX + 10);
    flood[10] = 'z';
    tail_put(&tail, (struct bytes){flood, TAIL_MAX + 10});
    text = tail_text(&tail, &arena);
    assert_int_equal(text.len, TAIL_MAX);
    assert_int_equal(text.ptr[0], 'z');
    assert_int_equal(text.ptr[1], 'y');
    free(flood);
    tail_free(&tail);
    arena_free(&arena);
}

int main(int argc, char **argv) {
    if (argc == 3)
        return play_role(argv[1], argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_zero_is_ok_and_the_body_comes_on_stdin),
        cmocka_unit_test(what_it_writes_to_stdout_is_its_answer),
        cmocka_unit_test(a_process_that_fails_has_no_answer),
        cmocka_unit_test(a_process_that_says_too_much_can_end_all_the_same),
        cmocka_unit_test(the_environment_names_the_message_and_keeps_ours),
        cmocka_unit_test(it_runs_in_its_directory),
        cmocka_unit_test(an_exit_code_fails_with_the_last_line_of_stderr),
        cmocka_unit_test(what_node_signs_with_is_no_message),
        cmocka_unit_test(a_silent_failure_says_its_exit_status),
        cmocka_unit_test(a_python_exception_gives_type_message_and_trace),
        cmocka_unit_test(a_signal_is_a_crash_with_its_number),
        cmocka_unit_test(what_outlives_its_timeout_is_killed_with_its_group),
        cmocka_unit_test(a_cancelled_call_is_interrupted),
        cmocka_unit_test(a_grandchild_that_keeps_the_pipes_does_not_hang_the_call),
        cmocka_unit_test(a_large_body_reaches_a_child_and_need_not_be_read),
        cmocka_unit_test(of_a_flood_on_stderr_the_end_is_kept),
        cmocka_unit_test(stdout_is_ignored_however_much_it_is),
        cmocka_unit_test(stderr_that_is_not_text_is_made_safe),
        cmocka_unit_test(a_program_that_cannot_be_run_is_a_config_exit_and_says_why),
        cmocka_unit_test(a_child_gets_no_file_signal_or_core_of_ours),
        cmocka_unit_test(many_children_run_at_once_and_each_has_its_own_end),
        cmocka_unit_test(without_room_for_a_process_it_waits_and_times_out_at_last),
        cmocka_unit_test(an_inherited_ignored_sigchld_hides_no_end),
        cmocka_unit_test(children_die_with_us_even_by_sigkill),
        cmocka_unit_test(a_tail_keeps_the_last_bytes_in_order),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
