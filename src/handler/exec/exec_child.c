/* exec_child: vfork, because copying the page tables of a large process for each message costs more
 * than the rest of the call. Until exec the child runs on our stack and in our memory: it may only
 * make system calls, and leaves by execvpe or _exit. All signals are blocked meanwhile, so that
 * none of our signal handlers runs in it. An error is reported through a close-on-exec pipe, which
 * also works under tools that turn vfork into fork. */
#include "handler/exec/exec_child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread/child.h"

enum { EXEC_CHILD_EXIT = 127 }; /* exit status if exec failed; never reported */

static void limit(__rlimit_resource_t resource, rlim_t most) {
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return;
    now.rlim_cur = most < now.rlim_max ? most : now.rlim_max;
    setrlimit(resource, &now);
}

static bool take_files(const struct exec_child *child) {
    return dup2(child->in, STDIN_FILENO) >= 0 && dup2(child->out, STDOUT_FILENO) >= 0 &&
           dup2(child->err, STDERR_FILENO) >= 0 &&
           close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

/* Runs in the child. Returns only on failure, with errno set. */
static void exec_in_child(const struct exec_child *child, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before the line above */
        _exit(EXEC_CHILD_EXIT);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, EXEC_CHILD_FILES_MAX);
    if (!take_files(child) || (child->cwd && chdir(child->cwd) != 0))
        return;
    child_reset_signals();
    execvpe(child->argv[0], child->argv, child->env);
}

static pid_t fork_and_exec(const struct exec_child *child, int report) {
    pid_t parent = getpid();
    pid_t pid = vfork();
    if (pid == 0) {
        exec_in_child(child, parent);
        int trouble = errno;
        ssize_t told = write(report, &trouble, sizeof trouble);
        _exit(told < 0 ? EXIT_FAILURE : EXEC_CHILD_EXIT);
    }
    return pid;
}

/* 0: the pipe was closed by exec, so the program runs. */
static int read_report(int report) {
    int trouble = 0;
    ssize_t got;
    do
        got = read(report, &trouble, sizeof trouble);
    while (got < 0 && errno == EINTR);
    return got == sizeof trouble ? trouble : 0;
}

static pid_t spawn_blocked(const struct exec_child *child, int report) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork_and_exec(child, report);
    int trouble = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = trouble;
    return pid;
}

char **exec_child_argv(struct arena *arena, const struct bytes *words, size_t count) {
    char **argv = arena_alloc(arena, (count + 1) * sizeof *argv);
    for (size_t i = 0; i < count; i++)
        argv[i] = arena_cstr(arena, words[i]);
    return argv;
}

int exec_child_spawn(const struct exec_child *child, pid_t *pid) {
    assert(child->in > STDERR_FILENO && child->out > STDERR_FILENO && child->err > STDERR_FILENO);
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    *pid = spawn_blocked(child, report[1]);
    int trouble = *pid < 0 ? errno : 0;
    close(report[1]);
    if (*pid > 0) {
        trouble = read_report(report[0]);
        if (trouble != 0)
            waitpid(*pid, NULL, 0);
    }
    close(report[0]);
    return trouble;
}
