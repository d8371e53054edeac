/* exec_strays: scans /proc for the mark. */
#include "handler/exec/exec_strays.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/random.h"

enum {
    STRAYS_PASSES_MAX = 16,         /* scans of /proc: a killed process may have forked before */
    STRAYS_ENVIRON_MAX = 256 << 10, /* bytes of an environment that are read */
};

void exec_strays_mark(char out[EXEC_STRAYS_MARK_SIZE]) {
    static atomic_uint_fast64_t runs;
    snprintf(out, EXEC_STRAYS_MARK_SIZE, "IMPOUND_RUN=%ld-%llx-%016llx", (long)getpid(),
             (unsigned long long)atomic_fetch_add(&runs, 1), (unsigned long long)random_seed());
}

static size_t read_environ(const char *pid, char *out) {
    char path[64];
    size_t len = 0;
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    for (ssize_t got; len < STRAYS_ENVIRON_MAX; len += (size_t)got)
        if ((got = read(fd, out + len, STRAYS_ENVIRON_MAX - len)) <= 0)
            break;
    close(fd);
    return len;
}

/* Kills through a pidfd: the pid may be reused after its environment was read. */
static bool kill_marked(const char *pid, const char *mark, char *environment) {
    uint64_t number;
    if (!bytes_u64(bytes_of(pid), &number) || number <= 1 || number > INT32_MAX ||
        (pid_t)number == getpid())
        return false;
    int process = pidfd_open((pid_t)number, 0);
    if (process < 0)
        return false;
    size_t len = read_environ(pid, environment);
    bool marked = memmem(environment, len, mark, strlen(mark) + 1) != NULL;
    bool killed = marked && pidfd_send_signal(process, SIGKILL, NULL, 0) == 0;
    close(process);
    return killed;
}

/* A killed process stays in /proc until it is reaped, but without an environment. */
static bool kill_all(const char *mark, char *environment) {
    bool any = false;
    DIR *processes = opendir("/proc");
    if (!processes)
        return false;
    for (const struct dirent *entry; (entry = readdir(processes));)
        any |= kill_marked(entry->d_name, mark, environment);
    closedir(processes);
    return any;
}

void exec_strays_kill(const char *mark) {
    char *environment = memory_new(STRAYS_ENVIRON_MAX + 1);
    for (int pass = 0; pass < STRAYS_PASSES_MAX; pass++)
        if (!kill_all(mark, environment))
            break;
    free(environment);
}
