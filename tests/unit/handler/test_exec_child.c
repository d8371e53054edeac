/* What a process has of ours, what becomes of it with us, and what when there is no room for it. */
#include "exec_bench.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

static void a_child_gets_no_file_signal_or_core_of_ours(void **state) {
    int ours = open("/dev/null", O_RDONLY); /* without O_CLOEXEC, as a careless library would */
    assert_true(ours > 2);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    struct caller caller;
    caller_init(&caller);
    exec_bench_run(
        &caller, exec_bench_program(*state, "python3", "-c",
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
                                    EXEC_BENCH_LONG_MS));
    assert_bytes(caller.outcome.error_message, "");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
    /* Signals 32 and 33 are the C library's own: what made us may ignore them, and nobody can reset
     * them. */
    exec_bench_run_shell(*state, &caller, "grep -qE 'SigIgn:.0{7}[01][08]0{7}$' /proc/self/status");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
    sigaction(SIGPIPE, &before, NULL);
    close(ours);
}

static void many_children_run_at_once_and_each_has_its_own_end(void **state) {
    enum { MANY = 200 };
    struct exec_bench *bench = *state;
    struct caller *callers = memory_array(MANY, sizeof *callers);
    struct handler *handler = exec_bench_shell(bench, "read n; exit $n");
    char bodies[MANY][16];
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

static pid_t play(const char *role, const char *dir, void (*on_child)(int)) {
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGCHLD, on_child); /* not in us, who would then not hear of its own end */
        execl("/proc/self/exe", "test_exec_child", role, dir, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* The limit on files would starve the test itself. */
static int run_without_room(struct exec_bench *bench, struct outcome *outcome, bool make_room) {
    struct rlimit limit, none;
    getrlimit(RLIMIT_NOFILE, &limit);
    none = (struct rlimit){3, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    struct caller caller;
    caller_init(&caller);
    struct handler *handler =
        exec_bench_program(bench, "sh", "-c", "exit 9", make_room ? EXEC_BENCH_LONG_MS : 100);
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

static int starve(struct exec_bench *bench) {
    struct outcome outcome;
    if (!run_without_room(bench, &outcome, false) || outcome.kind != KIND_TIMEOUT)
        return 1;
    run_without_room(bench, &outcome, true);
    return outcome.kind == KIND_EXIT && outcome.exit_code == 9 ? 0 : 2;
}

static void without_room_for_a_process_it_waits_and_times_out_at_last(void **state) {
    struct exec_bench *bench = *state;
    int status;
    waitpid(play("starve", bench->dir, SIG_DFL), &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int run_to_exit_nine(struct exec_bench *bench) {
    struct caller caller;
    exec_bench_run_shell(bench, &caller, "exit 9");
    bool right = caller.outcome.kind == KIND_EXIT && caller.outcome.exit_code == 9;
    caller_free(&caller);
    return right ? 0 : 1;
}

static void an_inherited_ignored_sigchld_hides_no_end(void **state) {
    struct exec_bench *bench = *state;
    pid_t pid = play("exit_nine", bench->dir, SIG_IGN);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int own_a_sleeper(struct exec_bench *bench) {
    struct caller caller;
    caller_init(&caller);
    caller_run(&caller, exec_bench_shell(bench, "exec 3>alive; echo >&3; exec sleep 1000"));
    return 1;
}

static void children_die_with_us_even_by_sigkill(void **state) {
    struct exec_bench *bench = *state;
    char path[64], byte;
    snprintf(path, sizeof path, "%s/alive", bench->dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    int fifo = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(fcntl(fifo, F_SETFL, 0), 0);
    int held_open = open(path, O_WRONLY | O_CLOEXEC); /* so that the first read waits */
    pid_t owner = play("own", bench->dir, SIG_DFL);
    assert_int_equal(read(fifo, &byte, 1), 1);
    close(held_open);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    assert_int_equal(read(fifo, &byte, 1), 0);
    close(fifo);
}

static const struct {
    const char *name;
    int (*play)(struct exec_bench *bench);
} roles[] = {
    {"starve", starve},
    {"exit_nine", run_to_exit_nine},
    {"own", own_a_sleeper},
};

static int play_role(const char *name, const char *dir) {
    struct exec_bench bench = {.pool = exec_pool_new(&caller_clock)};
    snprintf(bench.dir, sizeof bench.dir, "%s", dir);
    int result = 127;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (strcmp(name, roles[i].name) == 0)
            result = roles[i].play(&bench);
    }
    exec_pool_free(bench.pool);
    return result;
}

int main(int argc, char **argv) {
    if (argc == 3)
        return play_role(argv[1], argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_gets_no_file_signal_or_core_of_ours),
        cmocka_unit_test(many_children_run_at_once_and_each_has_its_own_end),
        cmocka_unit_test(without_room_for_a_process_it_waits_and_times_out_at_last),
        cmocka_unit_test(an_inherited_ignored_sigchld_hides_no_end),
        cmocka_unit_test(children_die_with_us_even_by_sigkill),
    };
    return cmocka_run_group_tests(tests, exec_bench_set_up, exec_bench_tear_down);
}
