/* exec_run: one process from birth to burial: fed through a pipe, listened to, reaped.
 *
 * Everything happens on the thread that began it, when epoll says that a watch is ready. */
#ifndef HANDLER_EXEC_RUN_H
#define HANDLER_EXEC_RUN_H

#include <sys/types.h>

#include "base/buf.h"
#include "handler/exec_child.h"
#include "handler/exec_report.h"
#include "handler/tail.h"

struct exec_run;

/* What epoll's data.ptr points at. */
struct exec_watch {
    struct exec_run *run;
    void (*ready)(struct exec_run *run);
    int fd; /* -1: not watched any more */
};

struct exec_run {
    int epoll;
    pid_t pid;
    struct bytes rest; /* of the body, still to be written */
    struct tail said;  /* on stderr */
    struct buf answer; /* on stdout, where somebody wants it */
    struct exec_watch feed, listen, hear, life;
    struct exec_end end;
    bool ended; /* reaped; `end` and `said` are final and nothing is watched */
};

/* Starts `child` (its in and err are set here, and its out where it is -1: then `answer` gets what
 * it says there, up to OUTCOME_ANSWER_MAX + 1 bytes) and feeds it `body`, which is borrowed until
 * the end. Returns 0, or the errno for which nothing runs. */
int exec_run_begin(struct exec_run *run, int epoll, struct exec_child *child, struct bytes body);
/* A watch is ready. Harmless on one that is not watched any more. */
void exec_run_ready(struct exec_watch *watch);
/* Kills the whole group; the end follows when it is reaped. The first reason counts. */
void exec_run_stop(struct exec_run *run, enum exec_stop why);
/* Frees what a run that ended, or did not begin, holds. */
void exec_run_free(struct exec_run *run);

#endif
