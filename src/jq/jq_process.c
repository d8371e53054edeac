/* jq_process: fork, limits and exec of a helper. */
#include "jq/jq_process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread/child.h"

enum { EXIT_NOT_RUN = 127 };

/* The sanitizers reserve terabytes of address space, so a build with them cannot have this limit.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LIMITS_MEMORY 0
#endif
#endif
#ifndef LIMITS_MEMORY
#define LIMITS_MEMORY 1
#endif

static bool limit(int resource, size_t most) {
    return setrlimit((__rlimit_resource_t)resource, &(struct rlimit){most, most}) == 0;
}

static bool set_limits(size_t memory_bytes) {
    return limit(RLIMIT_CORE, 0) && (!LIMITS_MEMORY || limit(RLIMIT_AS, memory_bytes));
}

static bool set_files(int socket) {
    int null = open("/dev/null", O_WRONLY);
    return null >= 0 && dup2(null, STDERR_FILENO) >= 0 && dup2(socket, STDIN_FILENO) >= 0 &&
           dup2(socket, STDOUT_FILENO) >= 0 && close_range(STDERR_FILENO + 1, ~0U, 0) == 0;
}

/* Runs in the child between fork and exec: only async-signal-safe calls. Its own process group
 * keeps a Ctrl-C for the server away from it. */
static _Noreturn void become_helper(int socket, const char *program, size_t memory_bytes,
                                    pid_t parent) {
    char *const arguments[] = {(char[]){"impound"}, (char[]){"jq-helper"}, NULL};
    char *const environment[] = {NULL};
    child_reset_signals();
    bool ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
                 setpgid(0, 0) == 0 && set_files(socket) && set_limits(memory_bytes);
    if (ready)
        execve(program, arguments, environment);
    _exit(EXIT_NOT_RUN);
}

bool jq_process_start(struct jq_process *process, const char *program, size_t memory_bytes) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become_helper(ends[1], program, memory_bytes, parent);
    int why = errno;
    close(ends[1]);
    if (pid < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        close(ends[0]);
        errno = why;
        return false;
    }
    *process = (struct jq_process){pid, ends[0]};
    return true;
}

static enum jq_end end_of(int status) {
    if (WIFEXITED(status))
        return WEXITSTATUS(status) == EXIT_NOT_RUN ? JQ_END_NEVER_RAN : JQ_END_CRASHED;
    switch (WTERMSIG(status)) {
    case SIGPROF:
    case SIGXCPU:
        return JQ_END_TOO_SLOW;
    case SIGKILL:
        return JQ_END_KILLED;
    default:
        return JQ_END_CRASHED;
    }
}

enum jq_end jq_process_end(struct jq_process *process) {
    assert(process->pid > 0 && process->fd >= 0);
    int status = 0;
    kill(process->pid, SIGKILL);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(process->fd);
    process->fd = -1;
    return end_of(status);
}
