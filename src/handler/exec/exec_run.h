/* exec_run: one process from start to end: its input, its output, its exit status.
 *
 * Everything happens on the thread that began it, when epoll reports a watch as ready. */
#ifndef HANDLER_EXEC_EXEC_RUN_H
#define HANDLER_EXEC_EXEC_RUN_H

#include <sys/types.h>

#include "base/containers/list.h"
#include "handler/exec/exec_child.h"
#include "handler/exec/exec_report.h"
#include "handler/exec/exec_strays.h"
#include "handler/exec/output_tail.h"

struct exec_run;

/* The target of epoll's data.ptr. */
struct exec_watch {
    struct exec_run *run;
    void (*ready)(struct exec_run *run); /* NULL: not registered with epoll */
    int fd;                              /* -1: closed */
};

struct exec_run {
    /* Set before exec_run_begin. */
    void (*over)(struct exec_run *run); /* called when it has ended; may free the run */
    /* Called with parts of its stdout; NULL: stdout is not read. */
    void (*heard)(struct exec_run *run, struct bytes text);
    bool lasting; /* its stdin stays open until exec_run_hush */

    struct list ending; /* for the owner's list of ended runs */
    int epoll;
    pid_t pid;
    char mark[EXEC_STRAYS_MARK_SIZE]; /* in its environment */
    struct bytes rest;                /* input that is not written yet */
    struct tail said;                 /* end of its stderr */
    struct exec_watch feed, hear, listen, life;
    struct exec_end end;
    bool ended;    /* it has ended; when `over` is called all members are final */
    size_t unread; /* input bytes that it did not read; for a lasting run */
};

/* Starts `child` (its in and err are set here, and its out if `heard` is set) and writes `text` to
 * its stdin; `text` is borrowed until it was written or the run has ended. Returns 0, or the errno
 * because of which nothing runs. */
int exec_run_begin(struct exec_run *run, int epoll, struct exec_child *child, struct bytes text);
/* The next input of a lasting run, after the last one was written. */
void exec_run_feed(struct exec_run *run, struct bytes text);
/* Closes its stdin. */
void exec_run_hush(struct exec_run *run);
/* Handles a ready watch; does nothing if it is no longer registered. */
void exec_run_ready(struct exec_watch *watch);
/* Reads the stdout that is available now. */
void exec_run_hear(struct exec_run *run);
/* Kills the process group and processes that left it (exec_strays.h); the run ends when the process
 * is reaped. The first reason counts. A process that has already ended is not counted as a timeout:
 * it ended in time, and we are late. */
void exec_run_stop(struct exec_run *run, enum exec_stop why);
/* Frees the memory of a run that has ended or failed to start. */
void exec_run_free(struct exec_run *run);

#endif
