/* exec_run: pipes, epoll watches and the pidfd of one process. */
#include "handler/exec/exec_run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

enum {
    EXEC_RUN_CHUNK = 16 * 1024,    /* bytes read at once */
    EXEC_RUN_LAST_CHUNKS_MAX = 64, /* read after the end; a surviving writer may go on for ever */
};

/* ---- watches ---- */

static void watch(struct exec_watch *watch, struct exec_run *run, uint32_t events,
                  void (*ready)(struct exec_run *run)) {
    watch->run = run;
    watch->ready = ready;
    struct epoll_event event = {.events = events, .data.ptr = watch};
    int added = epoll_ctl(run->epoll, EPOLL_CTL_ADD, watch->fd, &event);
    assert(added == 0);
    (void)added;
}

/* EPOLL_CTL_DEL, because close alone does not remove a watch while a child being forked holds a
 * copy of the descriptor. */
static void rest_watch(struct exec_watch *watch) {
    if (watch->ready)
        epoll_ctl(watch->run->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->ready = NULL;
}

static void unwatch(struct exec_watch *watch) {
    if (watch->fd < 0)
        return;
    rest_watch(watch);
    close(watch->fd);
    watch->fd = -1;
}

static void unwatch_all(struct exec_run *run) {
    unwatch(&run->feed);
    unwatch(&run->hear);
    unwatch(&run->listen);
    unwatch(&run->life);
}

void exec_run_ready(struct exec_watch *watch) {
    if (watch->fd >= 0 && watch->ready)
        watch->ready(watch->run);
}

/* ---- feeding and listening ---- */

/* False: the pipe is full, and the rest is written when there is room. A child may ignore its
 * input: errors count as written. */
static bool write_rest(struct exec_run *run) {
    while (run->rest.len > 0) {
        ssize_t wrote = write(run->feed.fd, run->rest.ptr, run->rest.len);
        if (wrote < 0)
            return errno != EAGAIN;
        run->rest = bytes_cut(run->rest, (size_t)wrote, run->rest.len);
    }
    return true;
}

static void feed(struct exec_run *run) {
    if (!write_rest(run)) {
        if (!run->feed.ready)
            watch(&run->feed, run, EPOLLOUT, feed);
    } else if (run->lasting) {
        rest_watch(&run->feed);
    } else {
        unwatch(&run->feed);
    }
}

void exec_run_feed(struct exec_run *run, struct bytes text) {
    assert(run->lasting);
    run->rest = text;
    if (run->feed.fd >= 0)
        feed(run);
}

void exec_run_hush(struct exec_run *run) {
    unwatch(&run->feed);
}

/* False: no more data for now, or end of file. */
static bool read_once(struct exec_run *run, struct exec_watch *from) {
    char chunk[EXEC_RUN_CHUNK];
    ssize_t got = read(from->fd, chunk, sizeof chunk);
    struct bytes text = {chunk, got > 0 ? (size_t)got : 0};
    if (got > 0 && from == &run->hear)
        run->heard(run, text);
    else if (got > 0)
        tail_put(&run->said, text);
    else if (got == 0 || errno != EAGAIN)
        unwatch(from);
    return got > 0;
}

static void listen_more(struct exec_run *run) {
    read_once(run, &run->listen);
}

static void hear_more(struct exec_run *run) {
    read_once(run, &run->hear);
}

static void read_last(struct exec_run *run, struct exec_watch *from) {
    for (int i = 0; i < EXEC_RUN_LAST_CHUNKS_MAX && from->fd >= 0; i++) {
        if (!read_once(run, from))
            break;
    }
}

void exec_run_hear(struct exec_run *run) {
    read_last(run, &run->hear);
}

/* ---- the end ---- */

static size_t count_unread(const struct exec_run *run) {
    int in_pipe = 0;
    if (run->feed.fd >= 0)
        ioctl(run->feed.fd, FIONREAD, &in_pipe);
    return run->rest.len + (size_t)in_pipe;
}

static void reap(struct exec_run *run) {
    assert(!run->ended && run->pid > 0);
    /* While the process is not reaped its pid is not reused, so this cannot hit another group. */
    kill(-run->pid, SIGKILL);
    if (run->end.stop != EXEC_STOP_NONE)
        exec_strays_kill(run->mark);
    run->ended = true;
    run->unread = count_unread(run);
    read_last(run, &run->listen);
    read_last(run, &run->hear);
    siginfo_t info = {0};
    int waited = waitid(P_PIDFD, (id_t)run->life.fd, &info, WEXITED);
    assert(waited == 0);
    (void)waited;
    run->end.signalled = info.si_code != CLD_EXITED;
    run->end.code = info.si_status;
    unwatch_all(run);
}

/* Whether the process has ended, even if epoll has not reported it yet. */
static bool has_ended(const struct exec_run *run) {
    siginfo_t info = {0};
    return waitid(P_PIDFD, (id_t)run->life.fd, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

void exec_run_stop(struct exec_run *run, enum exec_stop why) {
    if (run->end.stop != EXEC_STOP_NONE || run->ended)
        return;
    if (why == EXEC_STOP_TIMEOUT && has_ended(run))
        return;
    run->end.stop = why;
    kill(-run->pid, SIGKILL);
    exec_strays_kill(run->mark);
}

void exec_run_free(struct exec_run *run) {
    tail_free(&run->said);
}

/* ---- the beginning ---- */

/* Our end does not block; the child's end does, as programs expect. Returns 0 or an errno. */
static int open_pipe(bool child_reads, int *ours, int *childs) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    *childs = ends[child_reads ? 0 : 1];
    *ours = ends[child_reads ? 1 : 0];
    int set = fcntl(*ours, F_SETFL, O_NONBLOCK);
    assert(set == 0);
    return 0;
}

/* Descriptors are stored in run and child even if a later one fails. */
static int open_pipes(struct exec_run *run, struct exec_child *child) {
    child->in = child->err = -1;
    if (run->heard)
        child->out = -1;
    int trouble = open_pipe(true, &run->feed.fd, &child->in);
    if (trouble == 0)
        trouble = open_pipe(false, &run->listen.fd, &child->err);
    if (trouble == 0 && run->heard)
        trouble = open_pipe(false, &run->hear.fd, &child->out);
    return trouble;
}

static void close_childs(const struct exec_run *run, const struct exec_child *child) {
    const int fds[] = {child->in, child->err, run->heard ? child->out : -1};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Spawns with the run's mark in the environment (exec_strays.h). */
static int spawn_marked(struct exec_run *run, const struct exec_child *child) {
    size_t count = 0;
    while (child->env[count])
        count++;
    char **env = memory_array(count + 2, sizeof *env);
    exec_strays_mark(run->mark);
    env[0] = run->mark;
    memcpy(env + 1, child->env, count * sizeof *env);
    struct exec_child marked = *child;
    marked.env = env;
    int trouble = exec_child_spawn(&marked, &run->pid);
    free(env);
    return trouble;
}

static int spawn(struct exec_run *run, struct exec_child *child) {
    int trouble = open_pipes(run, child);
    if (trouble == 0)
        trouble = spawn_marked(run, child);
    close_childs(run, child);
    if (trouble != 0)
        return trouble;
    run->life.fd = pidfd_open(run->pid, 0);
    if (run->life.fd >= 0)
        return 0;
    trouble = errno;
    kill(-run->pid, SIGKILL);
    waitpid(run->pid, NULL, 0);
    return trouble;
}

int exec_run_begin(struct exec_run *run, int epoll, struct exec_child *child, struct bytes text) {
    *run = (struct exec_run){.over = run->over,
                             .heard = run->heard,
                             .lasting = run->lasting,
                             .epoll = epoll,
                             .rest = text};
    list_init(&run->ending);
    run->feed.fd = run->hear.fd = run->listen.fd = run->life.fd = -1;
    int trouble = spawn(run, child);
    if (trouble != 0) {
        unwatch_all(run);
        return trouble;
    }
    watch(&run->listen, run, EPOLLIN, listen_more);
    watch(&run->life, run, EPOLLIN, reap);
    if (run->heard)
        watch(&run->hear, run, EPOLLIN, hear_more);
    feed(run); /* most bodies fit into the pipe */
    return 0;
}
