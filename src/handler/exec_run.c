#include "handler/exec_run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXEC_RUN_CHUNK = 16 * 1024,    /* bytes read of stderr or stdout at once */
    EXEC_RUN_LAST_CHUNKS_MAX = 64, /* read after the end: somebody else may go on writing */
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

/* Removed by hand: closing alone does not, while a process being born holds a copy. */
static void unwatch(struct exec_watch *watch) {
    if (watch->fd < 0)
        return;
    if (watch->ready)
        epoll_ctl(watch->run->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    close(watch->fd);
    watch->fd = -1;
}

static void unwatch_all(struct exec_run *run) {
    unwatch(&run->feed);
    unwatch(&run->listen);
    unwatch(&run->hear);
    unwatch(&run->life);
}

void exec_run_ready(struct exec_watch *watch) {
    if (watch->fd >= 0)
        watch->ready(watch->run);
}

/* ---- feeding and listening ---- */

/* A child that does not want its input is free not to read it. */
static void feed(struct exec_run *run) {
    while (run->rest.len > 0) {
        ssize_t wrote = write(run->feed.fd, run->rest.ptr, run->rest.len);
        if (wrote < 0 && errno == EAGAIN)
            return;
        if (wrote < 0)
            break;
        run->rest = bytes_cut(run->rest, (size_t)wrote, run->rest.len);
    }
    unwatch(&run->feed);
}

/* Empty when there is nothing more for now, or for good. */
static struct bytes read_chunk(struct exec_watch *watch, char chunk[EXEC_RUN_CHUNK]) {
    ssize_t got = read(watch->fd, chunk, EXEC_RUN_CHUNK);
    if (got == 0 || (got < 0 && errno != EAGAIN))
        unwatch(watch);
    return (struct bytes){chunk, got > 0 ? (size_t)got : 0};
}

static bool listen_once(struct exec_run *run) {
    char memory[EXEC_RUN_CHUNK];
    struct bytes chunk = read_chunk(&run->listen, memory);
    tail_put(&run->said, chunk);
    return chunk.len > 0;
}

/* What is beyond the answer's limit is read and dropped, so that the child can end. */
static bool hear_once(struct exec_run *run) {
    char memory[EXEC_RUN_CHUNK];
    struct bytes chunk = read_chunk(&run->hear, memory);
    buf_bytes(&run->answer, bytes_cut(chunk, 0, run->answer.max - run->answer.len));
    return chunk.len > 0;
}

static void listen_more(struct exec_run *run) {
    listen_once(run);
}

static void hear_more(struct exec_run *run) {
    hear_once(run);
}

/* ---- the end ---- */

static void bury(struct exec_run *run) {
    /* While it is not reaped its number is its own, so this cannot hit a stranger's group. */
    kill(-run->pid, SIGKILL);
    for (int i = 0; i < EXEC_RUN_LAST_CHUNKS_MAX && run->listen.fd >= 0 && listen_once(run); i++) {
    }
    for (int i = 0; i < EXEC_RUN_LAST_CHUNKS_MAX && run->hear.fd >= 0 && hear_once(run); i++) {
    }
    siginfo_t info = {0};
    int waited = waitid(P_PIDFD, (id_t)run->life.fd, &info, WEXITED);
    assert(waited == 0);
    (void)waited;
    run->end.signalled = info.si_code != CLD_EXITED;
    run->end.code = info.si_status;
    run->ended = true;
    unwatch_all(run);
}

void exec_run_stop(struct exec_run *run, enum exec_stop why) {
    if (run->end.stop != EXEC_STOP_NONE)
        return;
    run->end.stop = why;
    kill(-run->pid, SIGKILL);
}

void exec_run_free(struct exec_run *run) {
    tail_free(&run->said);
    buf_free(&run->answer);
}

/* ---- the beginning ---- */

/* Our end does not block; the child's does, as it expects. `ours` is 0 where we read. */
static int open_pipe(int *own, int *childs, int ours) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    *own = ends[ours];
    *childs = ends[!ours];
    fcntl(*own, F_SETFL, O_NONBLOCK);
    return 0;
}

static int open_pipes(struct exec_run *run, struct exec_child *child, bool hears) {
    int trouble = open_pipe(&run->feed.fd, &child->in, 1);
    if (trouble == 0)
        trouble = open_pipe(&run->listen.fd, &child->err, 0);
    if (trouble == 0 && hears)
        trouble = open_pipe(&run->hear.fd, &child->out, 0);
    return trouble;
}

static void close_ends(const struct exec_child *child, bool hears) {
    if (child->in >= 0)
        close(child->in);
    if (child->err >= 0)
        close(child->err);
    if (hears && child->out >= 0)
        close(child->out);
}

static int spawn(struct exec_run *run, struct exec_child *child) {
    bool hears = child->out < 0;
    child->in = child->err = -1;
    int trouble = open_pipes(run, child, hears);
    if (trouble == 0)
        trouble = exec_child_spawn(child, &run->pid);
    close_ends(child, hears);
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

int exec_run_begin(struct exec_run *run, int epoll, struct exec_child *child, struct bytes body) {
    *run = (struct exec_run){.epoll = epoll, .rest = body};
    run->feed.fd = run->listen.fd = run->hear.fd = run->life.fd = -1;
    buf_init_heap(&run->answer, OUTCOME_ANSWER_MAX + 1);
    int trouble = spawn(run, child);
    if (trouble != 0) {
        unwatch_all(run);
        return trouble;
    }
    watch(&run->listen, run, EPOLLIN, listen_more);
    if (run->hear.fd >= 0)
        watch(&run->hear, run, EPOLLIN, hear_more);
    watch(&run->life, run, EPOLLIN, bury);
    feed(run); /* most bodies fit into the pipe */
    if (run->feed.fd >= 0)
        watch(&run->feed, run, EPOLLOUT, feed);
    return 0;
}
